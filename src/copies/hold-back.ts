/**
 * A backup does not know what was done after it was taken. What waited then may have been done since, so it is not
 * done again by itself; what it was is told, and an operator can have it done.
 */
import type { OpenSession } from '../database/sessions/session.ts';

/** Far more events or messages than a log can have had since the backup. */
const POSITIONS_SKIPPED = 1_000_000_000;

const REASON =
  'Restored from a backup: it may have been sent after the backup was taken. Retry it to send it again.';

/** What is not known. */
export interface HeldBack {
  /** Deliveries that waited: they have failed now, and can be retried. */
  deliveries: number;
  /** Writes that waited, or ran: creations that a provider can't recognise end as uncertain. */
  writes: number;
  /** Events of providers that waited: they are dropped. */
  providerEvents: number;
  /** Reads that ran: they go on after the last page that the backup knows. */
  reads: number;
}

const DELIVERIES = `
  update "Delivery" set "status" = 'FAILED', "failureReason" = $1, "nextAttemptTime" = null, "afterId" = null,
    "leaseExpireTime" = null, "leaseToken" = null, "updateTime" = now()
  where "status" = 'PENDING'`;
/** As if each had been cut off: the rules for unknown outcomes say what becomes of it. */
const WRITES = `
  update "WriteTask" set "isUncertain" = true, "openGroup" = null where "endTime" is null`;
const PROVIDER_EVENTS = `update "ProviderEvent" set "doneTime" = now() where "doneTime" is null`;
const READS = `select 1 from "ReadRun"`;

/**
 * Cursors that subscribers were given after the backup are beyond the log's end; new events come after them, so that
 * none of these is missed.
 */
const POSITIONS = ['EventLog', 'StreamLog'].map(
  (log) => `update "${log}" set "lastPosition" = "lastPosition" + ${POSITIONS_SKIPPED}`,
);

/** In the transaction that fills the database. With `resend`, what waited is done, maybe a second time. */
export async function holdBack(
  session: OpenSession,
  { resend }: { resend: boolean },
): Promise<HeldBack> {
  const count = async (text: string, values: unknown[] = []) =>
    (await session.query(text, values)).rowCount ?? 0;
  for (const skip of POSITIONS) await count(skip);
  const reads = await count(READS);
  if (resend) return { deliveries: 0, writes: 0, providerEvents: 0, reads };
  return {
    deliveries: await count(DELIVERIES, [REASON]),
    writes: await count(WRITES),
    providerEvents: await count(PROVIDER_EVENTS),
    reads,
  };
}
