/**
 * Subscribers that use little memory: they record their progress, and whether all events arrived in order.
 */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { WebSocket } from 'ws';

function query(copies: number): string {
  const data = Array.from({ length: copies }, (_, index) => `data${index}: data`).join(' ');
  return `subscription ($project: String!, $after: String) {
    notificationEvents(projectIdOrName: $project, after: $after) { cursor node { ${data} } }
  }`;
}

export interface Subscription {
  url: string;
  apiKey: string;
  project: string;
  after: string;
  /** Number of events before the cursor. */
  seen: number;
  /** How often the query selects an event's data, which scales the size of a message. */
  copies: number;
}

/**
 * Records the first event that does not follow the previous one, because an event was lost, repeated or out
 * of order.
 */
export class Progress {
  seen: number;
  cursor: string;
  problem: string | null = null;

  constructor({ seen, after }: Subscription) {
    this.seen = seen;
    this.cursor = after;
  }

  /** Records a message with an event named `e<number>:…`. Numbers start with 1. */
  note(message: string): void {
    const number = Number(/"connectionId":"e(\d+):/.exec(message)?.[1]);
    const isNext = number === this.seen + 1;
    if (!isNext) this.problem ??= `${message.slice(0, 200)} came after e${this.seen}`;
    this.seen = number;
    this.cursor = /"cursor":"([^"]+)"/.exec(message)?.[1] ?? '';
  }
}

export interface Subscriber {
  progress: Progress;
  /** Stops reading from the connection, which stays open. */
  stall(): void;
  leave(): void;
}

/** Returns null if the server refused the subscription. */
export type Subscribe = (subscription: Subscription) => Promise<Subscriber | null>;

export async function overWebSocket(subscription: Subscription): Promise<Subscriber | null> {
  const { url, apiKey, project, after, copies } = subscription;
  const progress = new Progress(subscription);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const send = (message: object) => socket.send(JSON.stringify(message));
  // `progress` shows the effect of errors.
  socket.on('error', () => {});
  await once(socket, 'open');
  send({ type: 'connection_init', payload: { 'x-api-key': apiKey } });
  const closed = new AbortController();
  socket.on('close', () => closed.abort());
  await once(socket, 'message', { signal: closed.signal });
  send({
    id: '1',
    type: 'subscribe',
    payload: { query: query(copies), variables: { project, after } },
  });
  const first = Promise.withResolvers<boolean>();
  socket.on('message', (data) => {
    const message = String(data);
    const isEvent = message.includes('"connectionId"');
    if (isEvent) progress.note(message);
    if (isEvent || message.includes('"errors"')) first.resolve(isEvent);
  });
  socket.on('close', () => first.resolve(false));
  const subscriber = {
    progress,
    stall: () => socket.pause(),
    leave: () => socket.terminate(),
  };
  if (await first.promise) return subscriber;
  socket.terminate();
  return null;
}

/** Opens a new connection for each subscriber. */
const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

export async function overEventStream(subscription: Subscription): Promise<Subscriber | null> {
  const { url, apiKey, project, after, copies } = subscription;
  const progress = new Progress(subscription);
  const clientRequest = request(`${url}/graphql`, {
    method: 'POST',
    agent,
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      'x-api-key': apiKey,
      'last-event-id': after,
    },
  });
  clientRequest.end(JSON.stringify({ query: query(copies), variables: { project } }));
  const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  const first = Promise.withResolvers<boolean>();
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const isEvent = block.includes('"connectionId"');
      if (isEvent) progress.note(block);
      if (isEvent || block.includes('"errors"')) first.resolve(isEvent);
    }
  });
  response.on('close', () => first.resolve(false));
  const subscriber = {
    progress,
    stall: () => response.pause(),
    leave: () => clientRequest.destroy(),
  };
  if (response.statusCode === 200 && (await first.promise)) return subscriber;
  clientRequest.destroy();
  return null;
}
