/** Sends the operations of GraphiQL: queries and mutations as JSON, subscriptions as event streams. */
import type { GraphiQLProps } from 'graphiql';
import { getOperationAST, parse } from 'graphql';
import { createClient, NetworkError } from 'graphql-sse';

type Fetcher = GraphiQLProps['fetcher'];

const url = location.pathname;

/** `variableQueries` are queries by the name of the variable whose value they select. */
export function createFetcher(variableQueries: Record<string, string>): Fetcher {
  return async ({ query, operationName: namedOperation, variables: setVariables }, opts) => {
    const headers: Record<string, string> = opts?.headers ?? {};
    const unsetNames = Object.keys(variableQueries).filter(
      (name) => query.includes(`$${name}:`) && setVariables?.[name] === undefined,
    );
    const variables = { ...setVariables };
    for (const name of unsetNames) {
      const response = await post({ query: variableQueries[name] ?? '' }, headers);
      variables[name] = findFirstValue(response.data);
    }
    const definition = findOperation(query, namedOperation);
    const operation = { query, variables, operationName: definition?.name?.value };
    return definition?.operation === 'subscription'
      ? subscribe(operation, headers)
      : post(operation, headers);
  };
}

async function post(operation: Operation, headers: Record<string, string>) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(operation),
  });
  return response.json();
}

/** Returns the first value inside objects and lists. Undefined if there is none. */
function findFirstValue(data: unknown): unknown {
  return typeof data === 'object' && data !== null ? findFirstValue(Object.values(data)[0]) : data;
}

/**
 * Returns the named operation, or else the only one: shortly after a person opens another tab, GraphiQL still
 * passes the name of the previous tab's operation. Null for a text that can't be parsed, whose errors the
 * server returns.
 */
function findOperation(query: string, name: string | null | undefined) {
  try {
    const document = parse(query);
    return getOperationAST(document, name) ?? getOperationAST(document);
  } catch {
    return null;
  }
}

interface Operation {
  query: string;
  operationName?: string | undefined;
  variables?: Record<string, unknown> | undefined;
}

/** Yields the results of a subscription, or the server's refusal as a result. */
async function* subscribe(operation: Operation, headers: Record<string, string>) {
  const client = createClient({ url, headers, retryAttempts: 0 });
  try {
    yield* client.iterate(operation);
  } catch (error) {
    const response: Response | undefined =
      error instanceof NetworkError ? error.response : undefined;
    if (!response?.headers.get('content-type')?.includes('json')) throw error;
    yield response.json();
  } finally {
    client.dispose();
  }
}
