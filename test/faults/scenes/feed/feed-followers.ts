/** Clients that follow a log, leave at random, lose their servers, and come back by their cursors. */
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { openEventStream } from '../../../support/event-stream.ts';

/** How a log is followed, and what its items are. */
export interface Subscription {
  query: string;
  /** The field of the subscription, which gives edges. */
  field: string;
  /** Beside `after`. */
  variables: Record<string, string>;
  /** What a writer has called it. */
  nameOf: (node: never) => string;
}

export interface Follow {
  subscription: Subscription;
  /** A server that is up, as far as one knows. */
  url: () => string;
  apiKey: string;
  /** The cursor before the first item. */
  start: string;
  total: number;
  /** Items after which a connection is left. */
  patience: () => number;
  /** The test has ended, if not well: nothing more is to come. */
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

/** Until it has seen as many items as there are to be. */
export async function followToTheEnd(follow: Follow, edges: Edges): Promise<Followed> {
  const names: string[] = [];
  let connections = 0;
  let after = follow.start;
  while (names.length < follow.total && !follow.isOver()) {
    connections += 1;
    let left = follow.patience();
    try {
      for await (const { cursor, node } of edges(follow, after)) {
        names.push(follow.subscription.nameOf(node));
        after = cursor;
        left -= 1;
        if (left === 0 || names.length === follow.total) break;
      }
    } catch (error) {
      // A server that was killed; a refusal would never pass and must not be taken for one.
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

/** Resumes by the id of the last message, as event streams do. */
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
      if (message?.event !== 'next') throw new Error('The stream was cut.');
      yield message.data.data[field];
    }
  } finally {
    stream.leave();
  }
}
