/** Relay's environment of one signed-in reader. */
import type { Client } from 'graphql-ws';
import {
  Environment,
  type FetchFunction,
  Network,
  Observable,
  RecordSource,
  Store,
  type SubscribeFunction,
} from 'relay-runtime';
import { fetchGraphql, type Headers, idOf } from './fetch-graphql.ts';
import { type GraphqlError, Problem } from './problem.ts';
import { createSocket } from './socket.ts';

/** Queries of pages that were left: going back shows them at once. */
const KEPT_QUERIES_MAX = 30;

export function createEnvironment(headers: Headers): Environment {
  const run: FetchFunction = (params, variables) =>
    fetchGraphql(
      { documentId: idOf(params), variables, isMutation: params.operationKind === 'mutation' },
      headers,
    ) as never;
  const store = new Store(new RecordSource(), { gcReleaseBufferSize: KEPT_QUERIES_MAX });
  return new Environment({ network: Network.create(run, subscribeBy(headers)), store });
}

/** A list's cursor moves on in the variables themselves: a socket that opens again sends them as they are then. */
function subscribeBy(headers: Headers): SubscribeFunction {
  let socket: Client | undefined;
  return (params, variables) => {
    socket ??= createSocket(headers);
    const client = socket;
    // The socket's library insists on a query.
    const operation = { query: '', documentId: idOf(params), variables: resumable(variables) };
    return Observable.create((sink) =>
      client.subscribe(operation, {
        next: (response) => {
          const [error] = (response.errors ?? []) as unknown as GraphqlError[];
          if (error) return sink.error(new Problem(error));
          noteCursor(variables, response.data);
          sink.next(response as never);
        },
        error: (error) => sink.error(refusalOf(error)),
        complete: () => sink.complete(),
      }),
    );
  };
}

const cursors = new WeakMap<object, string>();

function noteCursor(variables: object, data: unknown): void {
  for (const edge of Object.values(data ?? {})) {
    const cursor = (edge as { cursor?: unknown } | null)?.cursor;
    if (typeof cursor === 'string') cursors.set(variables, cursor);
  }
}

/** The variables with `after` as far as the stream has come. */
function resumable(variables: Record<string, unknown>): Record<string, unknown> {
  if (!('after' in variables)) return variables;
  return {
    ...variables,
    get after() {
      return cursors.get(variables) ?? variables.after;
    },
  };
}

function refusalOf(error: unknown): Error {
  const [first] = Array.isArray(error) ? (error as GraphqlError[]) : [];
  return first ? new Problem(first) : new Problem({ message: 'The stream was closed.' });
}
