/** Destinations that are given up: disabled, with the event that tells of it, in one transaction. */
import type { Database } from '../database/database.ts';
import { inTransaction } from '../database/transaction.ts';
import { recordEvent } from '../events/record.ts';
import { DAY_MS } from '../work/durations.ts';
import type { Hopelessness } from './outbox.ts';

/** Failing for so long, and so often, without a success. */
const HOPELESS_MS = 5 * DAY_MS;
const HOPELESS_ATTEMPTS = 20;

/** What makes a destination hopeless at this time. */
export function hopelessness(now: Date): Hopelessness {
  return {
    failingSince: new Date(now.getTime() - HOPELESS_MS),
    failedAttempts: HOPELESS_ATTEMPTS,
  };
}

/** The receiver at this URL says that it is gone. */
export function disableGone(
  database: Database,
  { id, url, now }: { id: string; url: string; now: Date },
): Promise<boolean> {
  return disable(database, { id, url }, { reason: 'The receiver answered 410 Gone.', now });
}

/** Nothing has succeeded for too long, which still holds. */
export function disableHopeless(
  database: Database,
  { id, now }: { id: string; now: Date },
): Promise<boolean> {
  const { failingSince, failedAttempts } = hopelessness(now);
  return disable(
    database,
    { id, failingSince: { lte: failingSince }, failedAttempts: { gte: failedAttempts } },
    { reason: 'Every attempt has failed for 5 days.', now },
  );
}

type Condition = Parameters<Database['prisma']['destination']['updateManyAndReturn']>[0]['where'];

/** What it is owed stays pending until somebody enables it. Whether it was this call that disabled it. */
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
    const { id: destinationId, projectId, name: destinationName, url } = disabled;
    await recordEvent(tx, {
      projectId,
      eventType: 'DESTINATION_WEBHOOK_DISABLED',
      data: { projectId, destinationId, destinationName, url },
      destinationId,
    });
    return true;
  });
}
