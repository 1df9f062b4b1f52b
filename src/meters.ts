/**
 * What the gateway measures as it happens. `Services.meters` is passed to where the work is done; without
 * METRICS_PORT it does nothing, and costs nothing that can be measured. src/metrics/ turns it into metrics.
 */
import { DomainError, ServiceUnavailable } from './errors.ts';

export type OperationKind = 'query' | 'mutation' | 'subscription' | 'unknown';

export interface Meters {
  /** False: what is costly to find out need not be told. */
  readonly isOn: boolean;
  /** The number of requests that LIMIT_REQUESTS counts has changed. */
  placesTaken(change: 1 | -1): void;
  httpAnswered(answer: { method: string; route: string; status: number; seconds: number }): void;
  requested(request: {
    surface: 'graphql' | 'rest';
    kind: OperationKind;
    /** `OK`, or the code of the refusal. */
    outcome: string;
    seconds: number;
    projectId?: string | undefined;
  }): void;
  costed(cost: number): void;
  /** A limit of a GraphQL operation (`depth`), a rate (`rate`, `wrong_keys`), or a share by the name of its setting (`caller_requests`) has refused work. */
  refused(limit: string): void;
  /** The outcome is the class of the status, like `2xx`, or the kind of the failure. */
  providerCalled(call: {
    provider: string;
    kind: 'api' | 'proxy' | 'token';
    outcome: string;
    seconds: number;
  }): void;
  tokenRefreshed(refresh: { provider: string; outcome: string }): void;
  operationEnded(operation: { kind: 'read' | 'write'; outcome: string; projectId: string }): void;
  recordsMoved(records: { kind: 'read' | 'write'; count: number; projectId: string }): void;
  deliveryAttempted(attempt: {
    outcome: 'succeeded' | 'retried' | 'given_up';
    seconds: number;
    projectId: string;
  }): void;
  /** A request by which a provider sent events, or a batch of its stream, and its receipt. */
  providerEventReceived(event: { provider: string; outcome: string }): void;
  /** Events of a provider that have come to an end: stored, then owed or given up. */
  providerEventsMoved(events: {
    provider: string;
    outcome: 'stored' | 'owed' | 'given_up';
    count: number;
  }): void;
  statementEnded(statement: { outcome: 'ok' | 'failed'; seconds: number }): void;
}

const nothing = () => {};

export const NO_METERS: Meters = Object.freeze({
  isOn: false,
  placesTaken: nothing,
  httpAnswered: nothing,
  requested: nothing,
  costed: nothing,
  refused: nothing,
  providerCalled: nothing,
  tokenRefreshed: nothing,
  operationEnded: nothing,
  recordsMoved: nothing,
  deliveryAttempted: nothing,
  providerEventReceived: nothing,
  providerEventsMoved: nothing,
  statementEnded: nothing,
});

/** How timed work ended. */
export type Ended<T> = { seconds: number; outcome: string } & (
  | { result: T; error?: never }
  | { error: unknown; result?: never }
);

/** Tells how the work ended and how long it took; its outcome stays as it is. */
export async function timed<T>(
  { isOn }: Meters,
  work: () => Promise<T>,
  tell: (ended: Ended<T>) => void,
): Promise<T> {
  if (!isOn) return work();
  const startedMs = performance.now();
  try {
    const result = await work();
    tell({ result, outcome: OK, seconds: secondsSince(startedMs) });
    return result;
  } catch (error) {
    tell({ error, outcome: outcomeOf(error), seconds: secondsSince(startedMs) });
    throw error;
  }
}

export const OK = 'OK';

export function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1_000;
}

/** One of few words for what was thrown: a code of errors.ts, or the `kind` of a provider's error. */
export function outcomeOf(error: unknown): string {
  if (error instanceof DomainError) return error.code;
  if (error instanceof ServiceUnavailable) return 'SERVICE_UNAVAILABLE';
  const kind = error instanceof Error && 'kind' in error ? error.kind : undefined;
  return typeof kind === 'string' ? kind : 'INTERNAL_ERROR';
}

/** `2xx` for 204. */
export function statusClass(status: number): string {
  return `${Math.floor(status / 100)}xx`;
}
