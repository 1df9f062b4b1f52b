/** Outages of the database. Callers get an error with a time to retry, and the log gets one line. */
import { ServiceUnavailable } from '../errors.ts';
import type { Log } from '../log.ts';
import { type FailureKind, failureKindOf } from './failure-kind.ts';

/** An outage is over after this time without a failure. */
const QUIET_MS = 30_000;

const AGAIN = 'A change that was under way may be done: look before you repeat it.';
const TOLD: Record<FailureKind, { detail: string; retryAfterSeconds: number }> = {
  UNREACHABLE: { detail: `The database can't be reached. ${AGAIN}`, retryAfterSeconds: 2 },
  BUSY: {
    detail: 'All connections to the database are in use. Try again after Retry-After.',
    retryAfterSeconds: 2,
  },
  SLOW: { detail: `The database did not answer in time. ${AGAIN}`, retryAfterSeconds: 2 },
  FULL: {
    detail: 'The database has no room for changes: its operator must free space.',
    retryAfterSeconds: 30,
  },
  READ_ONLY: {
    detail: 'The database takes no changes at the moment. Try again after Retry-After.',
    retryAfterSeconds: 5,
  },
};

/** A caller that timed out within this time after a failure has probably waited for the database. */
const RECENT_MS = 5_000;

interface Outage {
  sinceMs: number;
  lastMs: number;
  failures: number;
  told: ServiceUnavailable;
  timer: NodeJS.Timeout;
}

export class Outages implements Disposable {
  readonly #log: Log;
  readonly #open = new Map<FailureKind, Outage>();
  readonly #quietMs: number;
  /** Called for each failure. */
  onFailure: () => void = () => {};
  #isClosed = false;

  constructor(log: Log, { quietMs = QUIET_MS } = {}) {
    this.#log = log;
    this.#quietMs = quietMs;
  }

  /** Returns the caller's error for a failure of the database, and any other error unchanged. */
  told(error: unknown): unknown {
    if (error instanceof ServiceUnavailable) return error;
    const kind = failureKindOf(error);
    if (kind === null) return error;
    const { detail, retryAfterSeconds } = TOLD[kind];
    const told = new ServiceUnavailable(detail, { cause: error, retryAfterSeconds });
    this.#meet(kind, told);
    return told;
  }

  /** The error for a caller that timed out: that of the outage, if there is one. */
  waitedFor<T extends Error>(late: T): T | ServiceUnavailable {
    const recentMs = performance.now() - RECENT_MS;
    return [...this.#open.values()].find(({ lastMs }) => lastMs > recentMs)?.told ?? late;
  }

  /** Closes the database. Later failures are not an outage. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const { timer } of this.#open.values()) clearTimeout(timer);
    this.#open.clear();
  }

  #meet(kind: FailureKind, told: ServiceUnavailable): void {
    if (this.#isClosed) return;
    this.onFailure();
    const outage = this.#open.get(kind);
    if (outage) {
      outage.failures += 1;
      outage.lastMs = performance.now();
      outage.timer.refresh();
      return;
    }
    this.#log.warn({ err: told.cause, kind }, 'database.failed');
    const nowMs = performance.now();
    const timer = setTimeout(() => this.#end(kind), this.#quietMs).unref();
    this.#open.set(kind, { sinceMs: nowMs, lastMs: nowMs, failures: 1, timer, told });
  }

  #end(kind: FailureKind): void {
    const outage = this.#open.get(kind);
    if (!outage) return;
    this.#open.delete(kind);
    const ms = Math.round(performance.now() - outage.sinceMs - this.#quietMs);
    this.#log.info({ kind, failures: outage.failures, ms }, 'database.recovered');
  }
}
