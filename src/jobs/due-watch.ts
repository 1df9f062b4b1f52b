/**
 * Checks with one statement which work is due, and wakes its workers. Database notifications wake most workers
 * immediately. The check finds scheduled work whose time has come, work of ended processes, and work whose notification
 * was lost.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  EVENTS_CHANNEL,
  OPERATIONS_CHANNEL,
  PROVIDER_EVENTS_CHANNEL,
  SUBSCRIPTIONS_CHANNEL,
} from '../database/hot/notification-channels.ts';
import {
  acrossProjects,
  bindProjects,
  type ForProjects,
  type InProjects,
} from '../database/projects/all-projects.ts';
import type { Services } from '../domain/call.ts';
import { Outage } from '../work/outage.ts';
import { Alarm } from '../work/signal.ts';

export interface DueWork {
  /**
   * Returns an SQL expression for the earliest time at which work of these projects is due, including work in progress.
   * The expression is null if no work waits.
   */
  createDueTimeSql: (inProjects: InProjects) => string;
  /** The shortest time between two calls of `onDue`. */
  minIntervalMs: number;
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
];

type WatchServices = Pick<Services, 'database' | 'log' | 'now'>;

interface DueWatchOptions {
  idleMs?: number;
}

export class DueWatch implements AsyncDisposable {
  readonly #services: WatchServices;
  readonly #watched: (DueWork & { notBeforeMs: number })[] = [];
  readonly #idleMs: number;
  readonly #outage: Outage;
  readonly #alarm = new Alarm();
  readonly #stopController = new AbortController();
  #isNotified = false;
  readonly #listening: AsyncDisposable[] = [];
  #running = Promise.resolve();

  constructor(
    services: WatchServices,
    watched: readonly DueWork[] = [],
    { idleMs = IDLE_MS }: DueWatchOptions = {},
  ) {
    this.#services = services;
    this.#idleMs = idleMs;
    for (const work of watched) this.add(work);
    this.#outage = new Outage(services.log, 'due_work.unreadable');
  }

  /** Adds work to check. Call it before `start`. */
  add(watched: DueWork): void {
    this.#watched.push({ ...watched, notBeforeMs: 0 });
  }

  /** Checks until it is disposed of. A notification causes a check within a second. */
  start(): void {
    const { listen } = this.#services.database;
    const onNotification = () => this.checkSoon();
    for (const channel of CHANNELS) this.#listening.push(listen(channel, onNotification));
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
      const untilNextMs = await this.#outage.watch(() => this.#check());
      await this.#alarm.wait(untilNextMs ?? NOTIFICATION_GAP_MS);
      const pauseMs = checkedMs + NOTIFICATION_GAP_MS - performance.now();
      if (this.#isNotified && pauseMs > 0)
        await wait(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Runs one check. Returns the time until the next one, in milliseconds. */
  async #check(): Promise<number> {
    const dueInMsByIndex = await this.#readDueTimes();
    const nowMs = performance.now();
    const waitsMs = this.#watched.map((watched, index) => {
      const ms = dueInMsByIndex.get(index) ?? null;
      if (ms === null || ms > 0) return ms ?? this.#idleMs;
      if (watched.notBeforeMs <= nowMs) {
        watched.notBeforeMs = nowMs + watched.minIntervalMs;
        watched.onDue();
      }
      return watched.notBeforeMs - nowMs;
    });
    return Math.min(this.#idleMs, ...waitsMs);
  }

  /**
   * Returns the milliseconds until each kind of work is due, by its index. In a cluster, rows without a project are on
   * the coordinator, so a separate statement reads them.
   */
  async #readDueTimes(): Promise<Map<number, number>> {
    const { database, now } = this.#services;
    const indexedWork = this.#watched.map((watched, index) => ({ ...watched, index }));
    const statementParts = database.isDistributed
      ? [
          indexedWork.filter(({ hasNoProject }) => hasNoProject),
          indexedWork.filter(({ hasNoProject }) => !hasNoProject),
        ]
      : [indexedWork];
    const dueInMsByIndex = new Map<number, number>();
    for (const part of statementParts.filter(({ length }) => length > 0)) {
      const hasNoProject = part.every((watched) => watched.hasNoProject);
      const projectIds = hasNoProject ? null : database.group.projectIds();
      const statement = bindProjects(createDueStatement(part), projectIds, [now()]);
      for (const { index, ms } of await database.rows.query<DueRow>(...statement)) {
        if (ms !== null)
          dueInMsByIndex.set(
            index,
            Math.min(ms, dueInMsByIndex.get(index) ?? Number.POSITIVE_INFINITY),
          );
      }
    }
    return dueInMsByIndex;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopController.abort();
    this.#alarm.ring();
    await Promise.all(this.#listening.map((listener) => listener[Symbol.asyncDispose]()));
    await this.#running;
  }
}

interface DueRow {
  index: number;
  ms: number | null;
}

function createDueStatement(watched: readonly (DueWork & { index: number })[]): ForProjects {
  const formatValues = (inProjects: InProjects) =>
    watched
      .map(({ createDueTimeSql, index }) => `(${index}, (${createDueTimeSql(inProjects)}))`)
      .join(', ');
  return acrossProjects(
    'the next due work',
    (inProjects) => `
    select "index", (extract(epoch from "time" - greatest(clock_timestamp(), $1)) * 1000)::float8 as "ms"
    from (values ${formatValues(inProjects)}) as waiting("index", "time")`,
  );
}
