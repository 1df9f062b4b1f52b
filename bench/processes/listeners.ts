/** Many subscribers to one stream of events, in one process that only counts and timestamps. */
import { once } from 'node:events';
import { request } from 'node:http';
import { WebSocket } from 'ws';
import { PROJECT_NAME } from '../fill.ts';
import type { Peer } from '../peers.ts';

/** The operation to which they subscribe. */
export interface Followed {
  query: string;
  variables: Record<string, string>;
}

export const EVENTS: Followed = {
  query: `subscription Events($project: String!) {
    notificationEvents(projectIdOrName: $project) { cursor node { id eventType createTime data } }
  }`,
  variables: { project: PROJECT_NAME },
};

export const messagesOf = (destinationId: string): Followed => ({
  query: `subscription Messages($destinationId: ID!) {
    streamMessages(destinationId: $destinationId) { cursor node { id createTime body } }
  }`,
  variables: { destinationId },
});

/** Maximum number of concurrent connection attempts. */
const CONNECTING = 50;

export type Protocol = 'WebSocket' | 'SSE';

export interface Listeners extends Disposable {
  /** Messages that have arrived at all subscribers. */
  received(): number;
  /** Starts recording the age of each message on arrival; null only counts. */
  watch(take: ((ageMs: number) => void) | null): void;
}

type Take = (message: Buffer) => void;
interface Connected {
  close(): void;
}

export async function openListeners(
  peer: Peer,
  { protocol, followed }: { protocol: Protocol; followed: Followed },
  count: number,
): Promise<Listeners> {
  let received = 0;
  let watching: ((ageMs: number) => void) | null = null;
  const take: Take = (message) => {
    received += 1;
    watching?.(ageOf(message));
  };
  const connect = protocol === 'SSE' ? connectEventStream : connectWebSocket;
  const open: Connected[] = [];
  while (open.length < count) {
    const next = Array.from({ length: Math.min(CONNECTING, count - open.length) }, () =>
      connect(peer, followed, take),
    );
    open.push(...(await Promise.all(next)));
  }
  return {
    received: () => received,
    watch(ages) {
      watching = ages;
    },
    [Symbol.dispose]() {
      for (const connected of open) connected.close();
    },
  };
}

const SENT_TIME = /"consumerName":"([\d.]+)"/;

function ageOf(message: Buffer): number {
  const sent = Number(SENT_TIME.exec(message.toString())?.[1]);
  return performance.timeOrigin + performance.now() - sent;
}

async function connectWebSocket(
  { server, headers }: Peer,
  followed: Followed,
  take: Take,
): Promise<Connected> {
  const url = `${server.url.replace('http', 'ws')}/graphql`;
  const options = { headers, perMessageDeflate: false, skipUTF8Validation: true };
  const socket = new WebSocket(url, 'graphql-transport-ws', options);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: headers }));
  await once(socket, 'message');
  socket.on('message', (message: Buffer) => {
    if (message.includes('"next"')) take(message);
    else if (message.includes('"error"')) throw new Error(`A subscriber is told ${message}`);
  });
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: followed }));
  return { close: () => socket.terminate() };
}

const MESSAGE_START = Buffer.from('event: next');
const MESSAGE_END = Buffer.from('\n\n');

async function connectEventStream(
  { server, headers }: Peer,
  followed: Followed,
  take: Take,
): Promise<Connected> {
  const asking = request(`${server.url}/graphql`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
  });
  asking.end(JSON.stringify(followed));
  const [response] = await once(asking, 'response');
  if (response.statusCode !== 200) throw new Error(`A subscriber gets ${response.statusCode}.`);
  let rest: Buffer = Buffer.alloc(0);
  response.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(MESSAGE_END); end >= 0; end = rest.indexOf(MESSAGE_END)) {
      const block = rest.subarray(0, end);
      rest = rest.subarray(end + MESSAGE_END.length);
      if (block.includes(MESSAGE_START)) take(block);
    }
  });
  response.on('error', () => {});
  return { close: () => asking.destroy() };
}
