/** Disables a destination that has failed for too long, and records the event, in one transaction. */
import type { Database } from '../database/database.ts';
import { inTransaction } from '../database/transaction.ts';
import { recordEvent } from '../events/record.ts';
import { DAY_MS, HOUR_MS } from '../work/durations.ts';
import type { ClaimedRow, DestinationKey } from './outbox.ts';
import type { Hopelessness } from './record-attempts.ts';
import { maskUrl } from './target-secrets.ts';

/** Tells once of a destination that fails for an hour, until it works again. */

/** A receiver that is restarted or replaced is back by then. */
const REPORT_AFTER_MS = HOUR_MS;

/** An event tells of each destination that has had no success since this time. */
export function failingSinceOf(now: Date): Date {
  return new Date(now.getTime() - REPORT_AFTER_MS);
}

/** The event commits together with the note that there is one. True if this call has recorded it. */
export async function reportFailing(
  database: Database,
  { projectId, destinationId: id, now }: DestinationKey & { now: Date },
): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const [failing] = await tx.destination.updateManyAndReturn({
      where: {
        projectId,
        id,
        isFailingTold: false,
        failingSince: { lte: failingSinceOf(now) },
      },
      data: { isFailingTold: true },
      select: { name: true, url: true, failingSince: true, failedAttempts: true },
    });
    if (!failing?.failingSince) return false;
    const { name: destinationName, url, failingSince, failedAttempts } = failing;
    await recordEvent(tx, {
      projectId,
      eventType: 'DESTINATION_WEBHOOK_FAILING',
      data: {
        projectId,
        destinationId: id,
        destinationName,
        url: maskUrl(url ?? ''),
        failingSince: failingSince.toISOString(),
        failedAttempts,
      },
      destinationId: id,
      subject: null,
    });
    return true;
  });
}

/** Failing for so long, and so often, without a success. */
const HOPELESS_MS = 5 * DAY_MS;
const HOPELESS_ATTEMPTS = 20;

/** When a destination has failed for too long. */
export function hopelessness(now: Date): Hopelessness {
  return {
    failingSince: new Date(now.getTime() - HOPELESS_MS),
    failedAttempts: HOPELESS_ATTEMPTS,
  };
}

/** The receiver at this URL says that it is gone. */
export function disableGone(
  database: Database,
  {
    now,
    ...row
  }: Pick<ClaimedRow, 'projectId' | 'destinationId' | 'url' | 'urlSealed'> & { now: Date },
): Promise<boolean> {
  const { projectId, destinationId: id, url, urlSealed } = row;
  return disable(
    database,
    { projectId, id, url, urlSealed },
    { reason: 'The receiver answered 410 Gone.', now },
  );
}

/** No attempt has succeeded for too long; checked again in the transaction. */
export function disableHopeless(
  database: Database,
  { projectId, destinationId: id, now }: DestinationKey & { now: Date },
): Promise<boolean> {
  const { failingSince, failedAttempts } = hopelessness(now);
  return disable(
    database,
    {
      projectId,
      id,
      failingSince: { lte: failingSince },
      failedAttempts: { gte: failedAttempts },
    },
    { reason: 'Every attempt has failed for 5 days.', now },
  );
}

type Condition = Parameters<Database['prisma']['destination']['updateManyAndReturn']>[0]['where'];

/** Its deliveries stay pending until it is enabled. True if this call has disabled it. */
async function disable(
  database: Database,
  condition: Condition,
  { reason, now }: { reason: string; now: Date },
): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const [disabled] = await tx.destination.updateManyAndReturn({
      where: { ...condition, status: 'ENABLED' },
      data: { status: 'DISABLED', disabledReason: reason, updateTime: now },
      select: { id: true, projectId: true, name: true, url: true },
    });
    if (!disabled) return false;
    // Only a webhook is ever disabled for failing: it has a URL.
    const { id: destinationId, projectId, name: destinationName, url } = disabled;
    await recordEvent(tx, {
      projectId,
      eventType: 'DESTINATION_WEBHOOK_DISABLED',
      data: { projectId, destinationId, destinationName, url: maskUrl(url ?? '') },
      destinationId,
      subject: null,
    });
    return true;
  });
}
