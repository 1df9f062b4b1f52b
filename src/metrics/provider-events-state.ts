/** How many events of providers wait, and since when. */
import { acrossProjects, type Swept, sweep } from '../database/projects/all-projects.ts';
import { COUNTED_MAX, secondsSinceOldest } from './what-waits.ts';

const WAITING = acrossProjects(
  'a metric of all that waits',
  (isAsked) => `
  select count(*)::int as "waiting",
    ${secondsSinceOldest('receiveTime')} as "oldestSeconds"
  from (
    select "receiveTime" from "ProviderEvent" where ${isAsked('"projectId"')} and "doneTime" is null limit ${COUNTED_MAX}
  ) waiting`,
);

export interface ProviderEventsState {
  waiting: number;
  /** 0 if none waits. */
  oldestSeconds: number;
}

export async function findProviderEvents(database: Swept): Promise<ProviderEventsState> {
  // In a cluster each shard counts its own.
  const found = await sweep<ProviderEventsState>(database, WAITING);
  return found.reduce(
    (all, one) => ({
      waiting: all.waiting + one.waiting,
      oldestSeconds: Math.max(all.oldestSeconds, one.oldestSeconds),
    }),
    { waiting: 0, oldestSeconds: 0 },
  );
}
