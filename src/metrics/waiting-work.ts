/** Counts of work that waits in the database: deliveries and events of providers. */
import { acrossProjects, type Swept, sweep } from '../database/projects/all-projects.ts';

/** Counts above this are not exact: counting must stay cheap however much waits. */
const COUNTED_MAX = 100_000;

/** SQL of the seconds since the oldest time of a column. 0 if there is none, or if it is in the future. */
function secondsSinceOldest(column: string): string {
  return `coalesce(greatest(extract(epoch from now() - min("${column}")), 0), 0)::float8`;
}

const OUTBOX = acrossProjects(
  'a metric of all that waits',
  (isAsked) => `
  select count(*)::int as "pending",
    (count(*) filter (where "nextAttemptTime" <= now()))::int as "due",
    ${secondsSinceOldest('nextAttemptTime')} as "oldestDueSeconds"
  from (
    select d."nextAttemptTime" from "Delivery" d
    join "Destination" t on t."projectId" = d."projectId" and t."id" = d."destinationId" and t."status" = 'ENABLED'
    where ${isAsked('d."projectId"')} and d."nextAttemptTime" is not null
    limit ${COUNTED_MAX}
  ) waiting`,
);

export interface OutboxState {
  pending: number;
  due: number;
  /** 0 if none is due. */
  oldestDueSeconds: number;
}

export async function findOutbox(database: Swept): Promise<OutboxState> {
  // In a cluster, each shard returns a row.
  const found = await sweep<OutboxState>(database, OUTBOX);
  return found.reduce(
    (all, one) => ({
      pending: all.pending + one.pending,
      due: all.due + one.due,
      oldestDueSeconds: Math.max(all.oldestDueSeconds, one.oldestDueSeconds),
    }),
    { pending: 0, due: 0, oldestDueSeconds: 0 },
  );
}

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
  // In a cluster, each shard returns a row.
  const found = await sweep<ProviderEventsState>(database, WAITING);
  return found.reduce(
    (all, one) => ({
      waiting: all.waiting + one.waiting,
      oldestSeconds: Math.max(all.oldestSeconds, one.oldestSeconds),
    }),
    { waiting: 0, oldestSeconds: 0 },
  );
}
