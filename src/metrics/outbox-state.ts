/** How much of the outbox waits, and since when. */
import { acrossProjects, type Swept, sweep } from '../database/projects/all-projects.ts';
import { COUNTED_MAX, secondsSinceOldest } from './what-waits.ts';

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
  // In a cluster each shard counts its own.
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
