/**
 * Marks statements that read rows of all projects: due work, and the few lookups by a value that names no project. All
 * other statements name their project (docs/decisions/041-project-in-keys-and-statements.md). A test reads
 * every statement and accepts the mark.
 */
import type { Database } from '../database.ts';

/** A statement for all projects, and one for some, whose last parameter is their ids. */
export interface ForProjects {
  all: string;
  some: string;
}

/** SQL: true if the column names one of the requested projects. */
export type InProjects = (projectId: string) => string;

/**
 * Returns both forms of the statement. It must use `inProjects` on the projectId of every table of projects that it
 * reads.
 */
export function forProjects(write: (inProjects: InProjects) => string): ForProjects {
  const all = write(() => 'true').trim();
  const places = [...all.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place));
  const last = Math.max(0, ...places) + 1;
  return { all, some: write((projectId) => `${projectId} = any($${last}::text[])`).trim() };
}

/**
 * Returns both forms with the reason why the statement reads all projects. Tables that it changes are named with their
 * project.
 */
export function acrossProjects(
  reason: string,
  write: (inProjects: InProjects) => string,
): ForProjects {
  const { all, some } = forProjects(write);
  return { all: `${allProjects(reason)} ${all}`, some: `${allProjects(reason)} ${some}` };
}

/** A lookup by a value that names no project, with the reason why that is enough. */
export function withoutProject(reason: string, text: string): string {
  return `${allProjects(reason)} ${text.trim()}`;
}

/** Merges the first rows of all projects. In a cluster every shard returns its own first rows. */
export function firstOfAll<R>(
  rows: readonly R[],
  limit: number,
  keyOf: (row: R) => readonly (string | number)[],
): R[] {
  return rows.toSorted((a, b) => comparedKeys(keyOf(a), keyOf(b))).slice(0, limit);
}

type Key = readonly (string | number)[];

function comparedKeys(a: Key, b: Key): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  const [one = '', other = ''] = [a[at], b[at]];
  return at < 0 ? 0 : one < other ? -1 : 1;
}

/** Returns the mark for statements that are composed of parts. */
export function allProjects(reason: string): string {
  return `/* all projects: ${reason} */`;
}

/** Returns the form to send and its values. Null means all projects. */
export function sent(
  { all, some }: ForProjects,
  projectIds: readonly string[] | null,
  values: readonly unknown[],
): [text: string, values: unknown[]] {
  return projectIds === null ? [all, [...values]] : [some, [...values, projectIds]];
}

export type Swept = Pick<Database, 'sweeps' | 'group'>;

/**
 * Runs the statement for the projects of the database's group, on the connections of sweeps and within their time
 * limit.
 */
export function sweep<R>(
  { sweeps, group }: Swept,
  statement: ForProjects,
  values: readonly unknown[] = [],
): Promise<R[]> {
  return sweeps(group)<R>(...sent(statement, group.projectIds(), values));
}
