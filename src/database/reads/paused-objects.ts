/** Objects whose scheduled reads are paused, for several projects in one statement. */
import type { RunQuery } from '../rows.ts';
import type { Tables } from '../tables.ts';

export type PausedObject = Pick<
  Tables['InstalledObject'],
  'projectId' | 'installationId' | 'objectName' | 'pauseNote'
>;

/** Returns at most `countMax` objects of each project, by installation and object. */
export function findPausedObjects(
  query: RunQuery,
  projectIds: readonly string[],
  countMax: number,
): Promise<PausedObject[]> {
  return query<PausedObject>(PAUSED, [projectIds, countMax]);
}

const PAUSED = `
  select o.* from unnest($1::text[]) as p("projectId") cross join lateral (
    select "projectId", "installationId", "objectName", "pauseNote" from "InstalledObject"
    where "projectId" = p."projectId" and "paused"
    order by "installationId", "objectName" limit $2) o`;
