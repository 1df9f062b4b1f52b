/** Clients that follow a project's events, leave at random, lose their servers, and come back by their cursors. */
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { openEventStream } from '../../support/event-stream.ts';

export interface Follow {
  /** A server that is up, as far as one knows. */
  url: () => string;
  apiKey: string;
  variables: { project: string; after: string };
  total: number;
  /** Events after which a connection is left. */
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
  node: { data: { connectionId: string } };
}
type Edges = (follow: Follow, after: string) => AsyncIterable<Edge>;

const QUERY = `subscription ($project: String!, $after: String) {
  notificationEvents(projectIdOrName: $project, after: $after) { cursor node { data } }
}`;

/** Until it has seen as many events as there are to be. */
export async function followToTheEnd(follow: Follow, edges: Edges): Promise<Followed> {
  const names: string[] = [];
  let connections = 0;
  let { after } = follow.variables;
  while (names.length < follow.total && !follow.isOver()) {
    connections += 1;
    let left = follow.patience();
    try {
      for await (const { cursor, node } of edges(follow, after)) {
        names.push(node.data.connectionId);
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
    const variables = { ...follow.variables, after };
    const results = client.iterate<{ notificationEvents: Edge }>({ query: QUERY, variables });
    for await (const { data, errors } of results) {
      if (errors) throw errors;
      if (data) yield data.notificationEvents;
    }
  } finally {
    await client.dispose();
  }
}

/** Resumes by the id of the last message, as event streams do. */
export async function* overEventStream(follow: Follow, after: string): AsyncIterable<Edge> {
  const url = follow.url();
  const stream = await openEventStream((path, init) => fetch(`${url}${path}`, init), {
    query: QUERY,
    variables: { project: follow.variables.project },
    headers: { 'x-api-key': follow.apiKey, 'last-event-id': after },
  });
  try {
    for (;;) {
      const message = await stream.next();
      if (message?.data?.errors) throw message.data.errors;
      if (message?.event !== 'next') throw new Error('The stream was cut.');
      yield message.data.data.notificationEvents;
    }
  } finally {
    stream.leave();
  }
}
