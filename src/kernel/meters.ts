/**
 * Measurements of the gateway. Code that does measured work calls `Services.meters`; src/metrics/ turns the calls into
 * metrics. Without METRICS_PORT all methods do nothing, at no measurable cost.
 */
import { DomainError, ServiceUnavailable } from './errors.ts';

type OperationKind = 'query' | 'mutation' | 'subscription' | 'unknown';

/** `requests` counts what LIMIT_REQUESTS limits. `deliveries` counts attempts in progress. */
export type ActiveWork = 'requests' | 'providerCalls' | 'deliveries';

export interface Meters {
  /** If false, callers may skip measurements that are expensive to compute. */
  readonly isOn: boolean;
  /** Work has begun (1) or ended (-1). */
  activeChanged(work: ActiveWork, change: 1 | -1): void;
  httpResponded(response: { method: string; route: string; status: number; seconds: number }): void;
  requestEnded(request: {
    surface: 'graphql' | 'rest' | 'mcp';
    kind: OperationKind;
    /** `OK`, or the code of the refusal. */
    outcome: string;
    seconds: number;
    projectId?: string | undefined;
  }): void;
  costComputed(cost: number): void;
  /**
   * A limit refused work. `limit` is `depth` or another limit on GraphQL operations, `rate` or `wrong_keys`, or the
   * setting of a share, such as `caller_requests`.
   */
  limitRefused(limit: string): void;
  /** `outcome` is the class of the status, like `2xx`, or the kind of the failure. */
  providerCalled(call: {
    provider: string;
    kind: 'api' | 'proxy' | 'token';
    outcome: string;
    seconds: number;
  }): void;
  tokenRefreshed(refresh: { provider: string; outcome: string }): void;
  operationEnded(operation: {
    kind: 'read' | 'write';
    outcome: 'succeeded' | 'failed';
    projectId: string;
  }): void;
  recordsProcessed(records: { kind: 'read' | 'write'; count: number; projectId: string }): void;
  deliveryAttempted(attempt: {
    outcome: 'succeeded' | 'retried' | 'failed';
    seconds: number;
    projectId: string;
  }): void;
  /** A provider sent a request or a stream batch with events. `outcome` is how it was received. */
  providerEventReceived(event: { provider: string; outcome: string }): void;
  /** Events of a provider were stored, turned into deliveries (`enqueued`), or failed permanently (`failed`). */
  providerEventsProcessed(events: {
    provider: string;
    outcome: 'stored' | 'enqueued' | 'failed';
    count: number;
  }): void;
  statementEnded(statement: { outcome: 'ok' | 'failed'; seconds: number }): void;
}

const noop = () => {};

export const NO_METERS: Meters = Object.freeze({
  isOn: false,
  activeChanged: noop,
  httpResponded: noop,
  requestEnded: noop,
  costComputed: noop,
  limitRefused: noop,
  providerCalled: noop,
  tokenRefreshed: noop,
  operationEnded: noop,
  recordsProcessed: noop,
  deliveryAttempted: noop,
  providerEventReceived: noop,
  providerEventsProcessed: noop,
  statementEnded: noop,
});

export const OK = 'OK';

/** The duration and outcome of measured work. */
type Measurement<T> = { seconds: number; outcome: string } & (
  | { result: T; error?: never }
  | { error: unknown; result?: never }
);

/** Runs the work and reports its duration and outcome. Returns the result of the work, or throws its error. */
export async function measure<T>(
  { isOn }: Meters,
  work: () => Promise<T>,
  report: (measurement: Measurement<T>) => void,
): Promise<T> {
  if (!isOn) return work();
  const startMs = performance.now();
  try {
    const result = await work();
    report({ result, outcome: OK, seconds: secondsSince(startMs) });
    return result;
  } catch (error) {
    report({ error, outcome: toOutcome(error), seconds: secondsSince(startMs) });
    throw error;
  }
}

export function secondsSince(startMs: number): number {
  return (performance.now() - startMs) / 1_000;
}

/**
 * Returns a metric label for an error: its code, or the `kind` of a provider error. The set of labels is small.
 */
export function toOutcome(error: unknown): string {
  if (error instanceof DomainError) return error.code;
  if (error instanceof ServiceUnavailable) return 'SERVICE_UNAVAILABLE';
  const kind = error instanceof Error && 'kind' in error ? error.kind : undefined;
  return typeof kind === 'string' ? kind : 'INTERNAL_ERROR';
}

/** Returns the class of a status: `2xx` for 204. */
export function getStatusClass(status: number): string {
  return `${Math.floor(status / 100)}xx`;
}
