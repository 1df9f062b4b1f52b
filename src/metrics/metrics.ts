/**
 * The gateway's metrics for Prometheus. Loaded only if METRICS_PORT is set. Names follow OpenTelemetry's semantic
 * conventions where they exist, spelled as in Prometheus.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Config } from '../config.ts';
import type { Meters } from '../meters.ts';

/** In seconds, up to the longest time that a mutation may wait for a provider. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** In seconds. A statement takes at most five. */
const STATEMENT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];
const COST_BUCKETS = [1, 10, 100, 1_000, 5_000, 10_000, 25_000, 50_000];

/** `projectLabel` is `project` if METRICS_PROJECTS lists some: no other label names a tenant. */
function createInstruments(register: Registry, projectLabel: readonly string[]) {
  const make = createMakers(register);
  return { ...ofRequests(make, projectLabel), ...ofWork(make, projectLabel) };
}

type Makers = ReturnType<typeof createMakers>;

function createMakers(register: Registry) {
  const registers = [register];
  return {
    gauge: (name: string, help: string) => new Gauge({ name, help, registers }),
    counter: (name: string, help: string, labels: readonly string[]) =>
      new Counter({ name, help, labelNames: [...labels], registers }),
    histogram: (
      name: string,
      help: string,
      { labels = [], buckets = REQUEST_BUCKETS }: Partial<Shape>,
    ) => new Histogram({ name, help, labelNames: [...labels], buckets, registers }),
  };
}

interface Shape {
  labels: readonly string[];
  buckets: number[];
}

function ofRequests({ gauge, counter, histogram }: Makers, projectLabel: readonly string[]) {
  return {
    places: gauge('http_server_active_requests', 'Requests that LIMIT_REQUESTS counts.'),
    http: histogram('http_server_request_duration_seconds', 'Requests over HTTP, by route.', {
      labels: ['http_request_method', 'http_route', 'http_response_status_code'],
    }),
    requests: histogram('gateway_request_duration_seconds', 'Operations of clients.', {
      labels: ['surface', 'kind', 'outcome', ...projectLabel],
    }),
    cost: histogram('gateway_graphql_cost', 'Cost of GraphQL operations, refused ones too.', {
      buckets: COST_BUCKETS,
    }),
    refusals: counter('gateway_refusals_total', 'Work refused by a limit.', ['limit']),
    statements: histogram('db_client_operation_duration_seconds', 'Statements to the database.', {
      labels: ['outcome'],
      buckets: STATEMENT_BUCKETS,
    }),
  };
}

function ofWork({ counter, histogram }: Makers, projectLabel: readonly string[]) {
  const ofProvider = ['provider', 'outcome'];
  return {
    providers: histogram('gateway_provider_call_duration_seconds', 'Requests to providers.', {
      labels: ['kind', ...ofProvider],
    }),
    refreshes: counter('gateway_token_refreshes_total', 'Requests for tokens.', ofProvider),
    providerEvents: counter('gateway_provider_events_total', 'Events of providers.', ofProvider),
    providerEventsMoved: counter(
      'gateway_provider_events_moved_total',
      'Events of providers, one for each installation that wants one.',
      ofProvider,
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
    deliveries: histogram('gateway_delivery_attempt_duration_seconds', 'Attempts to deliver.', {
      labels: ['outcome', ...projectLabel],
    }),
  };
}

export interface Metrics {
  meters: Meters;
  registry: Registry;
}

/** Methods with a label value of their own. Clients may send any method, so all others share one. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OTHER_METHOD = '_OTHER';

export function createMetrics({ METRICS_PROJECTS }: Pick<Config, 'METRICS_PROJECTS'>): Metrics {
  const registry = new Registry();
  const listed = new Set(METRICS_PROJECTS);
  const meter = createInstruments(registry, listed.size > 0 ? ['project'] : []);
  /** All projects that are not listed share one series. */
  const ofProject = (id: string | undefined) =>
    listed.size > 0 ? { project: id && listed.has(id) ? id : '' } : {};
  const meters: Meters = {
    isOn: true,
    requestSlotsChanged: (change) => meter.places.inc(change),
    httpResponded({ method, route, status, seconds }) {
      const label = METHODS.has(method) ? method : OTHER_METHOD;
      meter.http.observe(
        {
          http_request_method: label,
          http_route: route,
          http_response_status_code: status,
        },
        seconds,
      );
    },
    requestEnded: ({ projectId, seconds, ...labels }) =>
      meter.requests.observe({ ...labels, ...ofProject(projectId) }, seconds),
    costComputed: (cost) => meter.cost.observe(cost),
    limitRefused: (limit) => meter.refusals.inc({ limit }),
    providerCalled: ({ seconds, ...labels }) => meter.providers.observe(labels, seconds),
    tokenRefreshed: (labels) => meter.refreshes.inc(labels),
    operationEnded: ({ projectId, ...labels }) =>
      meter.operations.inc({ ...labels, ...ofProject(projectId) }),
    recordsMoved: ({ kind, count, projectId }) =>
      meter.records.inc({ kind, ...ofProject(projectId) }, count),
    deliveryAttempted: ({ outcome, seconds, projectId }) =>
      meter.deliveries.observe({ outcome, ...ofProject(projectId) }, seconds),
    providerEventReceived: (labels) => meter.providerEvents.inc(labels),
    providerEventsMoved: ({ count, ...labels }) => meter.providerEventsMoved.inc(labels, count),
    statementEnded: ({ outcome, seconds }) => meter.statements.observe({ outcome }, seconds),
  };
  return { meters, registry };
}
