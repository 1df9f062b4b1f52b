/** How many events of providers wait, and since when. */
import { acrossProjects } from '../database/all-projects.ts';
import type { Database } from '../database/database.ts';

/** Counted exactly up to here: a look must stay cheap however many wait. */
const COUNTED_MAX = 100_000;

const WAITING = acrossProjects(
  'a metric of all that waits',
  `
  select count(*)::int as "waiting",
    coalesce(greatest(extract(epoch from now() - min("receiveTime")), 0), 0)::float8
      as "oldestSeconds"
  from (
    select "receiveTime" from "ProviderEvent" where "doneTime" is null limit ${COUNTED_MAX}
  ) waiting`,
);

export interface ProviderEventsState {
  waiting: number;
  /** 0 if none waits. */
  oldestSeconds: number;
}

export async function findProviderEvents({
  rows,
}: Pick<Database, 'rows'>): Promise<ProviderEventsState> {
  const [found] = await rows.query<ProviderEventsState>(WAITING, []);
  return found ?? { waiting: 0, oldestSeconds: 0 };
}
