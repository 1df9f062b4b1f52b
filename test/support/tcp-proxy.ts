/**
 * A TCP proxy in front of a server. Tests make it drop connections, or swallow all bytes as a broken network
 * does.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy extends AsyncDisposable {
  port: number;
  /** Keeps open connections, but forwards no more bytes on them. New connections work. */
  blockOpen(): void;
  /** Forwards no bytes on open and new connections. */
  block(): void;
  /** Resets open and new connections. */
  reset(): void;
  /** Forwards new connections again. */
  heal(): void;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let connectionState: 'open' | 'swallowing' | 'cut' = 'open';
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    if (connectionState === 'cut') return client.resetAndDestroy();
    if (connectionState === 'swallowing') return client.pause();
    const upstream = connect(target);
    track(upstream);
    client.pipe(upstream).pipe(client);
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const destroyAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const swallowOpen = () => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return {
    port: (server.address() as AddressInfo).port,
    blockOpen: swallowOpen,
    block() {
      connectionState = 'swallowing';
      swallowOpen();
    },
    reset() {
      connectionState = 'cut';
      destroyAll();
    },
    heal() {
      connectionState = 'open';
    },
    async [Symbol.asyncDispose]() {
      destroyAll();
      server.close();
      await once(server, 'close');
    },
  };
}
