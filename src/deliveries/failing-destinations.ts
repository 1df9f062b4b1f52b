/** Reports destinations that fail for an hour, and disables those that fail for days. */
import type { Database } from '../database/database.ts';
import { inTransaction } from '../database/transaction.ts';
import { recordEvent } from '../events/record.ts';
import { DAY_MS, HOUR_MS } from '../work/durations.ts';
import type { ClaimedRow, DestinationKey } from './outbox.ts';
import type { DisableThreshold } from './record-attempts.ts';
import { maskUrl } from './target-secrets.ts';

/** A destination is reported after this time. A receiver that is restarted or replaced recovers before. */
const REPORT_AFTER_MS = HOUR_MS;

/** Returns the time for reports: destinations without a success since then are reported. */
export function getReportCutoff(now: Date): Date {
  return new Date(now.getTime() - REPORT_AFTER_MS);
}

/**
 * Records the event that a destination fails, once until it recovers. The event commits together with the flag that it
 * was recorded. Returns true if this call recorded it.
 */
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
        failingSince: { lte: getReportCutoff(now) },
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

/** A destination is disabled after this time and this many failed attempts without a success. */
const DISABLE_AFTER_MS = 5 * DAY_MS;
const DISABLE_AFTER_ATTEMPTS = 20;

/** Returns the thresholds for disabling a destination. */
export function getDisableThreshold(now: Date): DisableThreshold {
  return {
    failingSince: new Date(now.getTime() - DISABLE_AFTER_MS),
    failedAttempts: DISABLE_AFTER_ATTEMPTS,
  };
}

/** Disables a destination whose receiver at this URL responded with 410. */
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
    { reason: 'The receiver responded with 410 Gone.', now },
  );
}

/** Disables a destination without a success for too long. The transaction checks the thresholds again. */
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
 * Disables a destination and records the event. Its deliveries stay pending until it is enabled. Returns true if this
 * call disabled it.
 */
async function disable(
  database: Database,
  condition: DestinationCondition,
  { reason, now }: { reason: string; now: Date },
): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const [disabled] = await tx.destination.updateManyAndReturn({
      where: { ...condition, status: 'ENABLED' },
      data: { status: 'DISABLED', disabledReason: reason, updateTime: now },
      select: { id: true, projectId: true, name: true, url: true },
    });
    if (!disabled) return false;
    // Only webhooks are disabled for failures, and a webhook has a URL.
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
