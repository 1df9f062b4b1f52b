/**
 * A gRPC server that speaks Salesforce's Pub/Sub API: streams of change events, with flow control and replay.
 */
import { join } from 'node:path';
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { ServerCertificate } from '../outbound/certificates.ts';
import {
  type ChangeEvent,
  createEventSchema,
  encodeEvent,
  hashEventSchema,
} from './salesforce-change.ts';
import type { SalesforceServer } from './salesforce-server.ts';

interface PublishedEvent {
  number: number;
  topics: string[];
  schemaId: string;
  payload: Buffer;
}

interface Request {
  topicName: string;
  replayPreset: string;
  replayId: Buffer;
  numRequested: number;
}

interface Response {
  events: { event: object; replayId: Buffer }[];
  latestReplayId: Buffer;
  pendingNumRequested: number;
}

type Call = ServerDuplexStream<Request, Response>;

export interface Subscriber {
  topicName: string;
  call: Call;
  /** The number of the last event that was sent to the subscriber, or of the last event before its subscription. */
  lastSent: number;
  /** Number of events that the subscriber requested and has not received. */
  credit: number;
  /** The largest value that `credit` has had. */
  creditMax: number;
  preset: string;
}

export interface PubSubServer extends AsyncDisposable {
  url: string;
  /** Subscribers with an open stream. */
  subscribers: ReadonlySet<Subscriber>;
  /** All subscriptions since the start. */
  subscriptions: { topicName: string; preset: string }[];
  /** Calls of `GetTopic`, including calls with an invalid token. */
  readonly getTopicCallCount: number;
  publish(change: ChangeEvent): void;
  /** Sends an empty response on each stream, as the service does every few minutes. */
  keepAlive(): void;
  /** Deletes all past events. No subscription can start before this point. */
  expireEvents(): void;
  /** Ends all streams, as the service does when it restarts. */
  endStreams(): void;
  /** If true, new streams end before an event is sent. */
  endsNewStreams: boolean;
}

const PROTO_PATH = join(
  import.meta.dirname,
  '../../../src/providers/salesforce/pubsub/pubsub_api.proto',
);
const ENTITIES = ['Contact', 'Account'];
const BATCH_MAX = 40;

/** Starts the server. With a certificate, which must be for `localhost`, it uses TLS. */
export async function startPubSubServer(
  org: SalesforceServer,
  tls?: ServerCertificate,
): Promise<PubSubServer> {
  const published: PublishedEvent[] = [];
  const subscribers = new Set<Subscriber>();
  const subscriptions: PubSubServer['subscriptions'] = [];
  let getTopicCallCount = 0;
  let firstAvailable = 0;
  const getLatestNumber = () => published.at(-1)?.number ?? 0;

  const sendEvents = (subscriber: Subscriber) => {
    while (subscriber.credit > 0) {
      const unsentEvents = published.filter(
        ({ number, topics }) =>
          number > subscriber.lastSent && topics.includes(subscriber.topicName),
      );
      const batch = unsentEvents.slice(0, Math.min(subscriber.credit, BATCH_MAX));
      const lastEvent = batch.at(-1);
      if (!lastEvent) return;
      subscriber.lastSent = lastEvent.number;
      subscriber.credit -= batch.length;
      subscriber.call.write({
        events: batch.map(({ number, schemaId, payload }) => ({
          event: { id: crypto.randomUUID(), schemaId, payload },
          replayId: encodeReplayId(number),
        })),
        latestReplayId: encodeReplayId(getLatestNumber()),
        pendingNumRequested: subscriber.credit,
      });
    }
  };

  const server = new Server();
  server.addService(loadService(), {
    GetTopic(
      call: ServerUnaryCall<{ topicName: string }, object>,
      callback: sendUnaryData<object>,
    ) {
      getTopicCallCount += 1;
      const { topicName } = call.request;
      const refusal = findRefusal(org, call.metadata, topicName);
      if (refusal) callback(refusal);
      else callback(null, { topicName, canSubscribe: true, canPublish: false });
    },
    GetSchema(
      call: ServerUnaryCall<{ schemaId: string }, object>,
      callback: sendUnaryData<object>,
    ) {
      const { schemaId } = call.request;
      const refusal = findRefusal(org, call.metadata);
      const entity = ENTITIES.find((name) => hashEventSchema(name) === schemaId);
      if (refusal) callback(refusal);
      else if (!entity) callback({ code: status.NOT_FOUND, details: 'There is no such schema.' });
      else callback(null, { schemaId, schemaJson: JSON.stringify(createEventSchema(entity)) });
    },
    Subscribe(call: Call) {
      let subscriber: Subscriber | undefined;
      call.on('data', (request: Request) => {
        // The cancellation may arrive after the request that it cancels.
        if (call.cancelled) return;
        if (!subscriber) {
          const { topicName, replayPreset: preset } = request;
          const refusal =
            findRefusal(org, call.metadata, topicName) ??
            findReplayIdRefusal(request, firstAvailable, getLatestNumber());
          if (refusal) return void call.emit('error', refusal);
          const start = preset === 'CUSTOM' ? decodeReplayId(request.replayId) : getLatestNumber();
          subscriber = { topicName, call, lastSent: start, credit: 0, creditMax: 0, preset };
          subscriptions.push({ topicName, preset });
          if (pubSub.endsNewStreams) return void call.end();
          subscribers.add(subscriber);
        }
        subscriber.credit += request.numRequested;
        subscriber.creditMax = Math.max(subscriber.creditMax, subscriber.credit);
        sendEvents(subscriber);
      });
      const removeSubscriber = () => {
        if (subscriber) subscribers.delete(subscriber);
      };
      call.on('cancelled', removeSubscriber);
      call.on('end', () => call.end());
      call.on('close', removeSubscriber);
      call.on('error', removeSubscriber);
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', createCredentials(tls), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const pubSub: PubSubServer = {
    url: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    endsNewStreams: false,
    subscribers,
    subscriptions,
    get getTopicCallCount() {
      return getTopicCallCount;
    },
    publish(change) {
      const number = getLatestNumber() + 1;
      const topics = org.channels.listTopics(`${change.entityName}ChangeEvent`);
      const payload = encodeEvent(change, new Date(), number);
      published.push({ number, topics, schemaId: hashEventSchema(change.entityName), payload });
      subscribers.forEach(sendEvents);
    },
    keepAlive() {
      for (const { call, credit } of subscribers) {
        call.write({
          events: [],
          latestReplayId: encodeReplayId(getLatestNumber()),
          pendingNumRequested: credit,
        });
      }
    },
    expireEvents() {
      firstAvailable = getLatestNumber() + 1;
      published.push({
        number: firstAvailable,
        topics: [],
        schemaId: '',
        payload: Buffer.alloc(0),
      });
    },
    endStreams() {
      for (const { call } of subscribers) call.end();
      subscribers.clear();
    },
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
    },
  };
  return pubSub;
}

function createCredentials(tls: ServerCertificate | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const { certificate, key } = tls;
  return ServerCredentials.createSsl(null, [{ private_key: key, cert_chain: certificate }]);
}

interface Refusal {
  code: status;
  details: string;
  metadata?: Metadata;
}

function findRefusal(
  org: SalesforceServer,
  metadata: Metadata,
  topicName?: string,
): Refusal | null {
  const [token] = metadata.get('accesstoken');
  const [instance] = metadata.get('instanceurl');
  const [tenant] = metadata.get('tenantid');
  if (token !== org.getToken() || instance !== org.url || tenant !== org.organizationId) {
    const details = 'The request has no valid credentials.';
    return { code: status.UNAUTHENTICATED, details };
  }
  if (topicName === undefined || org.channels.topics.includes(topicName)) return null;
  return { code: status.NOT_FOUND, details: `The topic ${topicName} is not known.` };
}

function findReplayIdRefusal(
  { replayPreset, replayId }: Request,
  firstAvailable: number,
  latestNumber: number,
) {
  if (replayPreset !== 'CUSTOM') return null;
  const number = decodeReplayId(replayId);
  if (number >= firstAvailable && number <= latestNumber) return null;
  const metadata = new Metadata();
  const code = 'sfdc.platform.eventbus.grpc.subscription.fetch.replayid.validation.failed';
  metadata.set('error-code', code);
  return { code: status.INVALID_ARGUMENT, details: 'The Replay ID validation failed.', metadata };
}

/** Encodes the number so that clients cannot interpret it. */
function encodeReplayId(number: number): Buffer {
  const bytes = Buffer.alloc(12, 0xfe);
  bytes.writeUInt32BE(number, 4);
  return bytes;
}

function decodeReplayId(id: Buffer): number {
  return id.length === 12 ? id.readUInt32BE(4) : -1;
}

function loadService(): ServiceDefinition {
  const definitions = loadSync(PROTO_PATH, { enums: String, longs: String, defaults: true });
  return definitions['eventbus.v1.PubSub'] as ServiceDefinition;
}
