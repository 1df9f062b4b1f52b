/** Subscribes many times to one stream of events, and counts the messages and measures their ages. */
import { once } from 'node:events';
import { request } from 'node:http';
import { WebSocket } from 'ws';
import { PROJECT_NAME } from '../fill.ts';
import type { Peer } from '../peers.ts';

/** A GraphQL subscription operation. */
export interface Subscription {
  query: string;
  variables: Record<string, string>;
}

export const EVENTS: Subscription = {
  query: `subscription FollowNotificationEvents($project: String!) {
    notificationEvents(projectIdOrName: $project) { cursor node { id eventType createTime data } }
  }`,
  variables: { project: PROJECT_NAME },
};

export const createMessagesSubscription = (destinationId: string): Subscription => ({
  query: `subscription FollowStreamMessages($destinationId: ID!) {
    streamMessages(destinationId: $destinationId) { cursor node { id createTime body } }
  }`,
  variables: { destinationId },
});

/** Maximum number of concurrent connection attempts. */
const CONCURRENT_CONNECTS_MAX = 50;

export type Protocol = 'WebSocket' | 'SSE';

export interface Listeners extends Disposable {
  /** Returns the number of messages that have arrived at all subscribers. */
  countReceived(): number;
  /** Calls `onAge` with the age of each message on arrival. Pass null to only count. */
  watchAges(onAge: ((ageMs: number) => void) | null): void;
}

type OnMessage = (message: Buffer) => void;
interface OpenSubscription {
  close(): void;
}

export async function openListeners(
  peer: Peer,
  { protocol, subscription }: { protocol: Protocol; subscription: Subscription },
  count: number,
): Promise<Listeners> {
  let received = 0;
  let onAge: ((ageMs: number) => void) | null = null;
  const onMessage: OnMessage = (message) => {
    received += 1;
    onAge?.(computeAge(message));
  };
  const connect = protocol === 'SSE' ? connectEventStream : connectWebSocket;
  const openSubscriptions: OpenSubscription[] = [];
  while (openSubscriptions.length < count) {
    const connecting = Array.from(
      { length: Math.min(CONCURRENT_CONNECTS_MAX, count - openSubscriptions.length) },
      () => connect(peer, subscription, onMessage),
    );
    openSubscriptions.push(...(await Promise.all(connecting)));
  }
  return {
    countReceived: () => received,
    watchAges(callback) {
      onAge = callback;
    },
    [Symbol.dispose]() {
      for (const subscription of openSubscriptions) subscription.close();
    },
  };
}

/** recorder.ts stores the time of the event as the consumer's name. */
const SENT_TIME = /"consumerName":"([\d.]+)"/;

function computeAge(message: Buffer): number {
  const sent = Number(SENT_TIME.exec(message.toString())?.[1]);
  return performance.timeOrigin + performance.now() - sent;
}

async function connectWebSocket(
  { server, headers }: Peer,
  subscription: Subscription,
  onMessage: OnMessage,
): Promise<OpenSubscription> {
  const url = `${server.url.replace('http', 'ws')}/graphql`;
  const options = { headers, perMessageDeflate: false, skipUTF8Validation: true };
  const socket = new WebSocket(url, 'graphql-transport-ws', options);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: headers }));
  await once(socket, 'message');
  socket.on('message', (message: Buffer) => {
    if (message.includes('"next"')) onMessage(message);
    else if (message.includes('"error"')) throw new Error(`A subscription failed: ${message}`);
  });
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: subscription }));
  return { close: () => socket.terminate() };
}

const MESSAGE_START = Buffer.from('event: next');
const MESSAGE_END = Buffer.from('\n\n');

async function connectEventStream(
  { server, headers }: Peer,
  subscription: Subscription,
  onMessage: OnMessage,
): Promise<OpenSubscription> {
  const clientRequest = request(`${server.url}/graphql`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
  });
  clientRequest.end(JSON.stringify(subscription));
  const [response] = await once(clientRequest, 'response');
  if (response.statusCode !== 200)
    throw new Error(`The server refused the subscription with status ${response.statusCode}.`);
  let unread: Buffer = Buffer.alloc(0);
  response.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    for (let end = unread.indexOf(MESSAGE_END); end >= 0; end = unread.indexOf(MESSAGE_END)) {
      const block = unread.subarray(0, end);
      unread = unread.subarray(end + MESSAGE_END.length);
      if (block.includes(MESSAGE_START)) onMessage(block);
    }
  });
  response.on('error', () => {});
  return { close: () => clientRequest.destroy() };
}
