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
  // Only clients close idle connections. After a stall of a busy machine, a client could send a request on a connection
  // that the server is closing, and fail with ECONNRESET.
  const server = createServer({ keepAliveTimeout: 0 }, handler).listen(0, host);
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
