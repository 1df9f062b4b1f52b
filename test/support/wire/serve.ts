import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Served {
  url: string;
  server: Server;
  /** Stops the server and closes open connections. */
  stop(): Promise<void>;
}

/** Serves a request handler on a free port. */
export async function serve(handler: RequestListener, host = '127.0.0.1'): Promise<Served> {
  const server = createServer(handler).listen(0, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    server,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
