/**
 * Marks statements that read rows of all projects: due work, and the few lookups by a value that names no project. All
 * other statements name their project (docs/decisions/041-project-in-keys-and-statements.md). A test reads
 * every statement and accepts the mark.
 */
import { type RunStatement, type SqlStatement, sqlStatement } from '../statements.ts';
import type { ShardGroup } from './shard-groups.ts';

/** Two forms of a statement: for all projects, and for some, whose ids are the last parameter. */
export interface ForProjects<R = unknown> {
  forAll: SqlStatement<R>;
  forSome: SqlStatement<R>;
}

/** SQL: true if the column names one of the requested projects. */
export type InProjects = (projectId: string) => string;

/**
 * Returns both forms of the statement. It must use `inProjects` on the projectId of every table of projects that it
 * reads.
 */
export function forProjects<R = unknown>(
  write: (inProjects: InProjects) => string,
): ForProjects<R> {
  return createForms(write, '');
}

function createForms<R>(write: (inProjects: InProjects) => string, prefix: string): ForProjects<R> {
  const forAll = write(() => 'true').trim();
  const parameters = [...forAll.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
  const nextNumber = Math.max(0, ...parameters) + 1;
  const forSome = write((projectId) => `${projectId} = any($${nextNumber}::text[])`).trim();
  return { forAll: sqlStatement(prefix + forAll), forSome: sqlStatement(prefix + forSome) };
}

/**
 * Returns both forms with the reason why the statement reads all projects. The statement must restrict each table that
 * it changes to the projectId of the rows that it selected.
 */
export function acrossProjects<R = unknown>(
  reason: string,
  write: (inProjects: InProjects) => string,
): ForProjects<R> {
  return createForms(write, `${allProjectsMark(reason)} `);
}

/** Marks a lookup by a globally unique value. `reason` states why no project is needed. */
export function withoutProject<R = unknown>(reason: string, text: string): SqlStatement<R> {
  return sqlStatement(`${allProjectsMark(reason)} ${text.trim()}`);
}

/** Merges the first rows of all projects. In a cluster every shard returns its own first rows. */
export function mergeFirst<R>(
  rows: readonly R[],
  limit: number,
  getKey: (row: R) => readonly (string | number)[],
): R[] {
  return rows.toSorted((a, b) => compareKeys(getKey(a), getKey(b))).slice(0, limit);
}

type SortKey = readonly (string | number)[];

function compareKeys(a: SortKey, b: SortKey): number {
  const index = a.findIndex((part, position) => part !== b[position]);
  if (index < 0) return 0;
  return (a[index] ?? '') < (b[index] ?? '') ? -1 : 1;
}

/** Returns the mark for statements that are composed of parts. */
export function allProjectsMark(reason: string): string {
  return `/* all projects: ${reason} */`;
}

/** Returns the form to send and its values. Null means all projects. */
export function bindProjects<R>(
  { forAll, forSome }: ForProjects<R>,
  projectIds: readonly string[] | null,
  values: readonly unknown[],
): [statement: SqlStatement<R>, values: unknown[]] {
  return projectIds === null ? [forAll, [...values]] : [forSome, [...values, projectIds]];
}

/** The parts of a database that statements over all projects need. */
export interface SweepDatabase {
  shardGroup: ShardGroup;
  /**
   * Runs statements over a shard group, for `sweep` only. They have their own connections and time limit
   * (LIMIT_SWEEP_MS). An embedded database has only one connection.
   */
  sweeps: (shardGroup: ShardGroup) => RunStatement;
}

/**
 * Runs the statement for the projects of the database's shard group, on the connections of sweeps and within their time
 * limit.
 */
export function sweep<R>(
  { sweeps, shardGroup }: SweepDatabase,
  statement: ForProjects<R>,
  values: readonly unknown[] = [],
): Promise<R[]> {
  return sweeps(shardGroup)(...bindProjects(statement, shardGroup.projectIds(), values));
}
