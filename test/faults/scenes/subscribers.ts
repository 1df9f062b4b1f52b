/** Subscribers that hold on to little: how far they are, and whether all came in order. */
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
  /** Events before the cursor. */
  seen: number;
  /** How often an event's data is asked for: a message of any size. */
  copies: number;
}

/** Tells of the first event that was not the one after the last: lost, twice or out of order. */
export class Progress {
  seen: number;
  cursor: string;
  problem: string | null = null;

  constructor({ seen, after }: Subscription) {
    this.seen = seen;
    this.cursor = after;
  }

  /** A message with an event named `e<number>:…`, counted from 1. */
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
  /** Reads no more from its connection, which stays open. */
  stall(): void;
  leave(): void;
}

/** Null where it was refused for now. */
export type Subscribe = (subscription: Subscription) => Promise<Subscriber | null>;

export async function overWebSocket(subscription: Subscription): Promise<Subscriber | null> {
  const { url, apiKey, project, after, copies } = subscription;
  const progress = new Progress(subscription);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const send = (message: object) => socket.send(JSON.stringify(message));
  // What became of it is told by its progress.
  socket.on('error', () => {});
  await once(socket, 'open');
  send({ type: 'connection_init', payload: { 'x-api-key': apiKey } });
  await once(socket, 'message');
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

/** A connection of its own for each. */
const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

export async function overEventStream(subscription: Subscription): Promise<Subscriber | null> {
  const { url, apiKey, project, after, copies } = subscription;
  const progress = new Progress(subscription);
  const asking = request(`${url}/graphql`, {
    method: 'POST',
    agent,
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      'x-api-key': apiKey,
      'last-event-id': after,
    },
  });
  asking.end(JSON.stringify({ query: query(copies), variables: { project } }));
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
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
    leave: () => asking.destroy(),
  };
  if (response.statusCode === 200 && (await first.promise)) return subscriber;
  asking.destroy();
  return null;
}
