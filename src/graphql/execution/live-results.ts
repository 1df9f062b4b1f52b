/**
 * Runs subscriptions: each item of a stream is executed in a context of its own, with the caller's rights at that
 * time, once for all who share the result. A stream ends when its caller may no longer have it.
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
import type { OpenStream, OpenStreams } from '../../domain/viewer/open-streams.ts';
import type { Viewer } from '../../domain/viewer/viewer.ts';
import type { DomainError, ErrorCode } from '../../errors.ts';
import type { StreamItem } from '../../events/stream-item.ts';
import { type Context, createContext } from './context.ts';
import { Message } from './message.ts';
import { viewerKey } from './share-key.ts';

/** A subscription to run, and the results that equal subscriptions share. */
export interface Subscription {
  args: ExecutionArgs & { contextValue: Context };
  operationKey: string;
}

const OUTAGE: ErrorCode = 'SERVICE_UNAVAILABLE';
/** Between attempts to read an item while the database is away. */
const AWAY_MS = 1_000;

type Item = StreamItem<unknown, string | undefined>;

export interface Subscriptions {
  streams: OpenStreams;
  mapError: (error: unknown) => GraphQLError;
}

/** How subscriptions are run: answers with messages as they come, or with errors if there is no stream. */
export function createSubscribe(services: Services, { streams, mapError }: Subscriptions) {
  const live = { services, streams, mapError };
  return async (operation: Subscription): Promise<AsyncIterable<Message> | ExecutionResult> => {
    const source = await createSourceEventStream(operation.args);
    if (!(Symbol.asyncIterator in source)) return { errors: source.errors?.map(mapError) };
    const items = (source as AsyncIterable<Item>)[Symbol.asyncIterator]();
    try {
      return new LiveMessages(live, operation, items);
    } catch (error) {
      await items.return?.();
      return { errors: [mapError(error)] };
    }
  };
}

interface Live extends Subscriptions {
  services: Services;
}

type Next = IteratorResult<Message, void>;
const DONE = { done: true, value: undefined } as const;

/** Not a generator: return() has to end a next() that waits for an item. */
class LiveMessages implements AsyncIterableIterator<Message, void, void>, AsyncDisposable {
  readonly #live: Live;
  readonly #operation: Subscription;
  readonly #items: AsyncIterator<Item>;
  readonly #stream: OpenStream;
  #viewer: Viewer;
  /** Callers who see the same share a result. */
  #shareKey: string;
  #refusal: DomainError | null = null;
  #isOver = false;

  /** Throws if the caller has too many streams. */
  constructor(live: Live, operation: Subscription, items: AsyncIterator<Item>) {
    const { viewer, credentials = {} } = operation.args.contextValue;
    if (!viewer) throw new Error('A source of events was opened for nobody.');
    this.#live = live;
    this.#operation = operation;
    this.#items = items;
    this.#viewer = viewer;
    this.#shareKey = this.#shareKeyOf(viewer);
    this.#stream = live.streams.open(credentials, viewer, (reason) => {
      this.#refusal = reason;
      void items.return?.();
    });
  }

  async next(): Promise<Next> {
    if (this.#isOver) return DONE;
    try {
      return await this.#next();
    } catch (error) {
      await this.return();
      return { done: false, value: new Message({ errors: [this.#live.mapError(error)] }) };
    }
  }

  async return(): Promise<Next> {
    this.#isOver = true;
    this.#stream[Symbol.dispose]();
    await this.#items.return?.();
    return DONE;
  }

  async throw(error: unknown): Promise<Next> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #next(): Promise<Next> {
    const { done, value: item } = await this.#items.next();
    const viewer = done ? null : await this.#stream.confirm();
    if (this.#refusal) throw this.#refusal;
    if (!viewer || this.#isOver) return this.return();
    if (viewer !== this.#viewer) {
      this.#viewer = viewer;
      this.#shareKey = this.#shareKeyOf(viewer);
    }
    return { done: false, value: await item.shared(this.#shareKey, this.#messageOf) };
  }

  #shareKeyOf(viewer: Viewer): string {
    return `${this.#operation.operationKey} ${viewerKey(viewer)}`;
  }

  readonly #messageOf = async (item: Item): Promise<Message> => {
    for (;;) {
      const message = await this.#execute(item);
      const isAway = message.errors?.some(({ extensions }) => extensions.code === OUTAGE);
      if (!isAway || this.#live.streams.areEnding) return message;
      // An outage skips no item: it is sent when the outage is over.
      await sleep(AWAY_MS, undefined, { ref: false });
    }
  };

  async #execute(item: Item): Promise<Message> {
    const { services, mapError } = this.#live;
    const { args } = this.#operation;
    const { credentials = {}, ...facts } = args.contextValue;
    const contextValue = createContext(services, { ...facts, viewer: this.#viewer, credentials });
    const { data, errors } = await execute({ ...args, rootValue: item, contextValue });
    return new Message({ data, errors: errors?.map(mapError) }, item.cursor);
  }
}
