import { expect } from 'vitest';
import type { Problem } from '../../src/kernel/errors.ts';

export interface GraphqlError {
  message: string;
  path?: (string | number)[];
  extensions: { code: string; problem: Problem };
}

export interface GraphqlResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  data: any;
  errors?: GraphqlError[];
  extensions?: Record<string, unknown>;
}

export interface GraphqlClient {
  /** Returns the whole response, with or without errors. */
  request(query: string, variables?: Record<string, unknown>): Promise<GraphqlResponse>;
  /** Returns the data. Fails if there are errors. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  query(query: string, variables?: Record<string, unknown>): Promise<any>;
  /** Returns the extensions of the only error. Fails if there is none, or more than one. */
  expectRefusal(
    query: string,
    variables?: Record<string, unknown>,
  ): Promise<GraphqlError['extensions']>;
}

export type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

/** Returns a function that requests paths of the server at this URL. */
export function fetchFrom(serverUrl: string): Fetch {
  return (path, init) => fetch(`${serverUrl}${path}`, init);
}

export function createClient(
  fetch: Fetch,
  headers: Record<string, string>,
  path = '/graphql',
): GraphqlClient {
  const request: GraphqlClient['request'] = async (query, variables) => {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
    const body = (await response.json()) as Pick<GraphqlResponse, 'data' | 'errors' | 'extensions'>;
    return { status: response.status, headers: response.headers, ...body };
  };
  return {
    request,
    async query(query, variables) {
      const { data, errors } = await request(query, variables);
      expect(errors).toBeUndefined();
      return data;
    },
    async expectRefusal(query, variables) {
      const { errors } = await request(query, variables);
      expect(errors).toHaveLength(1);
      return (errors as [GraphqlError])[0].extensions;
    },
  };
}

/** Returns the paths of a problem's issues in their order. */
export function listIssueNames({ issues = [] }: Pick<Problem, 'issues'>): string[] {
  return issues.map(({ name }) => name);
}
