/** Outages of the database. Callers get an error with a time to retry, and the log gets one line. */
import { ServiceUnavailable } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';

/** Distinguishes failures of the database from wrong statements. */

type FailureKind =
  /** Unreachable, restarting, or refusing the gateway's login. */
  | 'UNREACHABLE'
  /** No connection is free, in the pool or in the server. */
  | 'BUSY'
  /** The database did not respond within the limit. */
  | 'SLOW'
  /** Out of disk, memory or another resource. */
  | 'FULL'
  /** A standby, after a failover. */
  | 'READ_ONLY';

/** SQLSTATE codes of PostgreSQL's errors, by prefix. */
const STATES: readonly [string, FailureKind][] = [
  ['08', 'UNREACHABLE'],
  ['28', 'UNREACHABLE'],
  ['3D000', 'UNREACHABLE'],
  ['57P', 'UNREACHABLE'],
  ['53300', 'BUSY'],
  ['53', 'FULL'],
  ['58', 'UNREACHABLE'],
  ['25006', 'READ_ONLY'],
  ['25P03', 'SLOW'],
  ['55P03', 'SLOW'],
  ['57014', 'SLOW'],
];
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** The message for a connection that was destroyed because no response arrived. */
export const HUNG_MESSAGE = 'No response arrived in time';

/** Errors of pg itself have no code. */
const MESSAGES: readonly [string, FailureKind][] = [
  ['timeout exceeded when trying to connect', 'BUSY'],
  [HUNG_MESSAGE, 'SLOW'],
  ['Connection terminated', 'UNREACHABLE'],
  ['timeout expired', 'UNREACHABLE'],
  ['Client has encountered a connection error', 'UNREACHABLE'],
  ['Client was closed', 'UNREACHABLE'],
  ['Cannot use a pool after calling end', 'UNREACHABLE'],
];

/** An error of Prisma itself: a transaction could not begin in time, or exceeded its time limit. */
const TRANSACTION_TIMEOUT = 'P2028';

/** Returns the kind of failure. Null if the error is not a failure of the database. */
function findFailureKind(error: unknown): FailureKind | null {
  if (error instanceof AggregateError) return findFailureKind(error.errors[0]);
  if (!(error instanceof Error)) return null;
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === TRANSACTION_TIMEOUT) return 'SLOW';
  if (syscall !== undefined) return 'UNREACHABLE';
  const match = SQLSTATE.test(code ?? '')
    ? STATES.find(([prefix]) => code?.startsWith(prefix))
    : MESSAGES.find(([prefix]) => message.startsWith(prefix));
  return match?.[1] ?? null;
}

/** An outage is over after this time without a failure. */
const QUIET_MS = 30_000;

const CHECK_REMARK = 'A change in progress may have been made: check before you repeat it.';
const CALLER_ERRORS: Record<FailureKind, { detail: string; retryAfterSeconds: number }> = {
  UNREACHABLE: { detail: `The database can't be reached. ${CHECK_REMARK}`, retryAfterSeconds: 2 },
  BUSY: {
    detail: 'All connections to the database are in use. Retry after the time in Retry-After.',
    retryAfterSeconds: 2,
  },
  SLOW: { detail: `The database did not respond in time. ${CHECK_REMARK}`, retryAfterSeconds: 2 },
  FULL: {
    detail: 'The disk of the database is full: its operator must free space.',
    retryAfterSeconds: 30,
  },
  READ_ONLY: {
    detail: 'The database accepts no writes at the moment. Retry after the time in Retry-After.',
    retryAfterSeconds: 5,
  },
};

/** A caller that timed out within this time after a failure has probably waited for the database. */
const RECENT_MS = 5_000;

interface OpenOutage {
  sinceMs: number;
  lastMs: number;
  failures: number;
  error: ServiceUnavailable;
  timer: NodeJS.Timeout;
}

export class Outages implements Disposable {
  readonly #log: Log;
  readonly #open = new Map<FailureKind, OpenOutage>();
  readonly #quietMs: number;
  /** Called for each failure. */
  onFailure: () => void = () => {};
  #isClosed = false;

  constructor(log: Log, { quietMs = QUIET_MS } = {}) {
    this.#log = log;
    this.#quietMs = quietMs;
  }

  /** Returns the caller's error for a failure of the database, and any other error unchanged. */
  toCallerError(error: unknown): unknown {
    if (error instanceof ServiceUnavailable) return error;
    const kind = findFailureKind(error);
    if (kind === null) return error;
    const { detail, retryAfterSeconds } = CALLER_ERRORS[kind];
    const callerError = new ServiceUnavailable(detail, { cause: error, retryAfterSeconds });
    this.#recordFailure(kind, callerError);
    return callerError;
  }

  /** Returns the error of a recent outage in place of a caller's own timeout error. */
  replaceTimeoutError<T extends Error>(error: T): T | ServiceUnavailable {
    const recentMs = performance.now() - RECENT_MS;
    return [...this.#open.values()].find(({ lastMs }) => lastMs > recentMs)?.error ?? error;
  }

  /** Call when the database closes. Later failures are not an outage. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const { timer } of this.#open.values()) clearTimeout(timer);
    this.#open.clear();
  }

  #recordFailure(kind: FailureKind, callerError: ServiceUnavailable): void {
    if (this.#isClosed) return;
    this.onFailure();
    const outage = this.#open.get(kind);
    if (outage) {
      outage.failures += 1;
      outage.lastMs = performance.now();
      outage.timer.refresh();
      return;
    }
    this.#log.warn({ err: callerError.cause, kind }, 'database.failed');
    const nowMs = performance.now();
    const timer = setTimeout(() => this.#end(kind), this.#quietMs).unref();
    this.#open.set(kind, { sinceMs: nowMs, lastMs: nowMs, failures: 1, timer, error: callerError });
  }

  #end(kind: FailureKind): void {
    const outage = this.#open.get(kind);
    if (!outage) return;
    this.#open.delete(kind);
    const durationMs = Math.round(performance.now() - outage.sinceMs - this.#quietMs);
    this.#log.info({ kind, failures: outage.failures, durationMs }, 'database.recovered');
  }
}
