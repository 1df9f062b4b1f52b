/** Runs jobs and sweeps in this process. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobResult } from 'pg-boss';
import type { ShardGroup } from '../database/projects/shard-groups.ts';
import type { Services } from '../domain/call.ts';
import { inTrace } from '../spans.ts';
import { endWithin, getStopWorkMs } from '../work/deadline.ts';
import { Outage } from '../work/outage.ts';
import { DueWatch, type DueWork } from './due-watch.ts';
import { HEARTBEAT_SECONDS, JOBS, type JobName, type JobPayload, type JobPolicy } from './jobs.ts';
import { LocalWork } from './local-work.ts';
import { createJobSpan, findTraceparent, type JobQueue } from './queue.ts';
import { runSweeps, type Sweep } from './run-sweeps.ts';

/**
 * Must be safe to run twice, even at the same time. `signal` aborts when the worker no longer holds the job.
 */
type JobHandler<N extends JobName> = (
  services: Services,
  payload: JobPayload<N>,
  signal: AbortSignal,
) => Promise<void>;

export type JobHandlers = { [N in JobName]?: JobHandler<N> };

export interface BackgroundWork {
  handlers: JobHandlers;
  sweeps: readonly Sweep[];
  /** Starts work of a shard group that is not a sweep. */
  startAdditional?: (services: Services) => AdditionalWork;
}

export interface AdditionalWork extends AsyncDisposable {
  watched: readonly DueWork[];
}

/**
 * Notifications wake workers immediately, and DueWatch finds due jobs without one. If notifications are unavailable,
 * workers poll.
 */
const POLLING = { pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 600 } as const;
/** The shortest time between two checks of DueWatch that wake the workers of a job. */
const WAKE_INTERVAL_MS = 1_000;

/**
 * Starts the workers of jobs, and the sweeps of each shard group. Disposal waits for running work, for at most a part of
 * SHUTDOWN_MS.
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
    startGroupWork(groupServices, names, work),
  );
  return {
    async [Symbol.asyncDispose]() {
      const workers = names.map((name) => boss.offWork(name, { wait: true }));
      const localWorkers = stopLocalWorkers.map((stop) => stop());
      const jobs = endWithin(
        Promise.all([...workers, ...localWorkers]),
        getStopWorkMs(services.config),
      );
      await Promise.all([groups[Symbol.asyncDispose](), jobs]);
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

/** Lets this process do work of a job without the queue. Returns a function that stops the work. */
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

/** Starts the sweeps and the additional work of one shard group. */
function startGroupWork(
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
      intervalMsMin: WAKE_INTERVAL_MS,
      onDue: () => queue.wake(name),
    });
  }
  const sweeping = runSweeps(services, [...sweeps, createSupervision(queue)], {
    watch,
    signal: stopping.signal,
  });
  watch.start();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      const watching = watch[Symbol.asyncDispose]();
      const ended = endWithin(Promise.all([watching, sweeping]), getStopWorkMs(services.config));
      // Both stop in parallel, so that each has the full time.
      await Promise.all([additional?.[Symbol.asyncDispose](), ended]);
    },
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

/** The interval between checks for added and removed shard groups. */
const POLL_MS = 10_000;

/**
 * Starts the work of each shard group. `start` starts the work of one group, with services whose database is limited to
 * it, and returns a resource whose disposal ends the work.
 */
async function startByGroup<S extends Services>(
  services: S,
  start: (groupServices: S) => AsyncDisposable,
): Promise<AsyncDisposable> {
  const running = new Map<string, AsyncDisposable>();
  const outage = new Outage(services.log, 'project_groups.unreadable');
  const stopping = new AbortController();
  const followGroups = async () => {
    const groups = await services.database.listShardGroups();
    const removedNames = new Set(running.keys());
    for (const group of groups) {
      removedNames.delete(group.name);
      if (running.has(group.name) || stopping.signal.aborted) continue;
      running.set(group.name, start(limitToShardGroup(services, group)));
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
      await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => {});
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
export function limitToShardGroup<S extends Services>(services: S, group: ShardGroup): S {
  if (group === services.database.shardGroup) return services;
  return { ...services, database: { ...services.database, shardGroup: group } };
}
