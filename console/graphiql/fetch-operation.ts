/** Sends the operations of GraphiQL: queries and mutations as JSON, subscriptions as event streams. */
import type { GraphiQLProps } from 'graphiql';
import { getOperationAST, parse } from 'graphql';
import { createClient, NetworkError } from 'graphql-sse';

type Fetcher = GraphiQLProps['fetcher'];

const url = location.pathname;

/** `variableQueries` are queries by the name of the variable whose value they select. */
export function createFetcher(variableQueries: Record<string, string>): Fetcher {
  return async ({ query, operationName, variables: setVariables }, opts) => {
    const headers: Record<string, string> = opts?.headers ?? {};
    const unsetNames = Object.keys(variableQueries).filter(
      (name) => query.includes(`$${name}:`) && setVariables?.[name] === undefined,
    );
    const variables = { ...setVariables };
    for (const name of unsetNames) {
      const response = await post({ query: variableQueries[name] ?? '' }, headers);
      variables[name] = findFirstValue(response.data);
    }
    const operation = { query, variables, operationName: operationName ?? undefined };
    return isSubscription(query, operationName)
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

/** False for a text that can't be parsed, whose errors the server returns. */
function isSubscription(query: string, operationName: string | null | undefined): boolean {
  try {
    return getOperationAST(parse(query), operationName)?.operation === 'subscription';
  } catch {
    return false;
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
