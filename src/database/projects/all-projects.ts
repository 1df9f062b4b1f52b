/**
 * Statements that rightly ask all projects: what is due, and the few look-ups by something that names no project. All
 * others say whose rows they mean (docs/decisions/041-rows-and-statements-know-their-project.md); a test reads every
 * statement and takes the mark for an answer.
 */
import type { Database } from '../database.ts';

/** A statement for all projects, and for some: there its last parameter is their ids. */
export interface ForProjects {
  all: string;
  some: string;
}

/** SQL: whether a column names one of the projects that are asked. */
export type InProjects = (projectId: string) => string;

/** The statement in both its forms. Where it reads rows of projects, it says `inProjects` of their projectId. */
export function forProjects(write: (inProjects: InProjects) => string): ForProjects {
  const all = write(() => 'true').trim();
  const places = [...all.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place));
  const last = Math.max(0, ...places) + 1;
  return { all, some: write((projectId) => `${projectId} = any($${last}::text[])`).trim() };
}

/** The same with the reason why it asks all projects. What it changes besides, it names with its project. */
export function acrossProjects(
  reason: string,
  write: (inProjects: InProjects) => string,
): ForProjects {
  const { all, some } = forProjects(write);
  return { all: `${allProjects(reason)} ${all}`, some: `${allProjects(reason)} ${some}` };
}

/** A look-up by something that names no project, with the reason why that is enough. */
export function withoutProject(reason: string, text: string): string {
  return `${allProjects(reason)} ${text.trim()}`;
}

/**
 * The first rows of all projects, of those that a statement gives in an order and up to a limit: in a cluster every
 * shard gives its own first ones.
 */
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

/** The mark alone, for statements that are written in parts. */
export function allProjects(reason: string): string {
  return `/* all projects: ${reason} */`;
}

/** The form that is sent, and its values. Null: all projects. */
export function sent(
  { all, some }: ForProjects,
  projectIds: readonly string[] | null,
  values: readonly unknown[],
): [text: string, values: unknown[]] {
  return projectIds === null ? [all, [...values]] : [some, [...values, projectIds]];
}

export type Swept = Pick<Database, 'sweeps' | 'group'>;

/** Asks the projects of the database's group, within the time and by the connections that sweeps have. */
export function sweep<R>(
  { sweeps, group }: Swept,
  statement: ForProjects,
  values: readonly unknown[] = [],
): Promise<R[]> {
  return sweeps(group)<R>(...sent(statement, group.projectIds(), values));
}
