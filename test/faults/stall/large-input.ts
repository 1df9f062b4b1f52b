/** Requests that are sent to measure how long they block the event loop. */

export interface LargeInput {
  name: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export const JSON_HEADERS = { 'content-type': 'application/json' };

export function createGraphqlInput(
  name: string,
  query: string,
  variables: object = {},
): LargeInput {
  const body = JSON.stringify({ query, variables });
  return { name: `GraphQL ${name}`, method: 'POST', path: '/graphql', headers: JSON_HEADERS, body };
}

export function createRestInput(name: string, path: string, body?: object): LargeInput {
  const bodyMembers = body && { headers: JSON_HEADERS, body: JSON.stringify(body) };
  return { name: `REST ${name}`, method: body ? 'POST' : 'GET', path, ...bodyMembers };
}

export const repeat = <T>(count: number, createItem: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => createItem(index));
