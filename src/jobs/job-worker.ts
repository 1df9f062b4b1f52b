/** Runs jobs and sweeps in this process. */
import { setTimeout as wait } from 'node:timers/promises';
import type { JobResult } from 'pg-boss';
import type { Database } from '../database/database.ts';
import type { InProjects } from '../database/projects/all-projects.ts';
import type { ProjectGroup } from '../database/projects/project-groups.ts';
import type { Services } from '../domain/call.ts';
import { inTrace } from '../spans.ts';
import { endWithin, getStopWorkMs } from '../work/deadline.ts';
import { HOUR_MS } from '../work/durations.ts';
import { Outage } from '../work/outage.ts';
import { Alarm } from '../work/signal.ts';
import { DueWatch, type DueWork } from './due-watch.ts';
import { createJobSpan, findTraceparent } from './job-span.ts';
import { HEARTBEAT_SECONDS, JOBS, type JobName, type JobPayload, type JobPolicy } from './jobs.ts';
import { LocalWork } from './local-work.ts';
import type { JobQueue } from './queue.ts';

/** The interval between checks for added and removed shard groups. */
const POLL_MS = 10_000;

/**
 * Must be safe to run twice, even at the same time. `signal` aborts when the worker no longer holds the job.
 */
type JobHandler<N extends JobName> = (
  services: Services,
  payload: JobPayload<N>,
  signal: AbortSignal,
) => Promise<void>;

export type JobHandlers = { [N in JobName]?: JobHandler<N> };

/** Finds and does work that has no job, or whose job was lost. Must be safe to run in many processes in parallel. */
export interface Sweep {
  name: string;
  /** The time between two runs. With `createDueTimeSql`, the shortest time between two runs that are due. */
  intervalMs: number;
  /**
   * Returns SQL like `DueWork.createDueTimeSql`, so that the sweep runs when work is due. Null if this database never has
   * such work.
   */
  createDueTimeSql?: (inProjects: InProjects, database: Database) => string | null;
  /** True if the rows of the work belong to no project. */
  hasNoProject?: boolean;
  /** Notifications of this channel start a run before the interval ends. */
  channel?: string;
  /** Does the work for the projects of the database's shard group. `signal` aborts when the process stops. */
  run: (services: Services, signal: AbortSignal) => Promise<void>;
}

export interface BackgroundWork {
  handlers: JobHandlers;
  sweeps: readonly Sweep[];
  /** Starts work of a shard group that is not a sweep. */
  startAdditional?: (services: Services) => AdditionalWork;
}

export interface AdditionalWork extends AsyncDisposable {
  watched: readonly DueWork[];
}

/** The delay between the first runs of two sweeps, which spreads the load of a start. */
const SWEEP_GAP_MS = 200;

/**
 * Notifications wake workers immediately, and DueWatch finds due jobs without one. If notifications are unavailable,
 * workers poll.
 */
const POLLING = { pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 600 } as const;
const POLL_GAP_MS = 1_000;

/**
 * Starts workers, and sweeps for each shard group, one after another in their order. Disposal waits for running work,
 * for at most a part of SHUTDOWN_MS.
 */
export async function startJobs(
  services: Services & { queue: JobQueue },
  { handlers, ...work }: BackgroundWork,
): Promise<AsyncDisposable> {
  const { boss } = services.queue;
  const names = Object.keys(handlers) as JobName[];
  const stopLocalWorkers: (() => Promise<void>)[] = [];
  for (const name of names) {
    const handler = handlers[name] as JobHandler<JobName>;
    await startWorkers(services, name, handler);
    stopLocalWorkers.push(startLocalWorker(services, name, handler));
  }
  const groups = await startByGroup(services, (groupServices) =>
    startSweeps(groupServices, names, work),
  );
  return {
    async [Symbol.asyncDispose]() {
      const sweeping = groups[Symbol.asyncDispose]();
      const working = names.map((name) => boss.offWork(name, { wait: true }));
      const localStops = stopLocalWorkers.map((stop) => stop());
      const ended = endWithin(
        Promise.all([...working, ...localStops]),
        getStopWorkMs(services.config),
      );
      await Promise.all([sweeping, ended]);
    },
  };
}

/**
 * Runs work for each shard group, and follows groups that are added and removed. `start` starts the work of one group,
 * with services whose database is limited to it. Disposal of its result ends the work.
 */
async function startByGroup<S extends Services>(
  services: S,
  start: (groupServices: S) => AsyncDisposable,
): Promise<AsyncDisposable> {
  const running = new Map<string, AsyncDisposable>();
  const outage = new Outage(services.log, 'project_groups.unreadable');
  const stopping = new AbortController();
  const followGroups = async () => {
    const groups = await services.database.groups();
    const removedNames = new Set(running.keys());
    for (const group of groups) {
      removedNames.delete(group.name);
      if (running.has(group.name) || stopping.signal.aborted) continue;
      running.set(group.name, start(limitToGroup(services, group)));
    }
    for (const name of removedNames) {
      void running.get(name)?.[Symbol.asyncDispose]();
      running.delete(name);
    }
  };
  await followGroups();
  const following = (async () => {
    const { signal } = stopping;
    while (!signal.aborted) {
      await wait(POLL_MS, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await outage.watch(followGroups);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      const stops = [...running.values()].map((work) => work[Symbol.asyncDispose]());
      await Promise.all([following, ...stops]);
    },
  };
}

/** Returns services whose statements across projects are limited to the shard group. */
export function limitToGroup<S extends Services>(services: S, group: ProjectGroup): S {
  if (group === services.database.group) return services;
  return { ...services, database: { ...services.database, group } };
}

/** Starts the sweeps of one shard group. */
function startSweeps(
  services: Services & { queue: JobQueue },
  names: readonly JobName[],
  { sweeps, startAdditional }: Omit<BackgroundWork, 'handlers'>,
): AsyncDisposable {
  const { queue } = services;
  const additional = startAdditional?.(services);
  const stopping = new AbortController();
  const watch = new DueWatch(services, additional?.watched);
  for (const name of names) {
    watch.add({
      createDueTimeSql: () => queue.createDueTimeSql(name),
      hasNoProject: true,
      minIntervalMs: POLL_GAP_MS,
      onDue: () => queue.wake(name),
    });
  }
  const loops = [...sweeps, createSupervision(queue)].map(async (sweep, index) => {
    const alarm = createAlarm(services, watch, sweep);
    if (index > 0) await pause(index * SWEEP_GAP_MS, stopping.signal);
    const options = { alarm, onRan: () => watch.checkSoon(), signal: stopping.signal };
    await runRepeatedly(services, sweep, options);
  });
  watch.start();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      const watching = watch[Symbol.asyncDispose]();
      const ended = endWithin(Promise.all([watching, ...loops]), getStopWorkMs(services.config));
      // Both stop in parallel, so that each has the full time.
      await Promise.all([additional?.[Symbol.asyncDispose](), ended]);
    },
  };
}

async function startWorkers<N extends JobName>(
  services: Services & { queue: JobQueue },
  name: N,
  handler: JobHandler<N>,
): Promise<void> {
  const { payload, batchSize, concurrency, concurrencyOfGroup }: JobPolicy = JOBS[name];
  const options = {
    ...POLLING,
    batchSize,
    localConcurrency: concurrency,
    localGroupConcurrency: concurrencyOfGroup,
    burstWhenBatchFull: true,
    heartbeatRefreshSeconds: HEARTBEAT_SECONDS / 3,
    perJobResults: true,
  } as const;
  await services.queue.boss.work(name, options, (jobs) =>
    Promise.all(
      jobs.map(async ({ id, data, signal }): Promise<JobResult> => {
        try {
          const jobPayload = payload.parse(data) as JobPayload<N>;
          const span = createJobSpan(name, jobPayload, findTraceparent(data));
          await inTrace(services, span, () => handler(services, jobPayload, signal));
          return { id, status: 'completed' };
        } catch (error) {
          services.log.warn({ err: error, job: name, data }, 'job.failed');
          return { id, status: 'failed', output: { message: String(error) } };
        }
      }),
    ),
  );
}

/** Lets this process run work that it begins without the queue. Returns a function that stops it. */
function startLocalWorker<N extends JobName>(
  services: Services & { queue: JobQueue },
  name: N,
  handler: JobHandler<N>,
): () => Promise<void> {
  const { localWork }: JobPolicy = JOBS[name];
  if (!localWork) return async () => {};
  const { queue } = services;
  const worker = {
    work: new LocalWork(localWork),
    run: (payload: unknown, signal: AbortSignal) =>
      handler(services, payload as JobPayload<N>, signal),
  };
  queue.localWorkers.set(name, worker);
  return () => {
    if (queue.localWorkers.get(name) === worker) queue.localWorkers.delete(name);
    return worker.work.stop();
  };
}

/** Handles jobs of killed workers, and deletes ended jobs. */
function createSupervision({ boss, endedDueTimeSql }: JobQueue): Sweep {
  return {
    name: 'job queue',
    intervalMs: (HEARTBEAT_SECONDS / 2) * 1_000,
    createDueTimeSql: () => endedDueTimeSql,
    hasNoProject: true,
    run: () => boss.supervise(),
  };
}

/** Returns an alarm that rings when the sweep has work to do. */
function createAlarm({ database }: Services, watch: DueWatch, sweep: Sweep): Alarm {
  const alarm = new Alarm();
  const { createDueTimeSql, intervalMs: minIntervalMs, hasNoProject = false } = sweep;
  if (createDueTimeSql?.(() => 'true', database)) {
    watch.add({
      createDueTimeSql: (inProjects) => createDueTimeSql(inProjects, database) ?? 'null',
      hasNoProject,
      minIntervalMs,
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

/** Waits, or returns earlier if the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
}
