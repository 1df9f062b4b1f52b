/** One stream of events to many subscribers: messages per second, and their age. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Filled, KEY_TEXT } from '../database.ts';
import { PROJECT_NAME } from '../fill.ts';
import type { Flags } from '../flags.ts';
import { type GraphqlRequest, sendRequest } from '../graphql-request.ts';
import { findMedianRound, quantile } from '../median.ts';
import { listInstalledPeers, type Peer, type PeerName, startPeer } from '../peers.ts';
import { startChild } from '../processes/child.ts';
import {
  createMessagesSubscription,
  EVENTS,
  type Listeners,
  openListeners,
  type Protocol,
  type Subscription,
} from '../processes/listeners.ts';
import type { RecordRequest } from '../processes/recorder.ts';
import { formatTable } from '../table.ts';
import { waitUntil } from '../wait-until.ts';

/** Number of events in a transaction. Large enough that sending, not waking up, dominates the time. */
const BURST = 50;
/** The rate at which latencies are measured. */
const EVENTS_PER_SECOND = 5;
/** Subscriptions start at the end of the log, which a server may take a moment to find. */
const SETTLE_MS = 500;
const WARM_UP_SECONDS = 1;
const WAIT = { pollMs: 1, timeoutMs: 20_000, what: 'Messages to subscribers' };

export interface FanOut {
  subscribers: number;
  /** The peer and the subscription log. */
  what: string;
  deliveriesPerSecond: number;
  cpuMicrosPerDelivery: number;
  /** CPU time of the listening process, which shows whether it was the bottleneck. */
  driverMicrosPerDelivery: number;
  p50Ms: number;
  p99Ms: number;
  memoryBytes: number;
}

/** Mercurius has no server-sent events. */
const SUBJECTS = [
  { name: 'mercurius', protocol: 'WebSocket' },
  { name: 'gateway', protocol: 'WebSocket' },
  { name: 'gateway', protocol: 'SSE' },
  { name: 'gateway', protocol: 'SSE', isStream: true },
] as const;

/** Returns the commit time, as milliseconds since 1970. */
type RecordEvents = (count: number) => Promise<number>;

export async function measureFanOut(filled: Filled, flags: Flags): Promise<FanOut[]> {
  const { url, projectId } = filled;
  const env = { DATABASE_URL: url, ENCRYPTION_KEY: KEY_TEXT };
  await using recorder = await startChild('recorder.ts', env);
  const recordFor = (name: PeerName) => async (count: number) =>
    Number(
      await recorder.request({
        projectId,
        count,
        notifies: name !== 'gateway',
      } satisfies RecordRequest),
    );
  const peers = listInstalledPeers().filter((name) => flags.peers?.includes(name) ?? true);
  const subjects = SUBJECTS.filter(({ name }) => peers.includes(name));
  const results: FanOut[] = [];
  for (let round = 0; round < flags.rounds; round += 1) {
    for (const { name, protocol, ...subject } of subjects) {
      const isStream = 'isStream' in subject;
      const what = `${protocol}, ${name}${isStream ? ', a stream' : ''}`;
      await using peer = await startPeer(name, filled);
      await using stack = new AsyncDisposableStack();
      const subscription = isStream
        ? createMessagesSubscription(await createStream(peer, stack))
        : EVENTS;
      const listening = { protocol, subscription };
      const record = recordFor(name);
      const { subscribers } = flags.sizes;
      const measured = await measurePeer(peer, listening, { record, flags });
      results.push({ what, subscribers, ...measured });
    }
  }
  const bySubject = Map.groupBy(results, ({ what }) => what);
  return [...bySubject.values()].map(findMedianRound);
}

/** Creates a stream destination that stores the same events during the measurement. */
async function createStream(gateway: Peer, stack: AsyncDisposableStack): Promise<string> {
  const change = async (name: string, input: object, selection: string) => {
    const query = `mutation Change($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) {
      ${name}(input: $input) { ${selection} }
    }`;
    const request: GraphqlRequest = { operationName: 'Change', query, variables: { input } };
    return (await sendRequest(gateway, request))[name];
  };
  const project = { projectIdOrName: PROJECT_NAME };
  const name = `stream-${crypto.randomUUID()}`;
  const created = await change(
    'createDestination',
    { ...project, name, type: 'STREAM' },
    'destination { id }',
  );
  const destinationId: string = created.destination.id;
  const { topic } = await change('createTopic', { ...project, name }, 'topic { id }');
  const route = { ...project, topicId: topic.id };
  const eventRoute = { ...route, eventType: 'CONNECTION_CREATED' };
  await change('createEventTopicRoute', eventRoute, 'eventTopicRoute { id }');
  const destinationRoute = { ...route, destinationId };
  await change('createTopicDestinationRoute', destinationRoute, 'topicDestinationRoute { id }');
  stack.defer(() => change('deleteDestination', { ...project, destinationId }, 'deletedId'));
  return destinationId;
}

async function measurePeer(
  peer: Peer,
  listening: { protocol: Protocol; subscription: Subscription },
  { record, flags }: { record: RecordEvents; flags: Flags },
): Promise<Omit<FanOut, 'what' | 'subscribers'>> {
  const { subscribers } = flags.sizes;
  using listeners = await openListeners(peer, listening, subscribers);
  const audience = { listeners, subscribers, record };
  await sleep(SETTLE_MS);
  // Warms up, and verifies that every subscriber listens.
  await saturate(audience, Math.min(WARM_UP_SECONDS, flags.seconds));
  const cpuMs = peer.server.cpuMs();
  const driverBefore = process.cpuUsage();
  const { deliveries, seconds } = await saturate(audience, flags.seconds);
  const driver = process.cpuUsage(driverBefore);
  const spentMs = peer.server.cpuMs() - cpuMs;
  const ages = await measureAges(audience, flags.seconds);
  return {
    deliveriesPerSecond: deliveries / seconds,
    cpuMicrosPerDelivery: (spentMs * 1000) / deliveries,
    driverMicrosPerDelivery: (driver.user + driver.system) / deliveries,
    p50Ms: quantile(ages, 0.5),
    p99Ms: quantile(ages, 0.99),
    memoryBytes: peer.server.readMemoryBytes(),
  };
}

interface Audience {
  listeners: Listeners;
  subscribers: number;
  record: RecordEvents;
}

/**
 * Bursts, each timed from its commit to its last message, because recording is slower than sending and does not involve
 * the server. Throws if a message is missing or arrives twice.
 */
async function saturate({ listeners, subscribers, record }: Audience, seconds: number) {
  const before = listeners.received();
  let deliveries = 0;
  let tookMs = 0;
  while (tookMs < seconds * 1000) {
    const committedMs = await record(BURST);
    deliveries += BURST * subscribers;
    await waitUntil(() => listeners.received() - before >= deliveries, WAIT);
    tookMs += performance.timeOrigin + performance.now() - committedMs;
  }
  if (listeners.received() - before !== deliveries) throw new Error('Some messages arrived twice.');
  return { deliveries, seconds: tookMs / 1000 };
}

async function measureAges({ listeners, subscribers, record }: Audience, seconds: number) {
  const ages: number[] = [];
  const before = listeners.received();
  listeners.watch((ageMs) => ages.push(ageMs));
  const events = Math.ceil(seconds * EVENTS_PER_SECOND);
  for (let event = 0; event < events; event += 1) {
    const next = sleep(1000 / EVENTS_PER_SECOND);
    await record(1);
    await next;
  }
  await waitUntil(() => listeners.received() - before >= events * subscribers, WAIT);
  listeners.watch(null);
  return Float64Array.from(ages).sort();
}

export function formatFanOutTable(results: FanOut[]): string {
  const rows = results.map((result) => [
    result.what,
    Math.round(result.deliveriesPerSecond),
    result.cpuMicrosPerDelivery.toFixed(1),
    result.p50Ms.toFixed(1),
    result.p99Ms.toFixed(1),
    Math.round(result.memoryBytes / 2 ** 20),
    result.driverMicrosPerDelivery.toFixed(1),
  ]);
  const head = ['', 'messages/s', 'cpu µs', 'p50 ms', 'p99 ms', 'MB', 'driver'];
  return `Fan-out to ${results[0]?.subscribers} subscribers; ages at ${EVENTS_PER_SECOND} events/s\n${formatTable(head, rows)}\n`;
}
