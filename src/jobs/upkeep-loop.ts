/** Upkeep: work without a row for each of its parts. It runs at an interval, or when it is due. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/open/database.ts';
import type { InProjects } from '../database/statements/projects/all-projects.ts';
import type { Log } from '../kernel/log.ts';
import { HOUR_MS } from '../work/durations.ts';
import { Outage } from '../work/outage.ts';
import { Alarm } from '../work/signal.ts';
import type { DueAlarm } from './due-alarm.ts';

/** Must be safe to run in many processes in parallel. `S` are the services that the upkeep uses. */
export interface Upkeep<S> {
  name: string;
  /** The time between two runs. With `createDueTimeSql`, the shortest time between two runs that are due. */
  intervalMs: number;
  /**
   * Returns the SQL of `DueWork.createDueTimeSql`, so that the upkeep runs when it is due. Null if this database never
   * has such work.
   */
  createDueTimeSql?: (inProjects: InProjects, database: Database) => string | null;
  /** True if the rows of the work belong to no project. */
  hasNoProject?: boolean;
  /** Does the work for the projects of the database's shard group. `signal` aborts when the process stops. */
  run: (services: S, signal: AbortSignal) => Promise<void>;
}

interface LockedWork<S> {
  name: string;
  createDueTimeSql: (inProjects: InProjects) => string;
  /**
   * Chooses, locks and advances some due rows in one transaction, so that each row is advanced once. Returns true if
   * more rows may be due.
   */
  advance: (services: S) => Promise<boolean>;
}

/** The maximum number of transactions in one run. The next run continues. */
const TRANSACTIONS_MAX = 40;
const LOCKED_INTERVAL_MS = 1_000;

/** Declares work that one transaction both chooses and completes, so that its rows need no lease. */
export function lockedWork<S>({ name, createDueTimeSql, advance }: LockedWork<S>): Upkeep<S> {
  return {
    name,
    intervalMs: LOCKED_INTERVAL_MS,
    createDueTimeSql,
    async run(services, signal) {
      for (let count = 0; count < TRANSACTIONS_MAX && !signal.aborted; count += 1)
        if (!(await advance(services))) return;
    },
  };
}

/** The delay between the first runs of two kinds of upkeep. It spreads the load of a start. */
const START_GAP_MS = 200;

/** Runs upkeep until the signal aborts, and adds its due times to the alarm. Resolves when all runs have ended. */
export async function runUpkeep<S extends { database: Database; log: Log }>(
  services: S,
  upkeeps: readonly Upkeep<S>[],
  { alarm, signal }: { alarm: DueAlarm; signal: AbortSignal },
): Promise<void> {
  const { database } = services;
  const loops = upkeeps.map(async (upkeep, index) => {
    const { createDueTimeSql, intervalMs, hasNoProject = false } = upkeep;
    const ownAlarm = new Alarm();
    const onDue = () => ownAlarm.ring();
    signal.addEventListener('abort', onDue);
    if (createDueTimeSql?.(() => 'true', database)) {
      alarm.add({
        createDueTimeSql: (inProjects) => createDueTimeSql(inProjects, database) ?? 'null',
        intervalMsMin: intervalMs,
        hasNoProject,
        onDue,
      });
    }
    if (index > 0) await sleep(index * START_GAP_MS, undefined, { signal }).catch(() => {});
    const outage = new Outage(services.log.child({ upkeep: upkeep.name }), 'upkeep.failed');
    while (!signal.aborted) {
      await outage.watch(() => upkeep.run(services, signal));
      alarm.checkSoon();
      if (!signal.aborted) await ownAlarm.wait(createDueTimeSql ? HOUR_MS : intervalMs);
    }
  });
  await Promise.all(loops);
}
