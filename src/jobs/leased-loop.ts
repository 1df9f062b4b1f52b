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

/** A place for a row that its process is about to store. Disposal frees the place unless the row was started. */
export interface FreePlace<R extends object, S extends WorkServices> extends Disposable {
  /** Runs the row, which the process has stored with its lease. */
  start(row: R, run: LeasedWork<R, S>['run']): void;
}

interface TakenPlace {
  group: string;
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
  /** The places that are taken, each by a running row or by one that is about to be stored. */
  readonly #places = new Set<TakenPlace>();
  /** The number of consecutive errors of rows, by `describe`. */
  readonly #errors = new LRUCache<string, number>(growUpTo(FAILING_ROWS_MAX));
  #claiming = Promise.resolve();
  #isClaiming = false;
  #isWoken = false;
  /** True if due rows may wait for a free place. */
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
    return this.#places.size;
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
   * Takes a place for a row that this process is about to store. Returns null if none is free, or if due rows wait for
   * one, which come first.
   */
  takePlace(group: string): FreePlace<R, S> | null {
    const { free, freeByGroup } = this.#readCapacity();
    const freeOfGroup = freeByGroup.get(group) ?? this.#work.perGroup;
    if (this.#isStopped || this.#hasMore || free <= 0 || freeOfGroup <= 0) return null;
    const place = this.#take(group);
    return {
      start: (row, run) => this.#start(row, place, run),
      [Symbol.dispose]: () => {
        if (!place.running) this.#leave(place);
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
        const place = this.#take(this.#work.getGroup(row));
        this.#start(row, place, (...args) => this.#work.run(...args));
      }
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

  #readCapacity(): Capacity {
    const { perProcess, perGroup } = this.#work;
    const freeByGroup = new Map<string, number>();
    for (const { group } of this.#places)
      freeByGroup.set(group, (freeByGroup.get(group) ?? perGroup) - 1);
    return { free: perProcess - this.#places.size, freeByGroup };
  }

  #take(group: string): TakenPlace {
    const place = { group, controller: new AbortController() };
    this.#places.add(place);
    return place;
  }

  #start(row: R, place: TakenPlace, run: LeasedWork<R, S>['run']): void {
    if (this.#isStopped) place.controller.abort();
    place.running = this.#runHeld(row, run, place.controller).finally(() => this.#leave(place));
  }

  #leave(place: TakenPlace): void {
    this.#places.delete(place);
    // A claim that is under way does not know of this place.
    if (this.#hasMore || this.#isClaiming) this.wake();
    this.#onEnded();
  }

  async #runHeld(row: R, run: LeasedWork<R, S>['run'], controller: AbortController): Promise<void> {
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
    for (const { controller } of this.#places) controller.abort();
    await this.#claiming;
    await Promise.all([...unlistening, ...[...this.#places].map(({ running }) => running)]);
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
