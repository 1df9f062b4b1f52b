/** A gRPC server that speaks Salesforce's Pub/Sub API: streams of change events, with flow control and replay. */
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
import { type ChangeToTell, payloadOf, schemaIdOf, schemaOf } from './salesforce-change.ts';
import type { SalesforceServer } from './salesforce-server.ts';

interface Told {
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
  /** The number of the last event that it was sent, or began after. */
  at: number;
  /** Events that it asked for and has not been sent. */
  room: number;
  /** The most events that it ever had room for. */
  roomMax: number;
  preset: string;
}

export interface PubSubServer extends AsyncDisposable {
  url: string;
  /** Those that are open. */
  subscribers: Subscriber[];
  /** All that ever were. */
  begun: { topicName: string; preset: string }[];
  /** How often a topic was asked for, with whatever token. */
  readonly calls: number;
  tell(change: ChangeToTell): void;
  /** The empty answers that the service sends every few minutes. */
  keepAlive(): void;
  /** What was told so far is not kept any more: nobody can begin before it. */
  forget(): void;
  /** Ends all streams, as the service does when it restarts. */
  cut(): void;
  /** Streams that begin from now on are ended before anything is sent. */
  isClosing: boolean;
}

const PROTO = join(
  import.meta.dirname,
  '../../../src/providers/salesforce/pubsub/pubsub_api.proto',
);
const ENTITIES = ['Contact', 'Account'];
const BATCH_MAX = 40;

/** Over TLS with a certificate, which is to be for `localhost`. */
export async function pubSubServer(
  org: SalesforceServer,
  tls?: ServerCertificate,
): Promise<PubSubServer> {
  const told: Told[] = [];
  const subscribers: Subscriber[] = [];
  const begun: PubSubServer['begun'] = [];
  let calls = 0;
  let kept = 0;
  const latest = () => told.at(-1)?.number ?? 0;

  const send = (subscriber: Subscriber) => {
    while (subscriber.room > 0) {
      const next = told.filter(
        ({ number, topics }) => number > subscriber.at && topics.includes(subscriber.topicName),
      );
      const some = next.slice(0, Math.min(subscriber.room, BATCH_MAX));
      const last = some.at(-1);
      if (!last) return;
      subscriber.at = last.number;
      subscriber.room -= some.length;
      subscriber.call.write({
        events: some.map(({ number, schemaId, payload }) => ({
          event: { id: crypto.randomUUID(), schemaId, payload },
          replayId: replayId(number),
        })),
        latestReplayId: replayId(latest()),
        pendingNumRequested: subscriber.room,
      });
    }
  };

  const server = new Server();
  server.addService(loadService(), {
    GetTopic(
      call: ServerUnaryCall<{ topicName: string }, object>,
      response: sendUnaryData<object>,
    ) {
      calls += 1;
      const { topicName } = call.request;
      const refusal = refusalOf(org, call.metadata, topicName);
      if (refusal) response(refusal);
      else response(null, { topicName, canSubscribe: true, canPublish: false });
    },
    GetSchema(
      call: ServerUnaryCall<{ schemaId: string }, object>,
      response: sendUnaryData<object>,
    ) {
      const { schemaId } = call.request;
      const refusal = refusalOf(org, call.metadata);
      const entity = ENTITIES.find((name) => schemaIdOf(name) === schemaId);
      if (refusal) response(refusal);
      else if (!entity) response({ code: status.NOT_FOUND, details: 'There is no such schema.' });
      else response(null, { schemaId, schemaJson: JSON.stringify(schemaOf(entity)) });
    },
    Subscribe(call: Call) {
      let subscriber: Subscriber | undefined;
      call.on('data', (request: Request) => {
        // A request that was read before its cancellation was.
        if (call.cancelled) return;
        if (!subscriber) {
          const { topicName, replayPreset: preset } = request;
          const refusal =
            refusalOf(org, call.metadata, topicName) ?? placeRefusal(request, kept, latest());
          if (refusal) return void call.emit('error', refusal);
          const at = preset === 'CUSTOM' ? numberOf(request.replayId) : latest();
          subscriber = { topicName, call, at, room: 0, roomMax: 0, preset };
          begun.push({ topicName, preset });
          if (pubSub.isClosing) return void call.end();
          subscribers.push(subscriber);
        }
        subscriber.room += request.numRequested;
        subscriber.roomMax = Math.max(subscriber.roomMax, subscriber.room);
        send(subscriber);
      });
      const gone = () => {
        const place = subscriber ? subscribers.indexOf(subscriber) : -1;
        if (place >= 0) subscribers.splice(place, 1);
      };
      call.on('cancelled', gone);
      call.on('end', () => call.end());
      call.on('close', gone);
      call.on('error', gone);
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentialsOf(tls), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const pubSub: PubSubServer = {
    url: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    isClosing: false,
    subscribers,
    begun,
    get calls() {
      return calls;
    },
    tell(change) {
      const number = latest() + 1;
      const topics = org.channels.topicsOf(`${change.entityName}ChangeEvent`);
      const payload = payloadOf(change, new Date(), number);
      told.push({ number, topics, schemaId: schemaIdOf(change.entityName), payload });
      subscribers.forEach(send);
    },
    keepAlive() {
      for (const { call, room } of subscribers) {
        call.write({ events: [], latestReplayId: replayId(latest()), pendingNumRequested: room });
      }
    },
    forget() {
      kept = latest() + 1;
      told.push({ number: kept, topics: [], schemaId: '', payload: Buffer.alloc(0) });
    },
    cut() {
      for (const { call } of subscribers.splice(0)) call.end();
    },
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
    },
  };
  return pubSub;
}

function credentialsOf(tls: ServerCertificate | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const { certificate, key } = tls;
  return ServerCredentials.createSsl(null, [{ private_key: key, cert_chain: certificate }]);
}

interface Refusal {
  code: status;
  details: string;
  metadata?: Metadata;
}

function refusalOf(org: SalesforceServer, metadata: Metadata, topicName?: string): Refusal | null {
  const [token] = metadata.get('accesstoken');
  const [instance] = metadata.get('instanceurl');
  const [tenant] = metadata.get('tenantid');
  if (token !== org.token() || instance !== org.url || tenant !== org.organizationId) {
    const details = 'The request has no valid credentials.';
    return { code: status.UNAUTHENTICATED, details };
  }
  if (topicName === undefined || org.channels.topics.includes(topicName)) return null;
  return { code: status.NOT_FOUND, details: `The topic ${topicName} is not known.` };
}

function placeRefusal({ replayPreset, replayId }: Request, kept: number, latest: number) {
  if (replayPreset !== 'CUSTOM') return null;
  const number = numberOf(replayId);
  if (number >= kept && number <= latest) return null;
  const metadata = new Metadata();
  const code = 'sfdc.platform.eventbus.grpc.subscription.fetch.replayid.validation.failed';
  metadata.set('error-code', code);
  return { code: status.INVALID_ARGUMENT, details: 'The Replay ID validation failed.', metadata };
}

/** Opaque to those who get it. */
function replayId(number: number): Buffer {
  const bytes = Buffer.alloc(12, 0xfe);
  bytes.writeUInt32BE(number, 4);
  return bytes;
}

function numberOf(id: Buffer): number {
  return id.length === 12 ? id.readUInt32BE(4) : -1;
}

function loadService(): ServiceDefinition {
  const definitions = loadSync(PROTO, { enums: String, longs: String, defaults: true });
  return definitions['eventbus.v1.PubSub'] as ServiceDefinition;
}
