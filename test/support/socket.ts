/** A WebSocket client that waits for messages and for the close, without a library for the protocol. */
import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';

const PROTOCOL = 'graphql-transport-ws';

export interface Socket {
  socket: WebSocket;
  send(message: object | string): void;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of the response
  next(): Promise<any>;
  /** Resolves with the code and the reason when the server closes the socket. */
  closed: Promise<{ code: number; reason: string }>;
}

interface SocketOptions extends ClientOptions {
  protocol?: string;
  path?: string;
  /** Parses the text of a message. Default: JSON.parse. */
  parse?: (text: string) => unknown;
}

export async function openSocket(
  url: string,
  { protocol = PROTOCOL, path = '/graphql', parse = JSON.parse, ...options }: SocketOptions = {},
): Promise<Socket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, protocol, options);
  const messages: unknown[] = [];
  let arrived = Promise.withResolvers<void>();
  socket.on('message', (data) => {
    messages.push(parse(String(data)));
    arrived.resolve();
    arrived = Promise.withResolvers();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  await once(socket, 'open');
  return {
    socket,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async next() {
      while (messages.length === 0) await arrived.promise;
      return messages.shift();
    },
  };
}

/** Opens a socket that the server must refuse. Returns the HTTP status. */
export async function openRefusedSocket(
  url: string,
  { path = '/graphql', ...options }: ClientOptions & { path?: string } = {},
): Promise<number> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, PROTOCOL, options);
  const [, response] = await once(socket, 'unexpected-response');
  response.destroy();
  return response.statusCode;
}
