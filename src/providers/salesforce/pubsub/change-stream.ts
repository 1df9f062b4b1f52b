/** Changes of an org as its Pub/Sub API streams them. Loaded by the first connection that needs it. */
import { type Client, type ClientDuplexStream, Metadata } from '@grpc/grpc-js';
import type { Type } from 'avsc';
import { LRUCache } from 'lru-cache';
import { ProviderError } from '../../provider-error.ts';
import type { StreamBatch, StreamStart } from '../../subscribing.ts';
import { eventType } from './avro.ts';
import { type Change, changeOf } from './change-event.ts';
import { type ConsumerEvent, type FetchRequest, type FetchResponse, PUB_SUB } from './service.ts';
import { isEnd, streamFailure } from './stream-failure.ts';

/** The most that the service sends without being asked again: what it may send is what is held here. */
const EVENTS_AHEAD = 100;
/** Of single calls. */
const CALL_MS = 30_000;
const SCHEMAS_KNOWN = 500;

/** Whose stream it is: what the service asks of each call. */
export interface Org {
  instanceUrl: string;
  organizationId: string;
  topicName: string;
}

type Stream = ClientDuplexStream<FetchRequest, FetchResponse>;

/** Resolves when the topic is known, and the stream has been asked for. Throws ProviderError. */
export async function openChangeStream(
  org: Org,
  start: StreamStart,
): Promise<AsyncIterable<StreamBatch>> {
  const { client, position } = start;
  const metadata = metadataOf(org, start.accessToken);
  const { topicName } = org;
  const topic = await call(client, PUB_SUB.GetTopic, { topicName }, metadata);
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
  const failure = new Failure(stream);
  start.signal.addEventListener('abort', () => stream.cancel(), { once: true });
  stream.write({
    topicName,
    numRequested: EVENTS_AHEAD,
    ...(position === null
      ? { replayPreset: 'LATEST' }
      : { replayPreset: 'CUSTOM', replayId: Buffer.from(position, 'base64') }),
  });
  return batches(stream, { start, failure, schemas: schemasOf(client, metadata) });
}

/** Of a stream, also before anybody reads it: it would end the process. */
class Failure {
  error: unknown;

  constructor(stream: Stream) {
    stream.on('error', (error) => {
      this.error ??= error;
    });
  }
}

interface Reading {
  start: StreamStart;
  failure: Failure;
  schemas: (id: string) => Promise<Type>;
}

/**
 * More is asked for when what came before is stored: whoever iterates asks for the next batch then. Ends when the
 * service ends the stream, as it does now and then.
 */
async function* batches(
  stream: Stream,
  { start: { account, signal }, failure, schemas }: Reading,
): AsyncGenerator<StreamBatch> {
  try {
    for await (const response of stream as AsyncIterable<FetchResponse>) {
      const { events, latestReplayId } = response;
      const changes = await changesOf(events, { account, schemas });
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
    if (!signal.aborted && !isEnd(error)) throw streamFailure(error);
  } finally {
    stream.cancel();
  }
}

async function changesOf(
  events: ConsumerEvent[],
  { account, schemas }: { account: string; schemas: Reading['schemas'] },
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const { event, replayId } of events) {
    const type = await schemas(event.schemaId);
    try {
      changes.push(changeOf(type, event.payload, account));
    } catch (cause) {
      const place = replayId.toString('base64');
      const message = `An event of Salesforce, at ${place} of the stream, can't be read.`;
      throw new ProviderError('BAD_REQUEST', message, { cause });
    }
  }
  return changes;
}

function schemasOf(client: Client, metadata: Metadata): (id: string) => Promise<Type> {
  const known = new LRUCache<string, Type>({ max: SCHEMAS_KNOWN });
  return async (schemaId) => {
    const type = known.get(schemaId);
    if (type) return type;
    const { schemaJson } = await call(client, PUB_SUB.GetSchema, { schemaId }, metadata);
    const made = eventType(schemaJson);
    known.set(schemaId, made);
    return made;
  };
}

function metadataOf({ instanceUrl, organizationId }: Org, accessToken: string): Metadata {
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

function call<I, O>(
  client: Client,
  { path, requestSerialize, responseDeserialize }: Unary<I, O>,
  message: I,
  metadata: Metadata,
): Promise<O> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      message,
      metadata,
      // Its time is on the machine's own clock, like that of requests.
      { deadline: CALL_MS + performance.timeOrigin + performance.now() },
      (error, answer) => (answer === undefined ? reject(streamFailure(error)) : resolve(answer)),
    );
  });
}
