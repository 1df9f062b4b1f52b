/** A network path to a server, which a test breaks: it is cut, or swallows whatever is sent. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy extends AsyncDisposable {
  port: number;
  /** The connections that are open stay so, and nothing arrives any more; new ones are good. */
  swallowOpen(): void;
  /** New ones get no answer either. */
  swallow(): void;
  /** Connections are reset, also new ones. */
  cut(): void;
  /** New connections lead to the server again. */
  heal(): void;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let state: 'open' | 'swallowing' | 'cut' = 'open';
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (state === 'cut') return client.resetAndDestroy();
    if (state === 'swallowing') return client.pause();
    const upstream = connect(target);
    keep(upstream);
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
    swallowOpen,
    swallow() {
      state = 'swallowing';
      swallowOpen();
    },
    cut() {
      state = 'cut';
      destroyAll();
    },
    heal() {
      state = 'open';
    },
    async [Symbol.asyncDispose]() {
      destroyAll();
      server.close();
      await once(server, 'close');
    },
  };
}
