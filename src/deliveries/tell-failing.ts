/** Tells once of a destination that fails for an hour, until it works again. */
import type { Database } from '../database/database.ts';
import { inTransaction } from '../database/transaction.ts';
import { recordEvent } from '../events/record.ts';
import { HOUR_MS } from '../work/durations.ts';
import type { DestinationKey } from './outbox.ts';
import { maskUrl } from './target-secrets.ts';

/** A receiver that is restarted or replaced is back by then. */
const TOLD_AFTER_MS = HOUR_MS;

/** An event tells of each destination that has had no success since this time. */
export function failingSinceOf(now: Date): Date {
  return new Date(now.getTime() - TOLD_AFTER_MS);
}

/** The event commits together with the note that there is one. True if this call has recorded it. */
export async function tellFailing(
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
