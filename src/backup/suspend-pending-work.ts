/**
 * Suspends the pending work of a restored backup. The work may have been completed after the backup was taken, so it is
 * reported and not repeated automatically.
 */
import type { OpenDatabaseSession } from '../database/connect/sessions/database-session.ts';

/** Far more events or messages than a log can have received since the backup. */
const POSITIONS_SKIPPED = 1_000_000_000;

const REASON =
  'Restored from a backup: it may have been sent after the backup was taken. Retry it to send it again.';

/** How much work of each kind was suspended or continues. */
export interface SuspendedWork {
  /** Pending deliveries. They are failed now and can be retried. */
  deliveries: number;
  /** Pending or running writes. Creations that a provider cannot recognize end with an unknown outcome. */
  writes: number;
  /** Pending events of providers. They are dropped. */
  providerEvents: number;
  /** Approved proposals of agents. They expire. */
  proposals: number;
  /** Running reads. They continue after the last page in the backup. */
  reads: number;
}

const DELIVERIES = `
  update "Delivery" set "status" = 'FAILED', "isRetrying" = false, "failureReason" = $1, "nextAttemptTime" = null, "afterId" = null,
    "leaseExpireTime" = null, "leaseToken" = null, "updateTime" = now()
  where "status" = 'PENDING'`;
/** Treats each write as interrupted, so that the rules for unknown outcomes decide. */
const WRITES = `
  update "WriteTask" set "isUncertain" = true, "batchKey" = null where "endTime" is null`;
const PROVIDER_EVENTS = `update "ProviderEvent" set "doneTime" = now() where "doneTime" is null`;
/** An approved proposal may have been committed after the backup was taken. A running commit ends with its write. */
const PROPOSALS = `
  update "Proposal" set "status" = 'EXPIRED', "dueTime" = null, "updateTime" = now() where "status" = 'APPROVED'`;
const READS = `select 1 from "ReadRun"`;

/**
 * Subscribers may have cursors from after the backup, beyond the end of the log. New events get later positions, so that
 * no subscriber misses them.
 */
const POSITIONS = ['EventLog', 'StreamLog'].map(
  (log) => `update "${log}" set "lastPosition" = "lastPosition" + ${POSITIONS_SKIPPED}`,
);

/** Must run in the transaction that fills the database. With `resend`, pending work continues and may be repeated. */
export async function suspendPendingWork(
  session: OpenDatabaseSession,
  { resend }: { resend: boolean },
): Promise<SuspendedWork> {
  const count = async (text: string, values: unknown[] = []) =>
    (await session.query(text, values)).rowCount ?? 0;
  for (const statement of POSITIONS) await session.query(statement);
  const reads = await count(READS);
  if (resend) return { deliveries: 0, writes: 0, providerEvents: 0, proposals: 0, reads };
  return {
    deliveries: await count(DELIVERIES, [REASON]),
    writes: await count(WRITES),
    providerEvents: await count(PROVIDER_EVENTS),
    proposals: await count(PROPOSALS),
    reads,
  };
}
