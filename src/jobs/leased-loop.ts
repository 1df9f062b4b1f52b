/** Claims and runs the due rows of one kind of work, in one shard group. */
import { SpanKind } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import { LeaseLost } from '../database/leases/lease.ts';
import { WORK_CHANNEL } from '../database/transactions/notification-channels.ts';
import { inTrace, runOutsideTraces } from '../kernel/spans.ts';
import { type Backoff, computeBackoffMs } from '../work/backoff.ts';
import { growUpTo } from '../work/growing-cache.ts';
import { Outage } from '../work/outage.ts';
import type { DueAlarm } from './due-alarm.ts';
import type { Capacity, LeasedWork, WorkServices } from './leased-work.ts';

/** The shortest time between two claims that the alarm causes. */
const CLAIM_INTERVAL_MS = 1_000;
/** How a row is retried after an error that its work does not handle. */
const ERROR_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 60_000 };
/** After an error, its row's next errors are logged only after this many. */
const ERRORS_PER_LINE = 10;
/** The maximum number of failing rows whose errors a loop counts. */
const FAILING_ROWS_MAX = 1_000;

/** A slot for a row that its process is about to store. Disposal frees the slot unless the row was started. */
export interface FreeSlot<R extends object, S extends WorkServices> extends Disposable {
  /** Runs the row, which the process has stored with its lease. */
  start(row: R, run: LeasedWork<R, S>['run']): void;
}

interface TakenSlot {
  share: string;
  controller: AbortController;
  /** Set when the row runs. */
  running?: Promise<void>;
}

export class LeasedLoop<R extends object, S extends WorkServices> implements AsyncDisposable {
  readonly #services: S;
  readonly #work: LeasedWork<R, S>;
  readonly #onEnded: () => void;
  readonly #outage: Outage;
  readonly #subscriptions: AsyncDisposable[] = [];
  /** The slots that are taken, each by a running row or by one that is about to be stored. */
  readonly #slots = new Set<TakenSlot>();
  /** The number of consecutive errors of rows, by `describe`. */
  readonly #errors = new LRUCache<string, number>(growUpTo(FAILING_ROWS_MAX));
  #claiming = Promise.resolve();
  #isClaiming = false;
  #isWoken = false;
  /** True if due rows may wait for a free slot. */
  #hasMore = false;
  #isStopped = false;

  /** Calls `onEnded` after each run, because due times may have changed. */
  constructor(services: S, work: LeasedWork<R, S>, onEnded: () => void) {
    this.#services = services;
    this.#work = work;
    this.#onEnded = onEnded;
    this.#outage = new Outage(services.log.child({ kind: work.kind }), 'work.claim_failed');
  }

  get running(): number {
    return this.#slots.size;
  }

  /** Lets the alarm and notifications wake the loop. */
  start(alarm: DueAlarm): void {
    const { kind, channel, createDueTimeSql } = this.#work;
    const { listen } = this.#services.database;
    alarm.add({ createDueTimeSql, intervalMsMin: CLAIM_INTERVAL_MS, onDue: () => this.wake() });
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
   * Takes a slot for a row that this process is about to store. Returns null if none is free, or if due rows wait for
   * one, which come first.
   */
  takeSlot(share: string): FreeSlot<R, S> | null {
    const { free, freeByShare } = this.#readCapacity();
    const freeOfShare = freeByShare.get(share) ?? this.#work.perShare;
    if (this.#isStopped || this.#hasMore || free <= 0 || freeOfShare <= 0) return null;
    const slot = this.#take(share);
    return {
      start: (row, run) => this.#start(row, slot, run),
      [Symbol.dispose]: () => {
        if (!slot.running) this.#leave(slot);
      },
    };
  }

  async #claimRepeatedly(): Promise<void> {
    this.#isClaiming = true;
    while (this.#isWoken && !this.#isStopped) {
      this.#isWoken = false;
      const capacity = this.#readCapacity();
      if (capacity.free <= 0) {
        this.#hasMore = true;
        break;
      }
      const rows = await this.#outage.watch(() => this.#work.claim(this.#services, capacity));
      // After an outage, the alarm wakes the loop.
      if (!rows) break;
      for (const row of rows) {
        const slot = this.#take(this.#work.getShare(row));
        this.#start(row, slot, (...args) => this.#work.run(...args));
      }
      this.#hasMore = this.#isExhausted(capacity, rows);
      // Rows of other shares may be behind those of a share that is full now.
      if (this.#hasMore && rows.length > 0) this.#isWoken = true;
    }
    this.#isClaiming = false;
  }

  /** True if a claim with this capacity may have left due rows, because it took as many as it could. */
  #isExhausted({ free, freeByShare }: Capacity, rows: readonly R[]): boolean {
    const { claimMax, perShare } = this.#work;
    if (rows.length >= Math.min(free, claimMax)) return true;
    const rowsByShare = Map.groupBy(rows, (row) => this.#work.getShare(row));
    const shares = new Set([...freeByShare.keys(), ...rowsByShare.keys()]);
    return shares.values().some((share) => {
      const claimedCount = rowsByShare.get(share)?.length ?? 0;
      return claimedCount >= (freeByShare.get(share) ?? perShare);
    });
  }

  #readCapacity(): Capacity {
    const { perProcess, perShare } = this.#work;
    const freeByShare = new Map<string, number>();
    for (const { share } of this.#slots)
      freeByShare.set(share, (freeByShare.get(share) ?? perShare) - 1);
    return { free: perProcess - this.#slots.size, freeByShare };
  }

  #take(share: string): TakenSlot {
    const slot = { share, controller: new AbortController() };
    this.#slots.add(slot);
    return slot;
  }

  #start(row: R, slot: TakenSlot, run: LeasedWork<R, S>['run']): void {
    if (this.#isStopped) slot.controller.abort();
    slot.running = this.#runHeld(row, run, slot.controller).finally(() => this.#leave(slot));
  }

  #leave(slot: TakenSlot): void {
    this.#slots.delete(slot);
    // A claim that is under way does not know of this slot.
    if (this.#hasMore || this.#isClaiming) this.wake();
    this.#onEnded();
  }

  async #runHeld(row: R, run: LeasedWork<R, S>['run'], controller: AbortController): Promise<void> {
    const { kind } = this.#work;
    const tracedRow: { traceparent?: string | null; projectId?: string } = row;
    const { traceparent: parent, projectId } = tracedRow;
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
    for (const { controller } of this.#slots) controller.abort();
    await this.#claiming;
    await Promise.all([...unlistening, ...[...this.#slots].map(({ running }) => running)]);
  }
}

/** Returns the ids of a row, which name it in log lines. */
function describe(row: object): string {
  const ids = Object.entries(row).filter(([name]) => name === 'id' || name.endsWith('Id'));
  return ids.map(([, id]) => id).join(' ');
}
