/** Runs the sweeps of a shard group: at an interval, or when their work is due. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import type { InProjects } from '../database/projects/all-projects.ts';
import type { Services } from '../domain/call.ts';
import { HOUR_MS } from '../work/durations.ts';
import { Outage } from '../work/outage.ts';
import { Alarm } from '../work/signal.ts';
import type { DueWatch } from './due-watch.ts';

/** Finds and does work that has no job, or whose job was lost. Must be safe to run in many processes in parallel. */
export interface Sweep {
  name: string;
  /** The time between two runs. With `createDueTimeSql`, the shortest time between two runs that are due. */
  intervalMs: number;
  /**
   * Returns the SQL of `DueWork.createDueTimeSql`, so that the sweep runs when work is due. Null if this database never
   * has such work.
   */
  createDueTimeSql?: (inProjects: InProjects, database: Database) => string | null;
  /** True if the rows of the work belong to no project. */
  hasNoProject?: boolean;
  /** Notifications of this channel start a run before the interval ends. */
  channel?: string;
  /** Does the work for the projects of the database's shard group. `signal` aborts when the process stops. */
  run: (services: Services, signal: AbortSignal) => Promise<void>;
}

/** The delay between the first runs of two sweeps. It spreads the load of a start. */
const SWEEP_GAP_MS = 200;

/** Runs the sweeps until the signal aborts, and adds their due work to the watch. Resolves when all have ended. */
export async function runSweeps(
  services: Services,
  sweeps: readonly Sweep[],
  { watch, signal }: { watch: DueWatch; signal: AbortSignal },
): Promise<void> {
  const loops = sweeps.map(async (sweep, index) => {
    const alarm = createAlarm(services, watch, sweep);
    if (index > 0) await sleep(index * SWEEP_GAP_MS, undefined, { signal }).catch(() => {});
    await runRepeatedly(services, sweep, { alarm, onRan: () => watch.checkSoon(), signal });
  });
  await Promise.all(loops);
}

/** Returns an alarm that rings when the sweep has work to do. */
function createAlarm({ database }: Services, watch: DueWatch, sweep: Sweep): Alarm {
  const alarm = new Alarm();
  const { createDueTimeSql, intervalMs: intervalMsMin, hasNoProject = false } = sweep;
  if (createDueTimeSql?.(() => 'true', database)) {
    watch.add({
      createDueTimeSql: (inProjects) => createDueTimeSql(inProjects, database) ?? 'null',
      hasNoProject,
      intervalMsMin,
      onDue: () => alarm.ring(),
    });
  }
  return alarm;
}

async function runRepeatedly(
  services: Services,
  { name, intervalMs, createDueTimeSql, channel, run }: Sweep,
  { alarm, onRan, signal }: { alarm: Alarm; onRan: () => void; signal: AbortSignal },
): Promise<void> {
  const outage = new Outage(services.log.child({ sweep: name }), 'sweep.failed');
  const onStop = () => alarm.ring();
  signal.addEventListener('abort', onStop);
  await using _listening = channel ? services.database.listen(channel, () => alarm.ring()) : null;
  while (!signal.aborted) {
    await outage.watch(() => run(services, signal));
    onRan();
    if (!signal.aborted) await alarm.wait(createDueTimeSql === undefined ? intervalMs : HOUR_MS);
  }
  signal.removeEventListener('abort', onStop);
}
