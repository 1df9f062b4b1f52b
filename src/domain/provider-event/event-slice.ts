/** Some events of one subscription, by the worker that holds it. */
import { Prisma } from '../../database/generated/client.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { enqueueMessages } from '../../events/enqueue-messages.ts';
import { subjectOf } from '../../events/subject.ts';
import { nextTry } from '../../work/backoff.ts';
import { DAY_MS, MINUTE_MS } from '../../work/durations.ts';
import { LeaseLost } from '../../work/lease.ts';
import { runClaims } from '../../work/run-items.ts';
import type { Services } from '../call.ts';
import { stopIfBacklogged } from '../event/delivery-backlog.ts';
import { lockDestination } from '../event/destination-uses.ts';
import { logFailure } from '../provider/work-failure.ts';
import { claimWaiting, EVENTS_HELD, type EventClaim, RELEASED_LEASE } from './event-lease.ts';
import { type EventMessage, eventMessages, type ProviderEvent } from './event-message.ts';
import { type EventSource, fetchRecords, getEventSource } from './event-source.ts';

/**
 * Does stored events: what they owe and that they are done commit together. Events of one subscription are done by
 * one worker at a time, in the order of their times; other subscriptions go on beside it.
 */

/** Subscriptions of one process whose events are done at the same time. */
const AT_ONCE = 16;
/** Between looks for other subscriptions' events while some are under way. */
const POLL_MS = 100;

/** Does all that waits, and returns when nothing is left. */
export async function deliverProviderEvents(
  services: Services,
  signal: AbortSignal,
): Promise<void> {
  await runClaims({
    claim: async (underWay) => {
      const free = signal.aborted ? 0 : AT_ONCE - underWay;
      return free > 0 ? claimWaiting(services, free) : [];
    },
    work: (subscription) => doEvents(services, subscription, signal),
    pollMs: POLL_MS,
  });
}

const EVENTS_AT_ONCE = 100;
/** Then others have their turn. */
const SLICE_MS = 5_000;
/** While events come without a pause, what they are told with is read again after this time. */
const SOURCE_MS = 1_000;
const RETRY = { firstMs: 1_000, maxMs: 5 * MINUTE_MS, jitter: 0.3 };
/** What could not be done for so long is given up. */
const GIVE_UP_MS = DAY_MS;

/** Does what waits, for some seconds at most, and gives the subscription back. Never throws. */
export async function doEvents(
  services: Services,
  claim: EventClaim,
  signal: AbortSignal,
): Promise<void> {
  using _lease = EVENTS_HELD.hold(services, claim, {
    notRenewed: 'provider_events.lease_not_renewed',
  });
  const { prisma } = services.database;
  try {
    const endMs = performance.now() + SLICE_MS;
    const sourceOf = keptSource(services, claim);
    let isMore = true;
    while (isMore && performance.now() < endMs && !signal.aborted) {
      isMore = await doSome(services, claim, sourceOf);
    }
    await EVENTS_HELD.change(prisma.objectSubscription, claim, RELEASED_LEASE);
  } catch (error) {
    if (error instanceof LeaseLost) return;
    await noteFailure(services, claim, error).catch((failure: unknown) =>
      services.log.warn({ err: failure }, 'provider_events.failure_not_recorded'),
    );
  }
}

/** Throws what getEventSource throws, and UNPROCESSABLE if the project is backlogged. */
function keptSource(services: Services, claim: EventClaim): () => Promise<EventSource> {
  let kept: EventSource | undefined;
  let untilMs = 0;
  return async () => {
    if (kept && performance.now() < untilMs) return kept;
    await stopIfBacklogged(services, claim.projectId);
    kept = await getEventSource(services, claim);
    untilMs = performance.now() + SOURCE_MS;
    return kept;
  };
}

/** Whether more may wait. */
async function doSome(
  services: Services,
  claim: EventClaim,
  sourceOf: () => Promise<EventSource>,
): Promise<boolean> {
  const { projectId, installationId, objectName } = claim;
  const events = await services.database.prisma.providerEvent.findMany({
    where: { projectId, installationId, objectName, doneTime: null },
    orderBy: [{ eventTime: 'asc' }, { arrival: 'asc' }],
    take: EVENTS_AT_ONCE,
  });
  if (events.length === 0) return false;
  const source = await sourceOf();
  const fetched = await fetchRecords(services, source, events);
  const messages = eventMessages(source.head, events, { plan: source.plan, fetched });
  await record(services, claim, { events, messages, source });
  const { provider } = claim;
  services.meters.providerEventsMoved({ provider, outcome: 'owed', count: events.length });
  // More may have come meanwhile: they need no claim of their own.
  return true;
}

interface Done {
  events: ProviderEvent[];
  messages: EventMessage[];
  source: EventSource;
}

/** Throws LeaseLost. */
async function record(
  services: Services,
  claim: EventClaim,
  { events, messages, source }: Done,
): Promise<void> {
  const { projectId, installationId, objectName } = claim;
  await inTransaction(services.database, async (tx) => {
    await EVENTS_HELD.change(tx.objectSubscription, claim, {
      eventFailures: 0,
      eventsRetryTime: null,
      lastEventTime: events.at(-1)?.eventTime ?? null,
      eventCount: { increment: events.length },
    });
    if (claim.status !== 'ACTIVE') await noteFirst(tx, claim);
    await markDone(tx, events, services.now());
    const destination = await lockDestination(tx, projectId, source.destination);
    const pending = messages.map(({ recordId, body }) =>
      recordId === null
        ? { body }
        : { body, orderKey: `${installationId} ${objectName} ${recordId}` },
    );
    await enqueueMessages(tx, destination, {
      messages: pending,
      subject: subjectOf(source.connection),
    });
  });
}

/** One that a person has set up at the provider is known to work by its first event. */
async function noteFirst(tx: Transaction, claim: EventClaim): Promise<void> {
  const { projectId, installationId, objectName } = claim;
  await tx.objectSubscription.updateMany({
    where: { projectId, installationId, objectName, status: 'PENDING' },
    data: { status: 'ACTIVE', error: null },
  });
}

async function markDone(tx: Transaction, events: ProviderEvent[], now: Date): Promise<void> {
  const [first] = events;
  if (!first) return;
  const { projectId, installationId, objectName } = first;
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

/** They wait for their next turn; what has waited for a day is given up, and told in the log. */
async function noteFailure(services: Services, claim: EventClaim, error: unknown): Promise<void> {
  const { projectId, installationId, objectName } = claim;
  const about = { installationId, objectName };
  logFailure(services.log, error, {
    about,
    delayed: 'provider_events.delayed',
    failed: 'provider_events.failed',
  });
  const nowMs = services.now().getTime();
  const next = nextTry(services, RETRY, claim.eventFailures);
  await inTransaction(services.database, async (tx) => {
    const change = {
      eventFailures: next.failures,
      eventsRetryTime: next.dueTime,
      ...RELEASED_LEASE,
    };
    await EVENTS_HELD.change(tx.objectSubscription, claim, change);
    const { count } = await tx.providerEvent.updateMany({
      where: {
        projectId,
        installationId,
        objectName,
        doneTime: null,
        receiveTime: { lt: new Date(nowMs - GIVE_UP_MS) },
      },
      data: { doneTime: new Date(nowMs), content: Prisma.DbNull },
    });
    if (count === 0) return;
    services.log.error({ ...about, err: error, count }, 'provider_events.given_up');
    const { provider } = claim;
    services.meters.providerEventsMoved({ provider, outcome: 'given_up', count });
  });
}
