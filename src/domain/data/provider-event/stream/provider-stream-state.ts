/**
 * Records the state of the stream that all subscriptions of a connection share, and reports it to them. A batch of
 * events and the position after it are stored in one transaction, so that an interruption neither loses nor repeats an
 * event.
 */

import { LEASE, RELEASED_LEASE } from '../../../../database/leases/lease.ts';
import { inProjectsSql, LeasedRows, runSweep } from '../../../../database/leases/leased-rows.ts';
import {
  allProjectsMark,
  type InProjects,
} from '../../../../database/statements/projects/all-projects.ts';
import { sql } from '../../../../database/statements/statements.ts';
import { listColumns } from '../../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../../database/transactions/transaction.ts';
import { notifySubscriptions } from '../../../../events/channel.ts';
import type { Text } from '../../../../kernel/text.ts';
import type { ProviderEvent, ProviderStreamBatch } from '../../../../providers/subscribing.ts';
import { scheduleRetry } from '../../../../work/backoff.ts';
import { MINUTE_MS } from '../../../../work/durations.ts';
import type { CoreServices, ProviderServices, RowServices } from '../../../access/call.ts';
import { toTextColumn } from '../../../base/stored-text.ts';
import { logWorkFailure } from '../../../connections/provider/work-failure.ts';
import { type ObjectSubscription, recordSubscribeError } from '../object-subscription.ts';
import { storeInTransaction } from '../receive-events.ts';
import { logSubscribe } from '../subscribe-log.ts';
import type { FollowedAccount, ProviderStream } from './followed-account.ts';
import {
  findMissedRecordChanges,
  getPeriodStart,
  type MissedPeriod,
  startReads,
} from './missed-record-changes.ts';

const IS_WANTED = sql`exists (select 1 from "ObjectSubscription" s
  where s."projectId" = held."projectId" and s."connectionId" = held."connectionId" and s."isWanted")`;

/** True while the provider sends notifications for the list. They must be removed before the stream is deleted. */
const HAS_WEBHOOK = sql`exists (select 1 from "ListWebhook" p
  where p."projectId" = held."projectId" and p."id" = held."connectionId")`;

/** The lease of a worker that follows a connection's stream. */
export const PROVIDER_STREAM_LEASES = new LeasedRows({
  table: 'ProviderStream',
  key: ['projectId', 'connectionId'],
  leaseMs: 10_000,
  columns: LEASE,
  isClaimableSql: IS_WANTED,
});

/** SQL: when the next stream may be claimed. A followed stream may be claimed when its lease ends. */
export const createProviderStreamDueTimeSql = (inProjects: InProjects): string => `
  select min(case when ${PROVIDER_STREAM_LEASES.isFreeSql} then "dueTime" else "leaseExpireTime" end)
  from "ProviderStream" where ${inProjects('"projectId"')}`;

const ALL_PROJECTS_MARK = sql.raw(allProjectsMark('streams without subscriptions'));

/** Deletes the streams that no subscription needs, then claims streams without a worker. Covers all projects. */
export async function claimProviderStreams(
  { database, now }: RowServices,
  countMax: number,
): Promise<ProviderStream[]> {
  const deleteUnwanted = sql`${ALL_PROJECTS_MARK}
    delete from "ProviderStream" where ("projectId", "connectionId") in (
      select held."projectId", held."connectionId" from "ProviderStream" held
      where ${inProjectsSql(database, 'held')} and ${sql.raw(PROVIDER_STREAM_LEASES.isFreeSql)} and not ${IS_WANTED} and not ${HAS_WEBHOOK})`;
  await runSweep(database, deleteUnwanted);
  const due = { countMax, now: now(), columns: listColumns('ProviderStream') };
  return PROVIDER_STREAM_LEASES.claimDue(database, due);
}

const RETRY = { firstMs: 1_000, maxMs: 5 * MINUTE_MS, jitter: 0.3 };
/** The number of consecutive temporary failures after which users see the error. */
const FAILURES_REPORTED = 4;

/** Creates the stream if it does not exist, and locks its row until the transaction ends. Returns its status. */
export async function joinProviderStream(
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
export async function recordProviderStreamOpen(
  services: RowServices,
  source: FollowedAccount,
): Promise<void> {
  const { stream } = source;
  const { projectId, connectionId, position } = stream;
  const now = services.now();
  const lostPeriods = position === null ? createMissedPeriods(stream, now) : [];
  const missedChanges = await findMissedRecordChanges(services, source, lostPeriods);
  const readUntil = position === null ? now : stream.readUntil;
  await inTransaction(services.database, async (tx) => {
    const working = { status: 'ACTIVE', error: null } as const;
    await PROVIDER_STREAM_LEASES.updateClaimed(tx.providerStream, stream, {
      ...working,
      readUntil,
    });
    const where = { projectId, connectionId, isWanted: true, providerRef: { not: null } } as const;
    await tx.objectSubscription.updateMany({
      where: { ...where, status: { in: ['PENDING', 'FAILED'] } },
      data: { ...working, failures: 0 },
    });
    await storeEvents(tx, source, missedChanges.events);
    await startReads(services, tx, missedChanges);
  });
  stream.readUntil = readUntil;
}

function createMissedPeriods({ readUntil }: ProviderStream, until: Date): MissedPeriod[] {
  if (readUntil === null) return [];
  return [{ objectName: null, since: getPeriodStart(readUntil), until }];
}

/**
 * Records that the provider no longer has the position. The stream continues from the present. Throws LeaseLost if the
 * claim no longer holds the stream.
 */
export async function recordLostPosition(
  services: CoreServices,
  { stream }: FollowedAccount,
): Promise<void> {
  const { projectId, connectionId, readUntil } = stream;
  services.log.warn({ projectId, connectionId, readUntil }, 'provider_stream.position_lost');
  await inTransaction(services.database, async (tx) => {
    await PROVIDER_STREAM_LEASES.updateClaimed(tx.providerStream, stream, { position: null });
    const since = readUntil ? ` since ${readUntil.toISOString()}` : '';
    const result = `The provider no longer has the events that follow the last received one. Changes${since} are read instead.`;
    for (const subscription of await listSubscriptions(tx, stream)) {
      await logSubscribe(services, tx, subscription, { status: 'FAILURE', result });
    }
  });
  stream.position = null;
}

/** Records a failure and schedules a retry. Throws LeaseLost if the claim no longer holds the stream. */
export async function recordProviderStreamFailure(
  services: ProviderServices,
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
    const reportedState = isReported
      ? ({ status: 'FAILED', error: toTextColumn(reason) } as const)
      : {};
    await PROVIDER_STREAM_LEASES.updateClaimed(tx.providerStream, stream, {
      failures,
      dueTime,
      ...reportedState,
      ...RELEASED_LEASE,
    });
    if (isReported) await reportFailure(services, tx, { stream, reason });
  });
}

async function reportFailure(
  services: RowServices,
  tx: Transaction,
  { stream, reason }: { stream: ProviderStream; reason: Text },
): Promise<void> {
  const column = toTextColumn(reason);
  for (const subscription of await listSubscriptions(tx, stream)) {
    const { projectId, installationId, objectName, status, error } = subscription;
    if (status === 'FAILED' && error === column) continue;
    const key = { projectId, installationId, objectName };
    await tx.objectSubscription.update({
      where: { projectId_installationId_objectName: key },
      data: { status: 'FAILED', error: column },
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

/** Stores a batch of events and the position after them. Throws LeaseLost if the claim no longer holds the stream. */
export async function storeBatch(
  services: ProviderServices,
  source: FollowedAccount,
  {
    events,
    gaps,
    position,
    lastTime,
  }: Omit<ProviderStreamBatch, 'gaps'> & { gaps: MissedPeriod[] },
): Promise<void> {
  const { stream } = source;
  const readUntil = lastTime ?? services.now();
  const missedChanges = await findMissedRecordChanges(services, source, gaps);
  const allEvents = [...events, ...missedChanges.events];
  const storedCount = await inTransaction(services.database, async (tx) => {
    await PROVIDER_STREAM_LEASES.updateClaimed(tx.providerStream, stream, {
      position,
      readUntil,
      failures: 0,
    });
    const count = await storeEvents(tx, source, allEvents);
    await startReads(services, tx, missedChanges);
    return count;
  });
  Object.assign(stream, { position, readUntil, failures: 0 });
  if (allEvents.length === 0 && gaps.length === 0) return;
  const { provider, connectionId } = stream;
  services.meters.providerEventReceived({ provider, outcome: 'ACCEPTED' });
  services.meters.providerEventsProcessed({ provider, outcome: 'stored', count: storedCount });
  const counts = { events: events.length, gaps: gaps.length, stored: storedCount };
  services.log.info({ provider, connectionId, ...counts }, 'provider_stream.events_stored');
}

/** Stores the events that subscriptions need and that are new, and returns their number. Updates `source.appIds`. */
async function storeEvents(
  tx: Transaction,
  source: FollowedAccount,
  events: ProviderEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const { projectId } = source.stream;
  source.appIds = await listAppIds(tx, source);
  let storedCount = 0;
  for (const providerAppId of source.appIds) {
    storedCount += await storeInTransaction(tx, { projectId, providerAppId }, events);
  }
  return storedCount;
}

async function listAppIds(
  tx: Transaction,
  { stream: { projectId, connectionId }, account }: FollowedAccount,
): Promise<string[]> {
  const subscriptions = await tx.objectSubscription.findMany({
    where: { projectId, connectionId, account, isWanted: true, providerAppId: { not: null } },
    distinct: ['providerAppId'],
    select: { providerAppId: true },
  });
  return subscriptions.flatMap(({ providerAppId }) => providerAppId ?? []);
}
