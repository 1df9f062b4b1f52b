/** An HTTP server that Prometheus scrapes. It serves only `/metrics`. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Log } from '../log.ts';
import type { UpdateGauges } from './state.ts';

interface MetricsServer extends AsyncDisposable {
  url: string;
}

interface MetricsServerOptions {
  host: string;
  port: number;
  updateGauges: UpdateGauges;
  log: Log;
}

export async function startMetricsServer(
  registry: Registry,
  { host, port, updateGauges, log }: MetricsServerOptions,
): Promise<MetricsServer> {
  const server = createServer((req, res) => {
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (!isRead || req.url?.split('?')[0] !== '/metrics') {
      res.writeHead(404).end();
      return;
    }
    sendMetrics(registry, updateGauges, res).catch((err: unknown) => {
      log.error({ err }, 'metrics.failed');
      res.writeHead(500).end();
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  const { port: boundPort } = server.address() as AddressInfo;
  const urlHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${urlHost}:${boundPort}/metrics`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function sendMetrics(
  registry: Registry,
  updateGauges: UpdateGauges,
  res: ServerResponse,
): Promise<void> {
  await updateGauges();
  const text = await registry.metrics();
  res.writeHead(200, { 'content-type': registry.contentType });
  res.end(text);
}
