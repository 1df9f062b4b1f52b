/**
 * Delivers stored provider events. One transaction enqueues the messages and marks the events as done. One worker at a
 * time delivers the events of a subscription, in the order of their times. Subscriptions run concurrently.
 */
import { Prisma } from '../../../database/generated/client.ts';
import { LeaseLost } from '../../../database/leases/lease.ts';
import { inProjectsSql, LeasedRows } from '../../../database/leases/leased-rows.ts';
import { sql } from '../../../database/statements/statements.ts';
import { PROVIDER_EVENTS_CHANNEL } from '../../../database/transactions/notification-channels.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import { enqueueMessages } from '../../../events/enqueue-messages.ts';
import { pickSubject } from '../../../events/subject.ts';
import { leasedWork } from '../../../jobs/leased-work.ts';
import { notifyWorkers } from '../../../jobs/workers.ts';
import type { ProviderError } from '../../../providers/provider-error.ts';
import { scheduleRetry } from '../../../work/backoff.ts';
import { DAY_MS, MINUTE_MS } from '../../../work/durations.ts';
import type { ProviderServices, RowServices } from '../../access/call.ts';
import { logWorkFailure } from '../../connections/provider/work-failure.ts';
import { stopIfBacklogged } from '../../events/delivery-backlog.ts';
import { lockDestination } from '../../events/destination-uses.ts';
import { createEventMessages, type EventMessage, type StoredEvent } from './event-message.ts';
import type { ObjectSubscription } from './object-subscription.ts';
import {
  fetchRecords,
  getProviderEventSource,
  type ProviderEventSource,
  requiresRecord,
} from './provider-event-source.ts';

const EVENT_BATCH = 100;
/** The longest time slice of one subscription. Then other subscriptions are served. */
const TIME_SLICE_MS = 5_000;
/** How long an event source is reused before it is loaded again. */
const SOURCE_MS = 1_000;
const RETRY = { firstMs: 1_000, maxMs: 5 * MINUTE_MS, jitter: 0.3 };
/** Events that could not be delivered within this time fail permanently. */
const RETRY_MS_MAX = DAY_MS;

/** Leases of workers that deliver the events of a subscription. */
const EVENT_LEASES = new LeasedRows({
  table: 'ObjectSubscription',
  key: ['projectId', 'installationId', 'objectName'],
  leaseMs: 10_000,
  columns: { token: 'eventLeaseToken', expireTime: 'eventLeaseExpireTime' },
  dueColumn: 'eventsRetryTime',
});

const CLAIMED_COLUMNS = [
  'projectId',
  'installationId',
  'objectName',
  'provider',
  'connectionId',
  'status',
  'eventFailures',
  'eventLeaseToken',
] as const;

type EventClaim = Pick<ObjectSubscription, (typeof CLAIMED_COLUMNS)[number]>;

const RELEASED_EVENT_LEASE = { eventLeaseToken: null, eventLeaseExpireTime: null } as const;

/** Subscriptions with stored events that wait to be delivered. */
export const providerEvents = leasedWork({
  kind: 'provider_event',
  leases: EVENT_LEASES,
  columns: CLAIMED_COLUMNS,
  perProcess: 16,
  channel: PROVIDER_EVENTS_CHANNEL,
  claim: claimSubscriptionsWithEvents,
  createDueTimeSql: (inProjects) => `select now() from "ProviderEvent"
    where ${inProjects('"projectId"')} and "doneTime" is null limit 1`,
  run: deliverSubscriptionEvents,
});

/**
 * Claims subscriptions with waiting events, in all projects. The recursive query reads one index entry for each
 * subscription, so a subscription with a million events costs no more than one with a single event. The row lock
 * prevents the deletion of the subscription, but does not block the storing of new events.
 */
export async function claimSubscriptionsWithEvents(
  { database, now }: RowServices,
  countMax: number,
): Promise<EventClaim[]> {
  return EVENT_LEASES.claim(
    database,
    { countMax, now: now(), columns: CLAIMED_COLUMNS },
    (projects, limit) => sql`waiting as (
      (select "projectId", "installationId", "objectName" from "ProviderEvent"
        where ${inProjectsSql(projects, 'ProviderEvent')} and "doneTime" is null order by "projectId", "installationId", "objectName" limit 1)
      union all
      select following.* from waiting cross join lateral (
        select "projectId", "installationId", "objectName" from "ProviderEvent"
        where ${inProjectsSql(projects, 'ProviderEvent')} and "doneTime" is null and ("projectId", "installationId", "objectName")
          > (waiting."projectId", waiting."installationId", waiting."objectName")
        order by "projectId", "installationId", "objectName" limit 1) following
    ), chosen as (
      select held.ctid as "place", held."projectId"
      from waiting
      join "ObjectSubscription" held using ("projectId", "installationId", "objectName")
      where (held."eventsRetryTime" is null or held."eventsRetryTime" <= now())
        and ${sql.raw(EVENT_LEASES.isFreeSql)}
      limit ${limit}::int for no key update of held skip locked
    )`,
  );
}

/** Delivers a subscription's waiting events for a few seconds at most, and releases the lease. */
async function deliverSubscriptionEvents(
  services: ProviderServices,
  claim: EventClaim,
  signal: AbortSignal,
): Promise<void> {
  const { prisma } = services.database;
  try {
    const endMs = performance.now() + TIME_SLICE_MS;
    const getSource = createCachedSource(services, claim);
    const refusals: Refusals = new Map();
    let hasMore = true;
    while (hasMore && performance.now() < endMs && !signal.aborted) {
      hasMore = await deliverBatch(services, claim, { getSource, refusals });
    }
    const [refusal] = refusals.values();
    if (!hasMore && refusal) throw refusal;
    await EVENT_LEASES.updateClaimed(prisma.objectSubscription, claim, RELEASED_EVENT_LEASE);
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    return recordFailure(services, claim, error);
  }
  // Events may have arrived while this claim held the subscription.
  notifyWorkers(services.database, providerEvents);
}

/**
 * Returns a function that loads the event source, and reuses it for SOURCE_MS. The function throws UNPROCESSABLE if the
 * project is backlogged, and the errors of `getProviderEventSource`.
 */
function createCachedSource(
  services: ProviderServices,
  claim: EventClaim,
): () => Promise<ProviderEventSource> {
  let source: ProviderEventSource | undefined;
  let untilMs = 0;
  return async () => {
    if (source && performance.now() < untilMs) return source;
    await stopIfBacklogged(services, claim.projectId);
    source = await getProviderEventSource(services, claim);
    untilMs = performance.now() + SOURCE_MS;
    return source;
  };
}

/** Why the provider refuses to return records, by their ids. All events of these records wait, to keep their order. */
type Refusals = Map<string, ProviderError>;

/**
 * Delivers one batch of events, and adds to `refusals` the records whose events wait. Returns false if no other event was
 * waiting. Throws a refusal if all events of the batch wait, because the provider may refuse the whole object.
 */
async function deliverBatch(
  services: ProviderServices,
  claim: EventClaim,
  { getSource, refusals }: { getSource: () => Promise<ProviderEventSource>; refusals: Refusals },
): Promise<boolean> {
  const { projectId, installationId, objectName, provider } = claim;
  const waitingIds = [...refusals.keys()];
  const events = await services.database.prisma.providerEvent.findMany({
    where: {
      ...{ projectId, installationId, objectName, doneTime: null },
      ...(waitingIds.length > 0 && {
        OR: [{ recordId: null }, { recordId: { notIn: waitingIds } }],
      }),
    },
    orderBy: [{ eventTime: 'asc' }, { arrival: 'asc' }],
    take: EVENT_BATCH,
  });
  if (events.length === 0) return false;
  const source = await getSource();
  const { findRecord, findRefusal } = await fetchRecords(services, source, events);
  for (const event of events.filter(requiresRecord)) {
    const refusal = findRefusal(objectName, event.recordId);
    if (refusal) refusals.set(event.recordId, refusal);
  }
  const readyEvents = events.filter(({ recordId }) => !refusals.has(recordId ?? ''));
  const [refusal] = refusals.values();
  if (readyEvents.length === 0 && refusal) throw refusal;
  const { head, deliveredNames } = source;
  const messages = createEventMessages(head, readyEvents, { deliveredNames, findRecord });
  await recordDelivery(services, claim, { events: readyEvents, messages, source });
  const count = readyEvents.length;
  services.meters.providerEventsProcessed({ provider, outcome: 'enqueued', count });
  // The claim covers events that have arrived in the meantime.
  return true;
}

interface DeliveredBatch {
  events: StoredEvent[];
  messages: EventMessage[];
  source: ProviderEventSource;
}

/**
 * Commits the messages and marks the events as done. Throws LeaseLost if the claim no longer holds the subscription.
 */
async function recordDelivery(
  services: RowServices,
  claim: EventClaim,
  { events, messages, source }: DeliveredBatch,
): Promise<void> {
  const { projectId, installationId, objectName } = claim;
  await inTransaction(services.database, async (tx) => {
    await EVENT_LEASES.updateClaimed(tx.objectSubscription, claim, {
      eventFailures: 0,
      eventsRetryTime: null,
      lastEventTime: events.at(-1)?.eventTime ?? null,
      eventCount: { increment: events.length },
    });
    if (claim.status !== 'ACTIVE') await activateSubscription(tx, claim);
    await markDone(tx, events, services.now());
    const destination = await lockDestination(tx, projectId, source.destination);
    const orderedMessages = messages.map(({ recordId, body }) =>
      recordId === null
        ? { body }
        : { body, orderKey: `${installationId} ${objectName} ${recordId}` },
    );
    await enqueueMessages(tx, destination, {
      messages: orderedMessages,
      subject: pickSubject(source.connection),
    });
  });
}

/** Sets a manually created subscription to ACTIVE. Its first event shows that it works. */
async function activateSubscription(tx: Transaction, claim: EventClaim): Promise<void> {
  const { projectId, installationId, objectName } = claim;
  await tx.objectSubscription.updateMany({
    where: { projectId, installationId, objectName, status: 'PENDING' },
    data: { status: 'ACTIVE', error: null },
  });
}

async function markDone(tx: Transaction, events: StoredEvent[], now: Date): Promise<void> {
  const [firstEvent] = events;
  if (!firstEvent) return;
  const { projectId, installationId, objectName } = firstEvent;
  await tx.providerEvent.updateMany({
    where: {
      projectId,
      installationId,
      objectName,
      nativeId: { in: events.map(({ nativeId }) => nativeId) },
    },
    data: { doneTime: now, content: Prisma.DbNull },
  });
}

/** Schedules a retry. Events that have waited for a day fail permanently, which is logged. */
async function recordFailure(
  services: ProviderServices,
  claim: EventClaim,
  error: unknown,
): Promise<void> {
  const { projectId, installationId, objectName } = claim;
  const fields = { installationId, objectName };
  logWorkFailure(services.log, error, {
    fields,
    retryEvent: 'provider_events.delayed',
    defectEvent: 'provider_events.failed',
  });
  const nowMs = services.now().getTime();
  const retry = scheduleRetry(services, RETRY, claim.eventFailures);
  await inTransaction(services.database, async (tx) => {
    const change = {
      eventFailures: retry.failures,
      eventsRetryTime: retry.dueTime,
      ...RELEASED_EVENT_LEASE,
    };
    await EVENT_LEASES.updateClaimed(tx.objectSubscription, claim, change);
    const { count } = await tx.providerEvent.updateMany({
      where: {
        projectId,
        installationId,
        objectName,
        doneTime: null,
        receiveTime: { lt: new Date(nowMs - RETRY_MS_MAX) },
      },
      data: { doneTime: new Date(nowMs), content: Prisma.DbNull },
    });
    if (count === 0) return;
    services.log.error({ ...fields, err: error, count }, 'provider_events.dropped');
    const { provider } = claim;
    services.meters.providerEventsProcessed({ provider, outcome: 'failed', count });
  });
}
