/** Reports destinations that have failed for an hour, and disables destinations that have failed for days. */
import type { Database } from '../database/database.ts';
import { inTransaction } from '../database/transaction.ts';
import { recordEvent } from '../events/record.ts';
import { DAY_MS, HOUR_MS } from '../work/durations.ts';
import type { ClaimedRow, DestinationKey } from './outbox.ts';
import type { DisableThreshold } from './record-attempts.ts';
import { maskUrl } from './target-secrets.ts';

/** A destination is reported after this time, in which a receiver that is restarted or replaced recovers. */
const REPORT_AFTER_MS = HOUR_MS;
/** A destination is disabled after this time and this many failed attempts without a success. */
const DISABLE_AFTER_MS = 5 * DAY_MS;
const DISABLE_AFTER_ATTEMPTS = 20;

/** Returns the time since which a destination must have failed to be reported. */
export function getReportCutoff(now: Date): Date {
  return new Date(now.getTime() - REPORT_AFTER_MS);
}

/**
 * Records the event that a destination is failing, once until it recovers. Returns whether this call recorded it.
 */
export async function reportFailing(
  database: Database,
  { projectId, destinationId: id, now }: DestinationKey & { now: Date },
): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const [destination] = await tx.destination.updateManyAndReturn({
      where: {
        projectId,
        id,
        isFailingTold: false,
        failingSince: { lte: getReportCutoff(now) },
      },
      data: { isFailingTold: true },
      select: { name: true, url: true, failingSince: true, failedAttempts: true },
    });
    if (!destination?.failingSince) return false;
    const { name: destinationName, url, failingSince, failedAttempts } = destination;
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

export function getDisableThreshold(now: Date): DisableThreshold {
  return {
    failingSince: new Date(now.getTime() - DISABLE_AFTER_MS),
    failedAttempts: DISABLE_AFTER_ATTEMPTS,
  };
}

type GoneReceiver = Pick<ClaimedRow, 'projectId' | 'destinationId' | 'url' | 'urlSealed'> & {
  now: Date;
};

/** Disables a destination whose receiver responded with 410, unless its URL has changed. */
export function disableGone(
  database: Database,
  { projectId, destinationId: id, url, urlSealed, now }: GoneReceiver,
): Promise<boolean> {
  return disable(
    database,
    { projectId, id, url, urlSealed },
    { reason: 'The receiver responded with 410 Gone.', now },
  );
}

/** Disables a destination that still exceeds the thresholds. */
export function disableFailing(
  database: Database,
  { projectId, destinationId: id, now }: DestinationKey & { now: Date },
): Promise<boolean> {
  const { failingSince, failedAttempts } = getDisableThreshold(now);
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

type DestinationCondition = Parameters<
  Database['prisma']['destination']['updateManyAndReturn']
>[0]['where'];

/**
 * Disables a destination and records the event. Its deliveries stay pending until it is enabled. Returns whether this
 * call disabled it.
 */
async function disable(
  database: Database,
  condition: DestinationCondition,
  { reason, now }: { reason: string; now: Date },
): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const [destination] = await tx.destination.updateManyAndReturn({
      where: { ...condition, status: 'ENABLED' },
      data: { status: 'DISABLED', disabledReason: reason, updateTime: now },
      select: { id: true, projectId: true, name: true, url: true },
    });
    if (!destination) return false;
    // Only webhooks fail, and a webhook has a URL.
    const { id: destinationId, projectId, name: destinationName, url } = destination;
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
