/** Records the state of the stream that all subscriptions of a connection share, and reports it to them. */
import { inTransaction, type Transaction } from '../../../database/transaction.ts';
import { notifySubscriptions } from '../../../events/channel.ts';
import { scheduleRetry } from '../../../work/backoff.ts';
import { MINUTE_MS } from '../../../work/durations.ts';
import { RELEASED_LEASE } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import { beginRun } from '../../operation/read/read-run.ts';
import { logWorkFailure } from '../../provider/work-failure.ts';
import { type ObjectSubscription, recordSubscribeError } from '../object-subscription.ts';
import { logSubscribe } from '../subscribe-log.ts';
import type { FollowedSource } from './followed-source.ts';
import {
  findMissedChanges,
  getPeriodStart,
  type MissedPeriod,
  startReads,
} from './missed-changes.ts';
import { storeEvents } from './store-batch.ts';
import { type ProviderStream, STREAM_LEASES } from './stream-lease.ts';

const RETRY = { firstMs: 1_000, maxMs: 5 * MINUTE_MS, jitter: 0.3 };
/** The number of consecutive temporary failures after which users see the error. */
const FAILURES_REPORTED = 4;

/** Creates the stream if it does not exist, and locks its row until the transaction ends. Returns its status. */
export async function joinStream(
  tx: Transaction,
  { projectId, connectionId, provider }: ObjectSubscription,
): Promise<Pick<ProviderStream, 'status' | 'error'>> {
  const stream = await tx.providerStream.upsert({
    where: { projectId_connectionId: { projectId, connectionId } },
    create: { projectId, connectionId, provider },
    update: { provider },
    select: { status: true, error: true },
  });
  if (stream.status === 'PENDING') notifySubscriptions(tx);
  return stream;
}

/**
 * Records that the stream is open. The failure count stays until the first event or position is stored. If the position
 * was lost, starts reads of the missed changes. Throws LeaseLost if the claim no longer holds the stream.
 */
export async function recordStreamOpen(services: Services, source: FollowedSource): Promise<void> {
  const { stream } = source;
  const { projectId, connectionId, position } = stream;
  const now = services.now();
  const lostPeriods = position === null ? createMissedPeriods(stream, now) : [];
  const missedChanges = await findMissedChanges(services, source, lostPeriods);
  const knownTime = position === null ? now : stream.knownTime;
  const operations = await inTransaction(services.database, async (tx) => {
    const working = { status: 'ACTIVE', error: null } as const;
    await STREAM_LEASES.updateClaimed(tx.providerStream, stream, { ...working, knownTime });
    const where = { projectId, connectionId, isWanted: true, providerRef: { not: null } } as const;
    await tx.objectSubscription.updateMany({
      where: { ...where, status: { in: ['PENDING', 'FAILED'] } },
      data: { ...working, failures: 0 },
    });
    await storeEvents(tx, source, missedChanges.events);
    return startReads(services, tx, missedChanges);
  });
  stream.knownTime = knownTime;
  for (const { id: operationId } of operations) {
    await beginRun(services, { operationId, projectId });
  }
}

function createMissedPeriods({ knownTime }: ProviderStream, until: Date): MissedPeriod[] {
  if (knownTime === null) return [];
  return [{ objectName: null, since: getPeriodStart(knownTime), until }];
}

/**
 * Records that the provider no longer has the position. The stream continues from the present. Throws LeaseLost if the
 * claim no longer holds the stream.
 */
export async function recordLostPosition(
  services: Services,
  { stream }: FollowedSource,
): Promise<void> {
  const { projectId, connectionId, knownTime } = stream;
  services.log.warn({ projectId, connectionId, knownTime }, 'provider_stream.position_lost');
  await inTransaction(services.database, async (tx) => {
    await STREAM_LEASES.updateClaimed(tx.providerStream, stream, { position: null });
    const since = knownTime ? ` since ${knownTime.toISOString()}` : '';
    const result = `The provider no longer has the events that follow the last received one. Changes${since} are read instead.`;
    for (const subscription of await listSubscriptions(tx, stream)) {
      await logSubscribe(services, tx, subscription, { status: 'FAILURE', result });
    }
  });
  stream.position = null;
}

/** Records a failure and schedules a retry. Throws LeaseLost if the claim no longer holds the stream. */
export async function recordStreamFailure(
  services: Services,
  stream: ProviderStream,
  error: unknown,
): Promise<void> {
  const { reason, isTemporary } = logWorkFailure(services.log, error, {
    fields: { connectionId: stream.connectionId },
    retryEvent: 'provider_stream.interrupted',
    defectEvent: 'provider_stream.failed',
  });
  const { failures, dueTime } = scheduleRetry(services, RETRY, stream.failures);
  const isReported = !isTemporary || failures >= FAILURES_REPORTED;
  await inTransaction(services.database, async (tx) => {
    const reportedState = isReported ? ({ status: 'FAILED', error: reason } as const) : {};
    await STREAM_LEASES.updateClaimed(tx.providerStream, stream, {
      failures,
      dueTime,
      ...reportedState,
      ...RELEASED_LEASE,
    });
    if (isReported) await reportFailure(services, tx, { stream, reason });
  });
}

async function reportFailure(
  services: Services,
  tx: Transaction,
  { stream, reason }: { stream: ProviderStream; reason: string },
): Promise<void> {
  for (const subscription of await listSubscriptions(tx, stream)) {
    const { projectId, installationId, objectName, status, error } = subscription;
    if (status === 'FAILED' && error === reason) continue;
    const key = { projectId, installationId, objectName };
    await tx.objectSubscription.update({
      where: { projectId_installationId_objectName: key },
      data: { status: 'FAILED', error: reason },
    });
    await logSubscribe(services, tx, subscription, { status: 'FAILURE', result: reason });
    await recordSubscribeError(tx, { id: installationId, projectId }, reason);
  }
}

function listSubscriptions(tx: Transaction, { projectId, connectionId }: ProviderStream) {
  return tx.objectSubscription.findMany({
    where: { projectId, connectionId, isWanted: true, providerRef: { not: null } },
  });
}
