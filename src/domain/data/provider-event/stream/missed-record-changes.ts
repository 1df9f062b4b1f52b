/** Recovers changes of records for which no events arrived: reads the records, and queries the provider for deletions. */
import type { Transaction } from '../../../../database/transactions/transaction.ts';
import type { ProviderEvent, TimeSpan } from '../../../../providers/subscribing.ts';
import { MINUTE_MS } from '../../../../work/durations.ts';
import type { RowServices, Services } from '../../../access/call.ts';
import { startRun } from '../../operation/read/read-run.ts';
import type { ObjectSubscription } from '../object-subscription.ts';
import { logSubscribe } from '../subscribe-log.ts';
import type { FollowedAccount } from './followed-account.ts';

/** The largest expected difference between the clocks of the provider and the gateway. */
const CLOCK_SKEW_MS = MINUTE_MS;

/** Returns the start of the period to read if all changes before `readUntil` have arrived. */
export function getPeriodStart(readUntil: Date): Date {
  return new Date(readUntil.getTime() - CLOCK_SKEW_MS);
}

/** A period in which changes were missed. Null for `objectName` means all objects. */
export type MissedPeriod = TimeSpan & { objectName: string | null };

interface SubscriptionPeriod {
  subscription: ObjectSubscription;
  period: TimeSpan;
}

interface MissedRecordChanges {
  /** The deletions in the period, which no read would find. */
  events: ProviderEvent[];
  subscriptionPeriods: SubscriptionPeriod[];
  /** False if the provider can't list deletions. */
  listsDeletions: boolean;
}

/** Finds the affected subscriptions and the deletions. Must run before the transaction that records them. */
export async function findMissedRecordChanges(
  { database }: Pick<Services, 'database'>,
  source: FollowedAccount,
  periods: readonly MissedPeriod[],
): Promise<MissedRecordChanges> {
  if (periods.length === 0) return { events: [], subscriptionPeriods: [], listsDeletions: true };
  const { projectId, connectionId } = source.stream;
  const subscriptions = await database.prisma.objectSubscription.findMany({
    where: { projectId, connectionId, isWanted: true, providerRef: { not: null } },
  });
  const subscriptionPeriods = periods.flatMap(({ objectName, ...period }) =>
    subscriptions
      .filter((candidate) => objectName === null || candidate.objectName === objectName)
      .map((subscription) => ({ subscription, period })),
  );
  const { listDeletions, session, account } = source;
  if (listDeletions === null) return { events: [], subscriptionPeriods, listsDeletions: false };
  const events: ProviderEvent[] = [];
  for (const object of listObjectsWithDeletions(subscriptionPeriods)) {
    events.push(...(await listDeletions(session, { account, ...object })));
  }
  return { events, subscriptionPeriods, listsDeletions: true };
}

/** Lists each object and period once, even if several installations subscribe to the object. */
function listObjectsWithDeletions(subscriptionPeriods: readonly SubscriptionPeriod[]) {
  const objects = new Map<string, TimeSpan & { objectName: string }>();
  for (const { subscription, period } of subscriptionPeriods) {
    const { objectName, kinds } = subscription;
    if (!kinds.includes('DELETE')) continue;
    const key = [objectName, period.since.getTime(), period.until.getTime()].join();
    objects.set(key, { objectName, ...period });
  }
  return objects.values();
}

/** Starts the reads, which workers run after the commit. */
export async function startReads(
  services: RowServices,
  tx: Transaction,
  { subscriptionPeriods, listsDeletions }: MissedRecordChanges,
): Promise<void> {
  for (const { subscription, period } of subscriptionPeriods) {
    const { projectId, installationId: id, objectName, kinds } = subscription;
    const isRead = kinds.includes('CREATE') || kinds.includes('UPDATE');
    const installation = await tx.installation.findUnique({
      where: { projectId_id: { projectId, id } },
    });
    if (!installation) continue;
    const times = `from ${period.since.toISOString()} to ${period.until.toISOString()}`;
    const isDeletionLost = !listsDeletions && kinds.includes('DELETE');
    const result = `Changes ${times} without events ${describeOutcome(isRead, isDeletionLost)}`;
    await logSubscribe(services, tx, subscription, { status: 'SUCCESS', result });
    if (!isRead) continue;
    const input = {
      installation,
      objectName,
      since: period.since,
      until: new Date(period.until.getTime() + CLOCK_SKEW_MS),
      readType: 'TRIGGERED',
      nextReadUntil: null,
    } as const;
    await startRun(tx, input, services.database);
  }
}

function describeOutcome(isRead: boolean, isDeletionLost: boolean): string {
  if (!isDeletionLost) return isRead ? 'are read' : 'are reported only if they are deletions';
  return isRead
    ? 'are read; deletions are not reported'
    : 'are not reported, because they are deletions';
}
