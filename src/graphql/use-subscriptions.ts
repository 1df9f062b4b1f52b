/**
 * Runs subscriptions: each event is executed in a context of its own, for the caller as they are then, and
 * a stream ends when its caller may no longer have it. Here is the place where subscribers with the same
 * operation could share one execution.
 */
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Services } from '../domain/call.ts';
import type { OpenStreams } from '../domain/viewer/open-streams.ts';
import type { DomainError } from '../errors.ts';
import { type Context, createContext } from './context.ts';

const CURSOR = Symbol('cursor');

/** The place in its list of the event that a result was made of; undefined where it has none. */
export function cursorOf(result: ExecutionResult): string | undefined {
  return (result as { [CURSOR]?: string })[CURSOR];
}

interface LiveArgs extends ExecutionArgs {
  contextValue: Context;
}

export function useSubscriptions(services: Services, streams: OpenStreams): Plugin<Context> {
  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn((args) => subscribe(services, streams, args as LiveArgs));
    },
  };
}

async function subscribe(services: Services, streams: OpenStreams, args: LiveArgs) {
  const source = await createSourceEventStream(args);
  if (!(Symbol.asyncIterator in source)) return source;
  const events = source[Symbol.asyncIterator]();
  try {
    return liveResults(services, streams, { args, events });
  } catch (error) {
    await events.return?.();
    return { errors: [asGraphQLError(error)] };
  }
}

/** Not a generator: return() has to end a next() that waits for an event. */
function liveResults(
  services: Services,
  streams: OpenStreams,
  { args, events }: { args: LiveArgs; events: AsyncIterator<unknown> },
): AsyncGenerator<ExecutionResult, void, void> {
  const { viewer, credentials = {}, ...facts } = args.contextValue;
  if (!viewer) throw new Error('A source of events was opened for nobody.');
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
    const contextValue = createContext(services, { ...facts, viewer: now, credentials });
    const result = await execute({ ...args, rootValue: event, contextValue });
    return { done: false, value: withCursor(result, event) };
  };

  return {
    async next() {
      if (isOver) return { done: true, value: undefined };
      try {
        return await next();
      } catch (error) {
        await close();
        return { done: false, value: { errors: [asGraphQLError(error)] } };
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

function asGraphQLError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const originalError = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(originalError.message, { originalError });
}
