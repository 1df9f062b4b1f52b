/** Claims and runs the due rows of one kind of work, in one shard group. */
import { SpanKind } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import { WORK_CHANNEL } from '../database/hot/notification-channels.ts';
import type { Services } from '../domain/call.ts';
import { inTrace, runOutsideTraces } from '../spans.ts';
import { type Backoff, computeBackoffMs } from '../work/backoff.ts';
import { growUpTo } from '../work/growing-cache.ts';
import { LeaseLost } from '../work/lease.ts';
import { Outage } from '../work/outage.ts';
import type { Capacity, LeasedWork } from './leased-work.ts';
import { Places } from './places.ts';

/** How a row is retried after an error that its work does not handle. */
const ERROR_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 60_000 };
/** After an error, its row's next errors are logged only after this many. */
const ERRORS_PER_LINE = 10;

/** The maximum number of failing rows whose errors a loop counts. */
const FAILING_ROWS_MAX = 1_000;

/** A place for a row that its process is about to store. Disposal frees the place unless the row was started. */
export interface FreePlace<R extends object> extends Disposable {
  /** Runs the row, which the process has stored with its lease. */
  start(row: R, run: LeasedWork<R>['run']): void;
}

export class LeasedLoop<R extends object> implements AsyncDisposable {
  readonly #services: Services;
  readonly #work: LeasedWork<R>;
  readonly #onEnded: () => void;
  readonly #places: Places;
  readonly #outage: Outage;
  readonly #subscriptions: AsyncDisposable[] = [];
  readonly #running = new Map<Promise<void>, AbortController>();
  /** The number of consecutive errors of rows, by `describe`. */
  readonly #errors = new LRUCache<string, number>(growUpTo(FAILING_ROWS_MAX));
  #claiming = Promise.resolve();
  #isClaiming = false;
  #isWoken = false;
  /** True if due rows may wait for a free place. */
  #hasMore = false;
  #isStopped = false;

  /** Calls `onEnded` after each run, because due times may have changed. */
  constructor(services: Services, work: LeasedWork<R>, onEnded: () => void) {
    this.#services = services;
    this.#work = work;
    this.#onEnded = onEnded;
    this.#places = new Places(work);
    this.#outage = new Outage(services.log.child({ kind: work.kind }), 'work.claim_failed');
  }

  get running(): number {
    return this.#places.taken;
  }

  /** Wakes the loop when a notification names its kind. */
  listen(): void {
    const { kind, channel } = this.#work;
    const { listen } = this.#services.database;
    const onWork = (payload?: string) => {
      if (payload === undefined || payload === kind) this.wake();
    };
    this.#subscriptions.push(listen(WORK_CHANNEL, onWork));
    if (channel) this.#subscriptions.push(listen(channel, () => this.wake()));
  }

  /** Claims rows, because some may be due. */
  wake(): void {
    if (this.#isStopped) return;
    this.#isWoken = true;
    if (!this.#isClaiming) this.#claiming = runOutsideTraces(() => this.#claimRepeatedly());
  }

  /**
   * Takes a place for a row that this process is about to store. Returns null if none is free, or if due rows wait for
   * one, which come first.
   */
  takePlace(group: string): FreePlace<R> | null {
    if (this.#isStopped || this.#hasMore || !this.#places.hasFree(group)) return null;
    this.#places.take(group);
    let isStarted = false;
    return {
      start: (row, run) => {
        isStarted = true;
        this.#start(row, group, run);
      },
      [Symbol.dispose]: () => {
        if (!isStarted) this.#leave(group);
      },
    };
  }

  async #claimRepeatedly(): Promise<void> {
    this.#isClaiming = true;
    while (this.#isWoken && !this.#isStopped) {
      this.#isWoken = false;
      const capacity = this.#places.readCapacity();
      if (capacity.free === 0) {
        this.#hasMore = true;
        break;
      }
      const rows = await this.#outage.watch(() => this.#work.claim(this.#services, capacity));
      // After an outage, the alarm wakes the loop.
      if (!rows) break;
      for (const row of rows) this.#claimed(row);
      this.#hasMore = this.#isExhausted(capacity, rows);
      // Rows of other groups may be behind those of a group that is full now.
      if (this.#hasMore && rows.length > 0) this.#isWoken = true;
    }
    this.#isClaiming = false;
  }

  /** True if a claim with this capacity may have left due rows, because it took as many as it could. */
  #isExhausted({ free, freeByGroup }: Capacity, rows: readonly R[]): boolean {
    const { claimMax, perGroup } = this.#work;
    if (rows.length >= Math.min(free, claimMax)) return true;
    const rowsByGroup = Map.groupBy(rows, (row) => this.#work.getGroup(row));
    const groups = new Set([...freeByGroup.keys(), ...rowsByGroup.keys()]);
    return groups.values().some((group) => {
      const claimedCount = rowsByGroup.get(group)?.length ?? 0;
      return claimedCount >= (freeByGroup.get(group) ?? perGroup);
    });
  }

  #claimed(row: R): void {
    const group = this.#work.getGroup(row);
    this.#places.take(group);
    this.#start(row, group, (...args) => this.#work.run(...args));
  }

  #start(row: R, group: string, run: LeasedWork<R>['run']): void {
    const controller = new AbortController();
    const running = this.#runHeld(row, run, controller).finally(() => {
      this.#running.delete(running);
      this.#leave(group);
    });
    this.#running.set(running, controller);
    if (this.#isStopped) controller.abort();
  }

  #leave(group: string): void {
    this.#places.leave(group);
    // A claim that is under way does not know of this place.
    if (this.#hasMore || this.#isClaiming) this.wake();
    this.#onEnded();
  }

  async #runHeld(row: R, run: LeasedWork<R>['run'], controller: AbortController): Promise<void> {
    const { kind } = this.#work;
    const { traceparent: parent, projectId } = row as Partial<TracedRow>;
    const attributes = { ...(projectId && { 'gateway.project_id': projectId }) };
    const options = { name: `run ${kind}`, kind: SpanKind.CONSUMER, parent, attributes };
    using _lease = this.#work.hold(this.#services, row, () => controller.abort());
    try {
      await inTrace(this.#services, options, () => run(this.#services, row, controller.signal));
      this.#errors.delete(describe(row));
    } catch (error) {
      if (!(error instanceof LeaseLost)) await this.#releaseAfter(error, row);
    }
  }

  /** Releases the row after an error that its work did not handle. */
  async #releaseAfter(error: unknown, row: R): Promise<void> {
    const { kind } = this.#work;
    const { log, now } = this.#services;
    const key = describe(row);
    const errors = (this.#errors.get(key) ?? 0) + 1;
    this.#errors.set(key, errors);
    if (errors === 1 || errors % ERRORS_PER_LINE === 0)
      log.error({ err: error, kind, key, errors }, 'work.failed');
    const dueTime = new Date(now().getTime() + computeBackoffMs(ERROR_BACKOFF, errors));
    // If the database is not available, the row is free when its lease expires.
    await this.#work.release(this.#services, row, dueTime).catch(() => {});
  }

  /** Ends claims, and waits for running work. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    const unlistening = this.#subscriptions.map((item) => item[Symbol.asyncDispose]());
    for (const controller of this.#running.values()) controller.abort();
    await this.#claiming;
    await Promise.all([...unlistening, ...this.#running.keys()]);
  }
}

/** The columns of a row that its span uses, if it has them. */
interface TracedRow {
  projectId: string;
  traceparent: string | null;
}

/** Returns the ids of a row, which name it in log lines. */
function describe(row: object): string {
  const ids = Object.entries(row).filter(([name]) => name === 'id' || name.endsWith('Id'));
  return ids.map(([, id]) => id).join(' ');
}
