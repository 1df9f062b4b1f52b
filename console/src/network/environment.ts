/** Creates the Relay environment for a signed-in user. */
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
import { fetchGraphql, getDocumentId, type HeaderMap } from './fetch-graphql.ts';
import { type GraphqlError, Problem } from './problem.ts';
import { createSocket } from './socket.ts';

/** The number of closed pages whose data is kept, so that they show it immediately when the user returns. */
const KEPT_QUERIES_MAX = 30;

/** The cache config of a query whose page is useless if a nested field fails. */
export const NEEDS_ALL = { force: true, metadata: { needsAll: true } };

/** `onSignedOut` is called when the gateway no longer accepts the credential. */
export function createEnvironment(headers: HeaderMap, onSignedOut?: () => void): Environment {
  const fetchOperation: FetchFunction = (params, variables, { metadata }) =>
    fetchGraphql(
      {
        documentId: getDocumentId(params),
        variables,
        isMutation: params.operationKind === 'mutation',
        needsAll: metadata?.needsAll === true,
      },
      headers,
    ).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'UNAUTHENTICATED') onSignedOut?.();
      throw error;
    }) as never;
  const store = new Store(new RecordSource(), { gcReleaseBufferSize: KEPT_QUERIES_MAX });
  return new Environment({
    network: Network.create(fetchOperation, createSubscribe(headers)),
    store,
  });
}

/**
 * The subscription updates the cursor in these variables, so a WebSocket that reconnects resumes at the last
 * cursor.
 */
function createSubscribe(headers: HeaderMap): SubscribeFunction {
  let socket: Client | undefined;
  return (params, variables) => {
    socket ??= createSocket(headers);
    const client = socket;
    // graphql-ws requires a query.
    const operation = {
      query: '',
      documentId: getDocumentId(params),
      variables: createResumableVariables(variables),
    };
    return Observable.create((sink) =>
      client.subscribe(operation, {
        next: (response) => {
          const [error] = (response.errors ?? []) as unknown as GraphqlError[];
          if (error) return sink.error(new Problem(error));
          recordCursor(variables, response.data);
          sink.next(response as never);
        },
        error: (error) => sink.error(toStreamProblem(error)),
        complete: () => sink.complete(),
      }),
    );
  };
}

const cursors = new WeakMap<object, string>();

function recordCursor(variables: object, data: unknown): void {
  for (const edge of Object.values(data ?? {})) {
    const cursor = (edge as { cursor?: unknown } | null)?.cursor;
    if (typeof cursor === 'string') cursors.set(variables, cursor);
  }
}

/** Sets `after` in the variables to the cursor of the last received item. */
function createResumableVariables(variables: Record<string, unknown>): Record<string, unknown> {
  if (!('after' in variables)) return variables;
  return {
    ...variables,
    get after() {
      return cursors.get(variables) ?? variables.after;
    },
  };
}

function toStreamProblem(error: unknown): Problem {
  const [first] = Array.isArray(error) ? (error as GraphqlError[]) : [];
  return first ? new Problem(first) : new Problem({ message: 'The stream was closed.' });
}
