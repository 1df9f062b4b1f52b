/** Streams changes of an org from Salesforce's Pub/Sub API. Loaded when the first connection needs it. */
import { join } from 'node:path';
import {
  type Client,
  type ClientDuplexStream,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { Type } from 'avsc';
import { LRUCache } from 'lru-cache';
import { createMask, type MaskText } from '../../../work/secret-mask.ts';
import { ProviderError, type ProviderErrorKind } from '../../provider-error.ts';
import { toMessage } from '../../read-responses.ts';
import type { ProviderStreamBatch, ProviderStreamStart } from '../../subscribing.ts';
import { type DecodedChange, decodeChange, parseSchema } from './change-event.ts';

interface ConsumerEvent {
  event: { id: string; schemaId: string; payload: Buffer };
  /** An opaque position in the stream. */
  replayId: Buffer;
}

interface FetchRequest {
  topicName?: string;
  replayPreset?: 'LATEST' | 'EARLIEST' | 'CUSTOM';
  replayId?: Buffer;
  numRequested: number;
}

interface FetchResponse {
  events: ConsumerEvent[];
  latestReplayId: Buffer;
}

interface PubSubService extends ServiceDefinition {
  Subscribe: MethodDefinition<FetchRequest, FetchResponse>;
  GetSchema: MethodDefinition<{ schemaId: string }, { schemaId: string; schemaJson: string }>;
  GetTopic: MethodDefinition<{ topicName: string }, { topicName: string; canSubscribe: boolean }>;
}

const definitions = loadSync(join(import.meta.dirname, 'pubsub_api.proto'), {
  enums: String,
  longs: String,
  // Members that are absent on the wire get their defaults.
  defaults: true,
});

const PUB_SUB = definitions['eventbus.v1.PubSub'] as unknown as PubSubService;

/** The number of events that are requested at a time. It bounds the events in memory. */
const EVENTS_REQUESTED = 100;
/** The time limit of a unary call. */
const CALL_TIMEOUT_MS = 30_000;
const SCHEMAS_MAX = 500;

/** An org, as the service identifies it in the metadata of each call, and the topic of its changes. */
export interface Org {
  instanceUrl: string;
  organizationId: string;
  topicName: string;
}

type Stream = ClientDuplexStream<FetchRequest, FetchResponse>;

/** Opens the stream. Resolves when the topic exists and the subscription was sent. Throws ProviderError. */
export async function openChangeStream(
  org: Org,
  start: ProviderStreamStart,
): Promise<AsyncIterable<ProviderStreamBatch>> {
  const { client, position, accessToken } = start;
  const metadata = createMetadata(org, accessToken);
  const calls = { client, metadata, mask: createMask([accessToken]) };
  const { topicName } = org;
  const topic = await callUnary(calls, PUB_SUB.GetTopic, { topicName });
  if (!topic.canSubscribe) {
    throw new ProviderError('FORBIDDEN', "Salesforce doesn't let the user see the changes.");
  }
  const { path, requestSerialize, responseDeserialize } = PUB_SUB.Subscribe;
  const stream = client.makeBidiStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    metadata,
  );
  const failure = new StreamError(stream);
  start.signal.addEventListener('abort', () => stream.cancel(), { once: true });
  stream.write({
    topicName,
    numRequested: EVENTS_REQUESTED,
    ...(position === null
      ? { replayPreset: 'LATEST' }
      : { replayPreset: 'CUSTOM', replayId: Buffer.from(position, 'base64') }),
  });
  return readBatches(stream, { start, failure, calls });
}

/**
 * Keeps the stream's first error, even if it occurs before the stream is read. An unhandled error would end the
 * process.
 */
class StreamError {
  error: unknown;

  constructor(stream: Stream) {
    stream.on('error', (error) => {
      this.error ??= error;
    });
  }
}

interface StreamContext {
  start: ProviderStreamStart;
  failure: StreamError;
  calls: ServiceCalls;
}

/**
 * Requests more events only after the caller stored the previous ones, which it signals by iterating. Ends when the
 * service ends the stream, as it does from time to time.
 */
async function* readBatches(
  stream: Stream,
  { start: { account, signal }, failure, calls }: StreamContext,
): AsyncGenerator<ProviderStreamBatch> {
  const getSchema = createSchemaCache(calls);
  try {
    for await (const response of stream as AsyncIterable<FetchResponse>) {
      const { events, latestReplayId } = response;
      const changes = await decodeChanges(events, { account, getSchema });
      const position = events.at(-1)?.replayId ?? latestReplayId;
      yield {
        events: changes.flatMap((change) => change.events),
        gaps: changes.flatMap((change) => change.gaps),
        position: position.toString('base64'),
        lastTime: changes.at(-1)?.time ?? null,
      };
      if (events.length > 0) stream.write({ numRequested: events.length });
    }
    if (failure.error !== undefined) throw failure.error;
  } catch (error) {
    if (!signal.aborted && !isStreamEnd(error)) throw toProviderError(error, calls);
  } finally {
    stream.cancel();
  }
}

async function decodeChanges(
  events: ConsumerEvent[],
  { account, getSchema }: { account: string; getSchema: (id: string) => Promise<Type> },
): Promise<DecodedChange[]> {
  const changes: DecodedChange[] = [];
  for (const { event, replayId } of events) {
    const type = await getSchema(event.schemaId);
    try {
      changes.push(decodeChange(type, event.payload, account));
    } catch (cause) {
      const eventPosition = replayId.toString('base64');
      const message = `An event of Salesforce, at ${eventPosition} of the stream, can't be read.`;
      throw new ProviderError('BAD_REQUEST', message, { cause });
    }
  }
  return changes;
}

function createSchemaCache(calls: ServiceCalls): (id: string) => Promise<Type> {
  const types = new LRUCache<string, Type>({ max: SCHEMAS_MAX });
  return async (schemaId) => {
    const cachedType = types.get(schemaId);
    if (cachedType) return cachedType;
    const { schemaJson } = await callUnary(calls, PUB_SUB.GetSchema, { schemaId });
    const type = parseSchema(schemaJson);
    types.set(schemaId, type);
    return type;
  };
}

/** Calls of the service with a token, which errors may repeat. */
interface ServiceCalls {
  client: Client;
  metadata: Metadata;
  mask: MaskText;
}

function createMetadata({ instanceUrl, organizationId }: Org, accessToken: string): Metadata {
  const metadata = new Metadata();
  metadata.set('accesstoken', accessToken);
  metadata.set('instanceurl', instanceUrl);
  metadata.set('tenantid', organizationId);
  return metadata;
}

type Unary<I, O> = {
  path: string;
  requestSerialize: (value: I) => Buffer;
  responseDeserialize: (bytes: Buffer) => O;
};

function callUnary<I, O>(
  calls: ServiceCalls,
  { path, requestSerialize, responseDeserialize }: Unary<I, O>,
  message: I,
): Promise<O> {
  const { client, metadata } = calls;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      message,
      metadata,
      // The deadline uses the process's monotonic clock, like the time limits of HTTP requests.
      { deadline: CALL_TIMEOUT_MS + performance.timeOrigin + performance.now() },
      (error, result) =>
        result === undefined ? reject(toProviderError(error, calls)) : resolve(result),
    );
  });
}

/** The kind of error for each gRPC status. */
const KINDS: Partial<Record<status, ProviderErrorKind>> = {
  [status.UNAUTHENTICATED]: 'AUTH_INVALIDATED',
  [status.PERMISSION_DENIED]: 'FORBIDDEN',
  [status.NOT_FOUND]: 'MISSING_OBJECT',
  [status.INVALID_ARGUMENT]: 'BAD_REQUEST',
  [status.RESOURCE_EXHAUSTED]: 'RATE_LIMITED',
  [status.DEADLINE_EXCEEDED]: 'TIMEOUT',
  [status.UNAVAILABLE]: 'UNREACHABLE',
  [status.CANCELLED]: 'DISCONNECTED',
};

/** The service has its own error codes for positions that are too old or invalid. */
const POSITION_ERROR = /replayid/i;

function toProviderError(error: unknown, { mask }: { mask: MaskText }): unknown {
  if (!isServiceError(error)) return error;
  const [code] = error.metadata.get('error-code');
  const detail = code === undefined ? error.details : `${error.details} (${code})`;
  const kind = POSITION_ERROR.test(`${code ?? ''}`) ? 'CURSOR_GONE' : KINDS[error.code];
  const message = `Salesforce's Pub/Sub API returned ${status[error.code]}: ${detail}`;
  return new ProviderError(kind ?? 'SERVER_ERROR', toMessage(message, { mask }));
}

/**
 * True if the service had already ended the stream when the gateway requested more. grpc-js reports this as a local
 * write error.
 */
function isStreamEnd(error: unknown): boolean {
  return (
    isServiceError(error) &&
    error.code === status.INTERNAL &&
    error.details === 'Write error: write after end'
  );
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'metadata' in error && 'details' in error;
}
