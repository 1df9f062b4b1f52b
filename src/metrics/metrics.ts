/**
 * The gateway's metrics, and the server that Prometheus scrapes. Loaded only if METRICS_PORT is set. Names follow
 * OpenTelemetry's semantic conventions where they exist, spelled as in Prometheus.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Log } from '../kernel/log.ts';
import type { ActiveWork, Meters } from '../kernel/meters.ts';
import type { Config } from '../settings/config.ts';
import type { UpdateGauges } from './gauges.ts';

/** Upper bounds in seconds. A mutation may wait for a provider for 30 seconds. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Upper bounds in seconds. A statement takes at most five. */
const STATEMENT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];
const COST_BUCKETS = [1, 10, 100, 1_000, 5_000, 10_000, 25_000, 50_000];

export interface Metrics {
  meters: Meters;
  registry: Registry;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** The label of all other methods, because clients may send any method. */
const OTHER_METHOD = '_OTHER';

export function createMetrics({ METRICS_PROJECTS }: Pick<Config, 'METRICS_PROJECTS'>): Metrics {
  const registry = new Registry();
  const listedProjects = new Set(METRICS_PROJECTS);
  const instruments = createInstruments(registry, listedProjects.size > 0 ? ['project'] : []);
  // All projects that are not listed share one series.
  const getProjectLabel = (id: string | undefined) =>
    listedProjects.size > 0 ? { project: id && listedProjects.has(id) ? id : '' } : {};
  const meters: Meters = {
    isOn: true,
    activeChanged: (work, change) => instruments.active[work].inc(change),
    httpResponded({ method, route, status, seconds }) {
      instruments.http.observe(
        {
          http_request_method: METHODS.has(method) ? method : OTHER_METHOD,
          http_route: route,
          http_response_status_code: status,
        },
        seconds,
      );
    },
    requestEnded: ({ projectId, seconds, ...labels }) =>
      instruments.requests.observe({ ...labels, ...getProjectLabel(projectId) }, seconds),
    costComputed: (cost) => instruments.cost.observe(cost),
    limitRefused: (limit) => instruments.refusals.inc({ limit }),
    providerCalled: ({ seconds, ...labels }) => instruments.providers.observe(labels, seconds),
    tokenRefreshed: (labels) => instruments.refreshes.inc(labels),
    operationEnded: ({ projectId, ...labels }) =>
      instruments.operations.inc({ ...labels, ...getProjectLabel(projectId) }),
    recordsProcessed: ({ kind, count, projectId }) =>
      instruments.records.inc({ kind, ...getProjectLabel(projectId) }, count),
    deliveryAttempted: ({ outcome, seconds, projectId }) =>
      instruments.deliveries.observe({ outcome, ...getProjectLabel(projectId) }, seconds),
    providerEventReceived: (labels) => instruments.providerEventRequests.inc(labels),
    providerEventsProcessed: ({ count, ...labels }) =>
      instruments.providerEventsProcessed.inc(labels, count),
    statementEnded: ({ outcome, seconds }) => instruments.statements.observe({ outcome }, seconds),
  };
  return { meters, registry };
}

/** `projectLabel` is `project`, or empty if METRICS_PROJECTS lists no project. No other label names a tenant. */
function createInstruments(registry: Registry, projectLabel: readonly string[]) {
  const factories = createFactories(registry);
  return {
    ...createRequestInstruments(factories, projectLabel),
    ...createWorkInstruments(factories, projectLabel),
  };
}

type Factories = ReturnType<typeof createFactories>;

function createFactories(registry: Registry) {
  const registers = [registry];
  return {
    gauge: (name: string, help: string) => new Gauge({ name, help, registers }),
    counter: (name: string, help: string, labelNames: string[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, labelNames: string[], buckets = REQUEST_BUCKETS) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
  };
}

function createRequestInstruments(
  { gauge, counter, histogram }: Factories,
  projectLabel: readonly string[],
) {
  const active: Record<ActiveWork, Gauge> = {
    requests: gauge('http_server_active_requests', 'Requests that LIMIT_REQUESTS counts.'),
    providerCalls: gauge('gateway_provider_calls_active', 'Requests to providers that run.'),
    deliveries: gauge('gateway_deliveries_active', 'Attempts to deliver that run.'),
  };
  return {
    active,
    http: histogram('http_server_request_duration_seconds', 'Requests over HTTP, by route.', [
      'http_request_method',
      'http_route',
      'http_response_status_code',
    ]),
    requests: histogram('gateway_request_duration_seconds', 'Operations of clients.', [
      'surface',
      'kind',
      'outcome',
      ...projectLabel,
    ]),
    cost: histogram(
      'gateway_graphql_cost',
      'Cost of GraphQL operations, refused ones too.',
      [],
      COST_BUCKETS,
    ),
    refusals: counter('gateway_refusals_total', 'Work refused by a limit.', ['limit']),
    statements: histogram(
      'db_client_operation_duration_seconds',
      'Statements to the database.',
      ['outcome'],
      STATEMENT_BUCKETS,
    ),
  };
}

function createWorkInstruments({ counter, histogram }: Factories, projectLabel: readonly string[]) {
  const providerLabels = ['provider', 'outcome'];
  return {
    providers: histogram('gateway_provider_call_duration_seconds', 'Requests to providers.', [
      'kind',
      ...providerLabels,
    ]),
    refreshes: counter('gateway_token_refreshes_total', 'Requests for tokens.', providerLabels),
    providerEventRequests: counter(
      'gateway_provider_event_requests_total',
      'Requests and batches of streams with events of providers.',
      providerLabels,
    ),
    providerEventsProcessed: counter(
      'gateway_provider_events_processed_total',
      'Events of providers, counted once for each subscribed installation.',
      providerLabels,
    ),
    operations: counter('gateway_operations_total', 'Reads and writes that ended.', [
      'kind',
      'outcome',
      ...projectLabel,
    ]),
    records: counter('gateway_records_total', 'Records read and written.', [
      'kind',
      ...projectLabel,
    ]),
    deliveries: histogram('gateway_delivery_attempt_duration_seconds', 'Attempts to deliver.', [
      'outcome',
      ...projectLabel,
    ]),
  };
}

interface MetricsServer extends AsyncDisposable {
  url: string;
}

interface MetricsServerOptions {
  host: string;
  port: number;
  updateGauges: UpdateGauges;
  log: Log;
}

/** Starts an HTTP server that serves only `/metrics`. */
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
