/** An HTTP server that Prometheus scrapes. It serves only `/metrics`. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { UpdateGauges } from './state.ts';

interface MetricsPort extends AsyncDisposable {
  url: string;
}

interface MetricsPortOptions {
  host: string;
  port: number;
  updateGauges: UpdateGauges;
}

export async function openMetricsPort(
  registry: Registry,
  { host, port, updateGauges }: MetricsPortOptions,
): Promise<MetricsPort> {
  const server = createServer((req, res) => {
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (!isRead || req.url?.split('?')[0] !== '/metrics') {
      res.writeHead(404).end();
      return;
    }
    void updateGauges().then(() => respond(registry, res));
  });
  server.listen(port, host);
  await once(server, 'listening');
  const { port: boundPort } = server.address() as AddressInfo;
  const urlHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${urlHost}:${boundPort}/metrics`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function respond(registry: Registry, res: ServerResponse): Promise<void> {
  const text = await registry.metrics();
  res.writeHead(200, { 'content-type': registry.contentType });
  res.end(text);
}
