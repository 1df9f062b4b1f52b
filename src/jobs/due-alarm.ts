/**
 * The alarm of all background work of a shard group. One statement reads when the next work of each kind is due, and the
 * alarm wakes that kind at this time. Notifications wake most kinds earlier. The alarm finds rows that were scheduled
 * for now, rows of ended processes, and rows whose notification was lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  acrossProjects,
  bindProjects,
  type ForProjects,
  type InProjects,
} from '../database/statements/projects/all-projects.ts';
import {
  EVENTS_CHANNEL,
  OPERATIONS_CHANNEL,
  PROVIDER_EVENTS_CHANNEL,
  SUBSCRIPTIONS_CHANNEL,
  WORK_CHANNEL,
} from '../database/transactions/notification-channels.ts';
import { Outage } from '../work/outage.ts';
import { Alarm } from '../work/signal.ts';
import type { WorkServices } from './leased-work.ts';

export interface DueWork {
  /**
   * Returns an SQL expression for the earliest time at which work of these projects is due, including work in progress.
   * The expression is null if no work waits.
   */
  createDueTimeSql: (inProjects: InProjects) => string;
  /** The shortest time between two calls of `onDue`. */
  intervalMsMin: number;
  /** True if the rows of the work belong to no project. */
  hasNoProject?: boolean;
  onDue(): void;
}

/**
 * The check interval while no work waits, and the longest delay of work without a notification. The load of a check is
 * negligible.
 */
const IDLE_MS = 10_000;
/** The shortest time between two checks that notifications cause. */
const NOTIFICATION_GAP_MS = 1_000;

const CHANNELS = [
  EVENTS_CHANNEL,
  OPERATIONS_CHANNEL,
  PROVIDER_EVENTS_CHANNEL,
  SUBSCRIPTIONS_CHANNEL,
  WORK_CHANNEL,
];

interface WatchedWork extends DueWork {
  /** The earliest next call of `onDue`, by performance.now(). */
  notBeforeMs: number;
}

type WatchServices = Omit<WorkServices, 'tracer'>;

export class DueAlarm implements AsyncDisposable {
  readonly #services: WatchServices;
  readonly #works: WatchedWork[] = [];
  readonly #idleMs: number;
  readonly #outage: Outage;
  readonly #alarm = new Alarm();
  readonly #stopController = new AbortController();
  #isNotified = false;
  readonly #subscriptions: AsyncDisposable[] = [];
  #running = Promise.resolve();

  constructor(
    services: WatchServices,
    works: readonly DueWork[] = [],
    { idleMs = IDLE_MS }: { idleMs?: number } = {},
  ) {
    this.#services = services;
    this.#idleMs = idleMs;
    for (const work of works) this.add(work);
    this.#outage = new Outage(services.log, 'due_work.unreadable');
  }

  /** Adds work to check. Call it before `start`. */
  add(work: DueWork): void {
    this.#works.push({ ...work, notBeforeMs: 0 });
  }

  /** Checks until it is disposed of. A notification causes a check within a second. */
  start(): void {
    const { listen } = this.#services.database;
    const onNotification = () => this.checkSoon();
    for (const channel of CHANNELS) this.#subscriptions.push(listen(channel, onNotification));
    this.#running = this.#checkRepeatedly();
  }

  /** Starts a check within a second, because the next due time may have changed since the last check. */
  checkSoon(): void {
    this.#isNotified = true;
    this.#alarm.ring();
  }

  async #checkRepeatedly(): Promise<void> {
    const { signal } = this.#stopController;
    while (!signal.aborted) {
      const checkedMs = performance.now();
      this.#isNotified = false;
      const nextCheckMs = await this.#outage.watch(() => this.#check());
      await this.#alarm.wait(nextCheckMs ?? NOTIFICATION_GAP_MS);
      const pauseMs = checkedMs + NOTIFICATION_GAP_MS - performance.now();
      if (this.#isNotified && pauseMs > 0)
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Runs one check. Returns the time until the next check, in milliseconds. */
  async #check(): Promise<number> {
    const dueInMsByIndex = await this.#readDueTimes();
    const nowMs = performance.now();
    const waitsMs = this.#works.map((work, index) => {
      const dueInMs = dueInMsByIndex.get(index) ?? this.#idleMs;
      if (dueInMs > 0) return dueInMs;
      if (work.notBeforeMs <= nowMs) {
        work.notBeforeMs = nowMs + work.intervalMsMin;
        work.onDue();
      }
      return work.notBeforeMs - nowMs;
    });
    return Math.min(this.#idleMs, ...waitsMs);
  }

  /**
   * Returns the milliseconds until each work is due, by its index. In a cluster, rows without a project are on the
   * coordinator, so a separate statement reads them.
   */
  async #readDueTimes(): Promise<Map<number, number>> {
    const { database, now } = this.#services;
    const indexedWorks = this.#works.map((work, index) => ({ ...work, index }));
    const worksByStatement = Map.groupBy(
      indexedWorks,
      ({ hasNoProject = false }) => database.isDistributed && hasNoProject,
    );
    const dueInMsByIndex = new Map<number, number>();
    for (const works of worksByStatement.values()) {
      const hasNoProject = works.every((work) => work.hasNoProject);
      const projectIds = hasNoProject ? null : database.shardGroup.projectIds();
      const statement = bindProjects(createDueStatement(works), projectIds, [now()]);
      for (const { index, ms } of await database.run(...statement)) {
        if (ms === null) continue;
        // In a cluster, each shard returns a row.
        const earliestMs = dueInMsByIndex.get(index) ?? Number.POSITIVE_INFINITY;
        dueInMsByIndex.set(index, Math.min(ms, earliestMs));
      }
    }
    return dueInMsByIndex;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopController.abort();
    this.#alarm.ring();
    await Promise.all(this.#subscriptions.map((item) => item[Symbol.asyncDispose]()));
    await this.#running;
  }
}

interface DueRow {
  index: number;
  ms: number | null;
}

function createDueStatement(works: readonly (DueWork & { index: number })[]): ForProjects<DueRow> {
  const valuesSql = (inProjects: InProjects) =>
    works
      .map(({ createDueTimeSql, index }) => `(${index}, (${createDueTimeSql(inProjects)}))`)
      .join(', ');
  return acrossProjects(
    'the next due work',
    (inProjects) => `
    select "index", (extract(epoch from "time" - greatest(clock_timestamp(), $1)) * 1000)::float8 as "ms"
    from (values ${valuesSql(inProjects)}) as waiting("index", "time")`,
  );
}
