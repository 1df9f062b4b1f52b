/** Finds changes without events: records are read again, and the provider is queried for deletions. */
import type { Row } from '../../../database/rows.ts';
import type { Transaction } from '../../../database/transaction.ts';
import type { ProviderEvent, TimeSpan } from '../../../providers/subscribing.ts';
import { MINUTE_MS } from '../../../work/durations.ts';
import type { Services } from '../../call.ts';
import { startRun } from '../../operation/read/read-run.ts';
import type { ObjectSubscription } from '../object-subscription.ts';
import { logSubscribe } from '../subscribe-log.ts';
import type { Followed } from './followed.ts';

/** The largest difference between the provider's clock and the gateway's. */
const CLOCKS_MS = MINUTE_MS;

/** Returns the start of the period to read if all changes before `knownTime` are known. */
export function getPeriodStart(knownTime: Date): Date {
  return new Date(knownTime.getTime() - CLOCKS_MS);
}

/** A period with missed changes. Null for `objectName` means all objects. */
export type Missed = TimeSpan & { objectName: string | null };

interface MissedSpan {
  subscription: ObjectSubscription;
  span: TimeSpan;
}

interface MissedChanges {
  /** The deletions in the period, which no read would find. */
  events: ProviderEvent[];
  spans: MissedSpan[];
  /** False if the provider can't list deletions. */
  hasDeletions: boolean;
}

/** Finds the affected subscriptions and the deletions. Must run before the transaction that records them. */
export async function findMissed(
  { database }: Pick<Services, 'database'>,
  followed: Followed,
  missed: readonly Missed[],
): Promise<MissedChanges> {
  if (missed.length === 0) return { events: [], spans: [], hasDeletions: true };
  const { projectId, connectionId } = followed.stream;
  const subscriptions = await database.prisma.objectSubscription.findMany({
    where: { projectId, connectionId, isWanted: true, providerRef: { not: null } },
  });
  const spans = missed.flatMap(({ objectName, ...span }) =>
    subscriptions
      .filter((candidate) => objectName === null || candidate.objectName === objectName)
      .map((subscription) => ({ subscription, span })),
  );
  const { deletions, session, account } = followed;
  if (deletions === null) return { events: [], spans, hasDeletions: false };
  const events: ProviderEvent[] = [];
  for (const object of listObjectsWithDeletions(spans)) {
    events.push(...(await deletions(session, { account, ...object })));
  }
  return { events, spans, hasDeletions: true };
}

/** Returns each object and period once, because several installations may subscribe to an object. */
function listObjectsWithDeletions(spans: readonly MissedSpan[]) {
  const objects = new Map<string, TimeSpan & { objectName: string }>();
  for (const { subscription, span } of spans) {
    const { objectName, kinds } = subscription;
    if (!kinds.includes('DELETE')) continue;
    const key = [objectName, span.since.getTime(), span.until.getTime()].join();
    objects.set(key, { objectName, ...span });
  }
  return objects.values();
}

/** Starts the reads and returns their operations, which must begin after the commit. */
export async function startMissed(
  services: Pick<Services, 'now'>,
  tx: Transaction,
  { spans, hasDeletions }: MissedChanges,
): Promise<Row<'Operation'>[]> {
  const operations: Row<'Operation'>[] = [];
  for (const { subscription, span } of spans) {
    const { projectId, installationId: id, objectName, kinds } = subscription;
    const isRead = kinds.includes('CREATE') || kinds.includes('UPDATE');
    const installation = await tx.installation.findUnique({
      where: { projectId_id: { projectId, id } },
    });
    if (!installation) continue;
    const times = `from ${span.since.toISOString()} to ${span.until.toISOString()}`;
    const isDeletionLost = !hasDeletions && kinds.includes('DELETE');
    const result = `Changes ${times} without events ${describeOutcome(isRead, isDeletionLost)}`;
    await logSubscribe(services, tx, subscription, { status: 'SUCCESS', result });
    if (!isRead) continue;
    const until = new Date(span.until.getTime() + CLOCKS_MS);
    const run = { since: span.since, until, readType: 'TRIGGERED', position: null } as const;
    operations.push(await startRun(tx, { installation, objectName, ...run }));
  }
  return operations;
}

function describeOutcome(isRead: boolean, isDeletionLost: boolean): string {
  if (!isDeletionLost) return isRead ? 'are read' : 'are reported only if they are deletions';
  return isRead
    ? 'are read; deletions are not reported'
    : 'are not reported, because they are deletions';
}
