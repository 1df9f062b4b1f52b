/**
 * Runs subscriptions: each event is executed in a context of its own, for the caller as they are then and all
 * who ask the same of it, and a stream ends when its caller may no longer have it.
 */
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLError,
} from 'graphql';
import type { Services } from '../domain/call.ts';
import type { OpenStreams } from '../domain/viewer/open-streams.ts';
import type { DomainError } from '../errors.ts';
import { type Context, createContext } from './context.ts';
import { operationKey, SharedResults, viewerKey } from './shared-results.ts';

const CURSOR = Symbol('cursor');

/** The place in its list of the event that a result was made of; undefined where it has none. */
export function cursorOf(result: ExecutionResult): string | undefined {
  return (result as { [CURSOR]?: string })[CURSOR];
}

interface LiveArgs extends ExecutionArgs {
  contextValue: Context;
}

interface Subscriptions {
  streams: OpenStreams;
  mapError: (error: unknown) => GraphQLError;
}

/** How subscriptions are run: answers with results as they come, or with errors where there is no stream. */
export function createSubscribe(services: Services, { streams, mapError }: Subscriptions) {
  const live = { services, streams, mapError, shared: new SharedResults() };
  return async (args: LiveArgs): Promise<AsyncIterable<ExecutionResult> | ExecutionResult> => {
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return { errors: source.errors?.map(mapError) };
    const events = source[Symbol.asyncIterator]();
    try {
      return liveResults(live, { args, events });
    } catch (error) {
      await events.return?.();
      return { errors: [mapError(error)] };
    }
  };
}

interface Live extends Subscriptions {
  services: Services;
  shared: SharedResults;
}

/** Not a generator: return() has to end a next() that waits for an event. */
function liveResults(
  { services, streams, shared, mapError }: Live,
  { args, events }: { args: LiveArgs; events: AsyncIterator<unknown> },
): AsyncGenerator<ExecutionResult, void, void> {
  const { viewer, credentials = {}, ...facts } = args.contextValue;
  if (!viewer) throw new Error('A source of events was opened for nobody.');
  const asked = operationKey(args);
  let standing = { viewer, key: viewerKey(viewer) };
  let refusal: DomainError | null = null;
  let isOver = false;
  const close = async (): Promise<IteratorResult<ExecutionResult, void>> => {
    isOver = true;
    stream[Symbol.dispose]();
    await events.return?.();
    return { done: true, value: undefined };
  };
  const stream = streams.open(credentials, viewer, (reason) => {
    refusal = reason;
    void events.return?.();
  });

  const next = async (): Promise<IteratorResult<ExecutionResult, void>> => {
    const { done, value: event } = await events.next();
    const now = done ? null : await stream.confirm();
    if (refusal) throw refusal;
    if (!now || isOver) return close();
    if (now !== standing.viewer) standing = { viewer: now, key: viewerKey(now) };
    const value = await shared.get(event as object, `${asked} ${standing.key}`, async () => {
      const contextValue = createContext(services, { ...facts, viewer: now, credentials });
      const { data, errors } = await execute({ ...args, rootValue: event, contextValue });
      return withCursor({ data, ...(errors && { errors: errors.map(mapError) }) }, event);
    });
    return { done: false, value };
  };

  return {
    async next() {
      if (isOver) return { done: true, value: undefined };
      try {
        return await next();
      } catch (error) {
        await close();
        return { done: false, value: { errors: [mapError(error)] } };
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

function withCursor(result: ExecutionResult, event: unknown): ExecutionResult {
  const { cursor } = event as { cursor?: unknown };
  return typeof cursor === 'string' ? Object.assign(result, { [CURSOR]: cursor }) : result;
}
