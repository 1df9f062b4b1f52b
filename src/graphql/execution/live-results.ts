/**
 * Runs subscriptions: each item of a stream is executed in a context of its own, for the caller as they are
 * then and all who ask the same of it, and a stream ends when its caller may no longer have it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLError,
} from 'graphql';
import type { Services } from '../../domain/call.ts';
import type { OpenStreams } from '../../domain/viewer/open-streams.ts';
import type { Viewer } from '../../domain/viewer/viewer.ts';
import type { DomainError, ErrorCode } from '../../errors.ts';
import type { StreamItem } from '../../events/stream-item.ts';
import { type Context, createContext } from './context.ts';
import { Message } from './message.ts';
import { viewerKey } from './share-key.ts';

/** A subscription to run, and what those share who ask the same. */
export interface Subscription {
  args: ExecutionArgs & { contextValue: Context };
  operationKey: string;
}

const OUTAGE: ErrorCode = 'SERVICE_UNAVAILABLE';
/** Between tries of an item that can not be read. */
const AWAY_MS = 1_000;

type Item = StreamItem<unknown, string | undefined>;

interface Subscriptions {
  streams: OpenStreams;
  mapError: (error: unknown) => GraphQLError;
}

/** How subscriptions are run: answers with messages as they come, or with errors where there is no stream. */
export function createSubscribe(services: Services, { streams, mapError }: Subscriptions) {
  const live = { services, streams, mapError };
  return async (asked: Subscription): Promise<AsyncIterable<Message> | ExecutionResult> => {
    const source = await createSourceEventStream(asked.args);
    if (!(Symbol.asyncIterator in source)) return { errors: source.errors?.map(mapError) };
    const items = (source as AsyncIterable<Item>)[Symbol.asyncIterator]();
    try {
      return liveMessages(live, { ...asked, items });
    } catch (error) {
      await items.return?.();
      return { errors: [mapError(error)] };
    }
  };
}

interface Live extends Subscriptions {
  services: Services;
}

/** Not a generator: return() has to end a next() that waits for an item. */
function liveMessages(
  { services, streams, mapError }: Live,
  { args, operationKey, items }: Subscription & { items: AsyncIterator<Item> },
): AsyncGenerator<Message, void, void> {
  const { viewer, credentials = {}, ...facts } = args.contextValue;
  if (!viewer) throw new Error('A source of events was opened for nobody.');
  const shareKey = (viewer: Viewer) => `${operationKey} ${viewerKey(viewer)}`;
  let standing = { viewer, key: shareKey(viewer) };
  let refusal: DomainError | null = null;
  let isOver = false;
  const close = async (): Promise<IteratorResult<Message, void>> => {
    isOver = true;
    stream[Symbol.dispose]();
    await items.return?.();
    return { done: true, value: undefined };
  };
  const stream = streams.open(credentials, viewer, (reason) => {
    refusal = reason;
    void items.return?.();
  });

  const messageOf = async (item: Item): Promise<Message> => {
    for (;;) {
      const message = await executed(item);
      const isAway = message.errors?.some(({ extensions }) => extensions.code === OUTAGE);
      if (!isAway || streams.areEnding) return message;
      // An item is not passed over because of an outage: it is due when that is over.
      await sleep(AWAY_MS, undefined, { ref: false });
    }
  };
  const executed = async (item: Item): Promise<Message> => {
    const contextValue = createContext(services, {
      ...facts,
      viewer: standing.viewer,
      credentials,
    });
    const { data, errors } = await execute({ ...args, rootValue: item, contextValue });
    return new Message({ data, errors: errors?.map(mapError) }, item.cursor);
  };

  const next = async (): Promise<IteratorResult<Message, void>> => {
    const { done, value: item } = await items.next();
    const now = done ? null : await stream.confirm();
    if (refusal) throw refusal;
    if (!now || isOver) return close();
    if (now !== standing.viewer) standing = { viewer: now, key: shareKey(now) };
    return { done: false, value: await item.shared(standing.key, messageOf) };
  };

  return {
    async next() {
      if (isOver) return { done: true, value: undefined };
      try {
        return await next();
      } catch (error) {
        await close();
        return { done: false, value: new Message({ errors: [mapError(error)] }) };
      }
    },
    return: close,
    async throw(error) {
      await close();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => {
      await close();
    },
  };
}
