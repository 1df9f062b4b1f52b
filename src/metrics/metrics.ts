/** The gateway's metrics for Prometheus. Loaded only if METRICS_PORT is set. */
import { Registry } from 'prom-client';
import type { Config } from '../config.ts';
import type { Meters } from '../meters.ts';
import { createInstruments } from './instruments.ts';

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
    placesTaken: (change) => meter.places.inc(change),
    httpAnswered({ method, route, status, seconds }) {
      const known = METHODS.has(method) ? method : OTHER_METHOD;
      meter.http.observe(
        {
          http_request_method: known,
          http_route: route,
          http_response_status_code: status,
        },
        seconds,
      );
    },
    requested: ({ projectId, seconds, ...labels }) =>
      meter.requests.observe({ ...labels, ...ofProject(projectId) }, seconds),
    costed: (cost) => meter.cost.observe(cost),
    refused: (limit) => meter.refusals.inc({ limit }),
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
