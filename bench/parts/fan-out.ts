/** Measures one stream of events to many subscribers: the rate of messages, and their age on arrival. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createExecute, runMutation } from '../bench-project.ts';
import { type FilledDatabase, KEY_TEXT } from '../database.ts';
import type { Flags } from '../flags.ts';
import { listInstalledPeers, type Peer, type PeerName, type PeerPool } from '../peers.ts';
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
import { computeMedians, computeQuantile } from '../statistics.ts';
import { formatTable } from '../table.ts';
import { waitUntil } from '../wait-until.ts';

/** The rate at which latencies are measured. */
const EVENTS_PER_SECOND = 5;
/** The time that a server needs to find the end of the log, where subscriptions start. */
const SETTLE_MS = 500;
const WARM_UP_SECONDS = 1;
const WAIT = { pollMs: 1, timeoutMs: 20_000, subject: 'Messages to subscribers' };

export interface FanOutResult {
  subscribers: number;
  /** The peer and the subscription log. */
  subject: string;
  deliveriesPerSecond: number;
  cpuMicrosPerDelivery: number;
  /** CPU time of the listening process, which shows whether it was the bottleneck. */
  driverMicrosPerDelivery: number;
  p50Ms: number;
  p99Ms: number;
  memoryBytes: number;
}

/** The measured subscriptions. Mercurius has no server-sent events. */
const SUBJECTS: readonly { peerName: PeerName; protocol: Protocol; isStream?: boolean }[] = [
  { peerName: 'mercurius', protocol: 'WebSocket' },
  { peerName: 'gateway', protocol: 'WebSocket' },
  { peerName: 'gateway', protocol: 'SSE' },
  { peerName: 'gateway', protocol: 'SSE', isStream: true },
];

/** Returns the commit time, as milliseconds since 1970. */
type RecordEvents = (count: number) => Promise<number>;

export async function measureFanOut(
  { url, projectId }: FilledDatabase,
  peerPool: PeerPool,
  flags: Flags,
): Promise<FanOutResult[]> {
  const env = { DATABASE_URL: url, ENCRYPTION_KEY: KEY_TEXT };
  await using recorder = await startChild('recorder.ts', env);
  const peerNames = listInstalledPeers().filter((name) => flags.peers?.includes(name) ?? true);
  const { subscribers } = flags.sizes;
  const results: FanOutResult[] = [];
  for (let round = 0; round < flags.rounds; round += 1) {
    for (const { peerName, protocol, isStream = false } of SUBJECTS) {
      if (!peerNames.includes(peerName)) continue;
      await using peer = await peerPool.acquire(peerName);
      await using stack = new AsyncDisposableStack();
      const subscription = isStream
        ? createMessagesSubscription(await createStream(peer, stack))
        : EVENTS;
      const record: RecordEvents = async (count) => {
        const request: RecordRequest = { projectId, count, notifies: peerName !== 'gateway' };
        return Number(await recorder.request(request));
      };
      const subject = `${protocol}, ${peerName}${isStream ? ', a stream' : ''}`;
      const measured = await measurePeer(peer, { protocol, subscription }, { record, flags });
      results.push({ subject, subscribers, ...measured });
    }
  }
  const bySubject = Map.groupBy(results, ({ subject }) => subject);
  return [...bySubject.values()].map(computeMedians);
}

/** Creates a stream destination that stores the same events during the measurement. */
async function createStream(gateway: Peer, stack: AsyncDisposableStack): Promise<string> {
  const execute = createExecute(gateway.server, gateway.headers);
  const mutate = (name: string, input: object, selection: string) =>
    runMutation(execute, name, input, selection);
  const name = `stream-${crypto.randomUUID()}`;
  const { destination } = await mutate(
    'createDestination',
    { name, type: 'STREAM' },
    'destination { id }',
  );
  const destinationId: string = destination.id;
  stack.defer(() => mutate('deleteDestination', { destinationId }, 'deletedId'));
  const { topic } = await mutate('createTopic', { name }, 'topic { id }');
  const topicId: string = topic.id;
  const eventRoute = { topicId, eventType: 'CONNECTION_CREATED' };
  await mutate('createEventTopicRoute', eventRoute, 'eventTopicRoute { id }');
  const destinationRoute = { topicId, destinationId };
  await mutate('createTopicDestinationRoute', destinationRoute, 'topicDestinationRoute { id }');
  return destinationId;
}

async function measurePeer(
  peer: Peer,
  listening: { protocol: Protocol; subscription: Subscription },
  { record, flags }: { record: RecordEvents; flags: Flags },
): Promise<Omit<FanOutResult, 'subject' | 'subscribers'>> {
  const { subscribers, burstEvents } = flags.sizes;
  using listeners = await openListeners(peer, listening, subscribers);
  const audience = { listeners, subscribers, burstEvents, record };
  await sleep(SETTLE_MS);
  // Warms up the server, and checks that every subscriber listens.
  await sendBursts(audience, Math.min(WARM_UP_SECONDS, flags.seconds));
  const cpuMs = peer.server.readCpuMs();
  const driverStart = process.cpuUsage();
  const { deliveries, seconds } = await sendBursts(audience, flags.seconds);
  const driver = process.cpuUsage(driverStart);
  const spentMs = peer.server.readCpuMs() - cpuMs;
  const ages = await measureAges(audience, flags.seconds);
  return {
    deliveriesPerSecond: deliveries / seconds,
    cpuMicrosPerDelivery: (spentMs * 1000) / deliveries,
    driverMicrosPerDelivery: (driver.user + driver.system) / deliveries,
    p50Ms: computeQuantile(ages, 0.5),
    p99Ms: computeQuantile(ages, 0.99),
    memoryBytes: peer.server.readMemoryBytes(),
  };
}

interface Audience {
  listeners: Listeners;
  subscribers: number;
  burstEvents: number;
  record: RecordEvents;
}

/**
 * Records bursts of events, each timed from its commit to its last message. Recording is not timed, because it is slower
 * than sending and does not involve the server. Throws if a message is missing or arrives twice.
 */
async function sendBursts(
  { listeners, subscribers, burstEvents, record }: Audience,
  seconds: number,
) {
  const countBefore = listeners.countReceived();
  let deliveries = 0;
  let tookMs = 0;
  while (tookMs < seconds * 1000) {
    const committedMs = await record(burstEvents);
    deliveries += burstEvents * subscribers;
    await waitUntil(() => listeners.countReceived() - countBefore >= deliveries, WAIT);
    tookMs += performance.timeOrigin + performance.now() - committedMs;
  }
  if (listeners.countReceived() - countBefore !== deliveries)
    throw new Error('Some messages arrived twice.');
  return { deliveries, seconds: tookMs / 1000 };
}

async function measureAges({ listeners, subscribers, record }: Audience, seconds: number) {
  const ages: number[] = [];
  const countBefore = listeners.countReceived();
  listeners.watchAges((ageMs) => ages.push(ageMs));
  const events = Math.ceil(seconds * EVENTS_PER_SECOND);
  for (let event = 0; event < events; event += 1) {
    const interval = sleep(1000 / EVENTS_PER_SECOND);
    await record(1);
    await interval;
  }
  await waitUntil(() => listeners.countReceived() - countBefore >= events * subscribers, WAIT);
  listeners.watchAges(null);
  return Float64Array.from(ages).sort();
}

export function formatFanOutTable(results: FanOutResult[]): string {
  const rows = results.map((result) => [
    result.subject,
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
