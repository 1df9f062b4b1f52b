/**
 * Sees whether anything waits to be done, all of it by one statement, and tells those who do it. Hints wake most of
 * them at once; this is for what comes due by its time, for what a process that ended has left behind, and for hints
 * that were lost.
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
  type ForProjects,
  type InProjects,
  sent,
} from '../database/projects/all-projects.ts';
import type { Services } from '../domain/call.ts';
import { Outage } from '../work/outage.ts';
import { Alarm } from '../work/signal.ts';

export type Earliest = (inProjects: InProjects) => string;

export interface Watched {
  /**
   * SQL: one value, the earliest time at which something is due in the projects that are asked, also if it is being
   * done; null if nothing waits.
   */
  earliest: Earliest;
  /** The shortest time between two calls of `onDue`. */
  gapMs: number;
  /** Its rows belong to no project. */
  isCommon?: boolean;
  onDue(): void;
}

/** While nothing waits: the longest delay of what comes without a hint, and a load that nobody notices. */
const IDLE_MS = 10_000;
/** Between looks that are asked for. */
const NOTIFICATION_GAP_MS = 1_000;

const CHANNELS = [
  EVENTS_CHANNEL,
  OPERATIONS_CHANNEL,
  PROVIDER_EVENTS_CHANNEL,
  SUBSCRIPTIONS_CHANNEL,
];

type WatchServices = Pick<Services, 'database' | 'log' | 'now'>;

export interface DueWatchOptions {
  idleMs?: number;
}

export class DueWatch implements AsyncDisposable {
  readonly #services: WatchServices;
  readonly #watched: (Watched & { notBeforeMs: number })[] = [];
  readonly #idleMs: number;
  readonly #outage: Outage;
  readonly #alarm = new Alarm();
  readonly #stopping = new AbortController();
  #isHinted = false;
  readonly #listening: AsyncDisposable[] = [];
  #running = Promise.resolve();

  constructor(
    services: WatchServices,
    watched: readonly Watched[] = [],
    { idleMs = IDLE_MS }: DueWatchOptions = {},
  ) {
    this.#services = services;
    this.#idleMs = idleMs;
    for (const one of watched) this.add(one);
    this.#outage = new Outage(services.log, 'due_work.unreadable');
  }

  /** Before `start`. */
  add(watched: Watched): void {
    this.#watched.push({ ...watched, notBeforeMs: 0 });
  }

  /** Looks until it is disposed of, and soon after each hint that something has changed. */
  start(): void {
    const { listen } = this.#services.database;
    const onHint = () => this.lookSoon();
    for (const channel of CHANNELS) this.#listening.push(listen(channel, onHint));
    this.#running = this.#lookAgainAndAgain();
  }

  /** What is due next may be another time than the last look found. */
  lookSoon(): void {
    this.#isHinted = true;
    this.#alarm.ring();
  }

  async #lookAgainAndAgain(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const lookedMs = performance.now();
      this.#isHinted = false;
      const untilNextMs = await this.#outage.watch(() => this.#look());
      await this.#alarm.wait(untilNextMs ?? NOTIFICATION_GAP_MS);
      const restMs = lookedMs + NOTIFICATION_GAP_MS - performance.now();
      if (this.#isHinted && restMs > 0) await wait(restMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Answers when the next look is due, in milliseconds. */
  async #look(): Promise<number> {
    const dueInMs = await this.#dueInMs();
    const nowMs = performance.now();
    const nexts = this.#watched.map((watched, index) => {
      const ms = dueInMs.get(index) ?? null;
      if (ms === null || ms > 0) return ms ?? this.#idleMs;
      if (watched.notBeforeMs <= nowMs) {
        watched.notBeforeMs = nowMs + watched.gapMs;
        watched.onDue();
      }
      return watched.notBeforeMs - nowMs;
    });
    return Math.min(this.#idleMs, ...nexts);
  }

  /** By the place of what is watched. In a cluster what belongs to no project is with the coordinator, and asked by itself. */
  async #dueInMs(): Promise<Map<number, number>> {
    const { database, now } = this.#services;
    const all = this.#watched.map((watched, index) => ({ ...watched, index }));
    const parts = database.isDistributed
      ? [all.filter(({ isCommon }) => isCommon), all.filter(({ isCommon }) => !isCommon)]
      : [all];
    const due = new Map<number, number>();
    for (const part of parts.filter(({ length }) => length > 0)) {
      const isCommon = part.every((watched) => watched.isCommon);
      const projectIds = isCommon ? null : database.group.projectIds();
      const statement = sent(dueStatement(part), projectIds, [now()]);
      for (const { index, ms } of await database.rows.query<Due>(...statement)) {
        if (ms !== null) due.set(index, Math.min(ms, due.get(index) ?? Number.POSITIVE_INFINITY));
      }
    }
    return due;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#alarm.ring();
    await Promise.all(this.#listening.map((one) => one[Symbol.asyncDispose]()));
    await this.#running;
  }
}

interface Due {
  index: number;
  ms: number | null;
}

function dueStatement(watched: readonly (Watched & { index: number })[]): ForProjects {
  const values = (inProjects: InProjects) =>
    watched.map(({ earliest, index }) => `(${index}, (${earliest(inProjects)}))`).join(', ');
  return acrossProjects(
    'what is due next',
    (inProjects) => `
    select "index", (extract(epoch from "time" - greatest(clock_timestamp(), $1)) * 1000)::float8 as "ms"
    from (values ${values(inProjects)}) as waiting("index", "time")`,
  );
}
