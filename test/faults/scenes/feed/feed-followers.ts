/** Clients that follow a log, disconnect at random, lose their servers, and resume with their cursors. */
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { openEventStream } from '../../../support/event-stream.ts';

/** The subscription to a log, and its items. */
export interface Subscription {
  query: string;
  /** The subscription field, which returns edges. */
  field: string;
  /** Variables other than `after`. */
  variables: Record<string, string>;
  /** Returns the name that the writer gave to the item. */
  getName: (node: never) => string;
}

export interface Follow {
  subscription: Subscription;
  /** Returns the URL of a server that is probably running. */
  url: () => string;
  apiKey: string;
  /** The cursor before the first item. */
  start: string;
  total: number;
  /** Returns the number of items after which the client disconnects. */
  patience: () => number;
  /** True if the test has ended, possibly by a failure. No more items follow. */
  isOver: () => boolean;
}

export interface Followed {
  names: string[];
  connections: number;
}

interface Edge {
  cursor: string;
  node: never;
}
type Edges = (follow: Follow, after: string) => AsyncIterable<Edge>;

/** Follows the log until it has received `total` items. */
export async function followToTheEnd(follow: Follow, edges: Edges): Promise<Followed> {
  const names: string[] = [];
  let connections = 0;
  let after = follow.start;
  while (names.length < follow.total && !follow.isOver()) {
    connections += 1;
    let left = follow.patience();
    try {
      for await (const { cursor, node } of edges(follow, after)) {
        names.push(follow.subscription.getName(node));
        after = cursor;
        left -= 1;
        if (left === 0 || names.length === follow.total) break;
      }
    } catch (error) {
      // An array is an error of the subscription, which would be permanent. Other errors are those of a
      // killed server.
      if (Array.isArray(error)) throw new Error(JSON.stringify(error));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return { names, connections };
}

export async function* overWebSocket(follow: Follow, after: string): AsyncIterable<Edge> {
  const client = createClient({
    url: `${follow.url().replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { 'x-api-key': follow.apiKey },
    retryAttempts: 0,
  });
  try {
    const { query, field, variables } = follow.subscription;
    const operation = { query, variables: { ...variables, after } };
    for await (const { data, errors } of client.iterate<Record<string, Edge>>(operation)) {
      if (errors) throw errors;
      if (data) yield data[field] as Edge;
    }
  } finally {
    await client.dispose();
  }
}

/** Resumes with the ID of the last message, as event streams do. */
export async function* overEventStream(follow: Follow, after: string): AsyncIterable<Edge> {
  const url = follow.url();
  const { query, field, variables } = follow.subscription;
  const stream = await openEventStream((path, init) => fetch(`${url}${path}`, init), {
    query,
    variables,
    headers: { 'x-api-key': follow.apiKey, 'last-event-id': after },
  });
  try {
    for (;;) {
      const message = await stream.next();
      if (message?.data?.errors) throw message.data.errors;
      if (message?.event !== 'next') throw new Error('The stream ended early.');
      yield message.data.data[field];
    }
  } finally {
    stream.close();
  }
}
