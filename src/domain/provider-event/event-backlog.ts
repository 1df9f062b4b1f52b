/** A project whose providers send more than is done: more is refused, so that what waits stays bounded. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../database/database.ts';
import type { Services } from '../call.ts';

/** When it may be better. */
export const FULL_WAIT_SECONDS = 30;

const COUNT_FRESH_MS = 5_000;
const PROJECTS_KNOWN = 10_000;

/** Looks at no more entries of the index than the limit. */
const WAITING = `
  select count(*)::int as "waiting" from (
    select 1 from "ProviderEvent" where "projectId" = $1 and "doneTime" is null limit $2) waiting`;

const COUNTS = new WeakMap<Database, LRUCache<string, number>>();

/** Whether LIMIT_WAITING_EVENTS or more of the project wait. */
export async function isEventBacklogged(
  { config, database }: Pick<Services, 'config' | 'database'>,
  projectId: string,
): Promise<boolean> {
  const counts = COUNTS.get(database) ?? new LRUCache({ max: PROJECTS_KNOWN, ttl: COUNT_FRESH_MS });
  COUNTS.set(database, counts);
  const limit = config.LIMIT_WAITING_EVENTS;
  let waiting = counts.get(projectId);
  if (waiting === undefined) {
    const [row] = await database.rows.query<{ waiting: number }>(WAITING, [projectId, limit]);
    waiting = row?.waiting ?? 0;
    counts.set(projectId, waiting);
  }
  return waiting >= limit;
}
