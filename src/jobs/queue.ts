/** The job queue. It is in the gateway's database, so that a job commits with the change that causes it. */
import { SpanKind, type Tracer } from '@opentelemetry/api';
import {
  type ConnectionOptions,
  fromPrisma,
  PgBoss,
  type QueueResult,
  type SendOptions,
} from 'pg-boss';
import type { Database } from '../database/database.ts';
import type { Transaction } from '../database/transaction.ts';
import type { Log } from '../log.ts';
import { findCurrentTraceparent, inTrace } from '../spans.ts';
import { Outage } from '../work/outage.ts';
import {
  HEARTBEAT_SECONDS,
  JOBS,
  type JobName,
  type JobPayload,
  type JobPolicy,
  RETENTION_SECONDS,
  RETRIES,
} from './jobs.ts';
import type { LocalWork } from './local-work.ts';

export interface EnqueueOptions {
  /** The earliest start, by the database's clock. Default: immediately. */
  startAfter?: Date;
  /** Required for a job that is declared with `onceForKey`. */
  singletonKey?: string;
  /** The group of the work, which limits how many workers it can use. */
  group?: string;
}

interface BeginOptions extends EnqueueOptions {
  singletonKey: string;
  group: string;
  /** Replaces the job's handler if the work runs in this process. */
  run?: (signal: AbortSignal) => Promise<unknown>;
}

interface Queue {
  /** Enqueues a job. Call it in the transaction of the change that causes the job. */
  enqueue<N extends JobName>(
    tx: Transaction,
    name: N,
    payload: JobPayload<N>,
    options?: EnqueueOptions,
  ): Promise<void>;
  /**
   * Starts work in this process if it has workers and capacity, and enqueues a job if not. Call it after the commit of
   * the change that causes the work. Never throws, because a sweep finds lost work by its rows.
   */
  begin<N extends JobName>(name: N, payload: JobPayload<N>, options: BeginOptions): Promise<void>;
}

export interface JobQueue extends Queue, AsyncDisposable {
  /** Returns the SQL of `DueWork.createDueTimeSql` for jobs that wait for a worker. */
  createDueTimeSql(name: JobName): string;
  /** SQL: the current time if there are ended jobs, which need supervision. */
  endedDueTimeSql: string;
  /** Makes workers of this process fetch jobs. */
  wake(name: JobName): void;
  /** Returns the last count of jobs by queue and state, which a worker has stored. */
  counts(): Promise<{ queue: string; state: string; count: number }[]>;
  /** Only for jobs/job-worker.ts. */
  boss: PgBoss;
  /** The workers that do work of this process without the queue. Only for jobs/job-worker.ts. */
  localWorkers: Map<JobName, LocalWorker>;
}

const SCHEMA = 'pgboss';
/** The interval of timers of the queue whose functions the gateway does not use. */
const UNUSED_TIMER_SECONDS = 3_600;
const LOG_INTERVAL_MS = 10_000;

interface LocalWorker {
  work: LocalWork;
  run(payload: unknown, signal: AbortSignal): Promise<void>;
}

/** Creates the queue's tables if they are missing. Enqueueing needs no worker in this process. */
export async function openQueue(
  { jobs }: Pick<Database, 'jobs'>,
  log: Log,
  tracer: Tracer | null = null,
): Promise<JobQueue> {
  const boss = createBoss(jobs, log);
  await boss.start();
  await declareQueues(boss);
  const localWorkers: JobQueue['localWorkers'] = new Map();
  return {
    boss,
    counts: async () => (await boss.getQueues()).flatMap(toCounts),
    localWorkers,
    createDueTimeSql,
    endedDueTimeSql: `select now() from ${SCHEMA}.job limit 1`,
    wake: (name) => jobs.wake(name),
    async enqueue(tx, name, payload, options = {}) {
      await boss.send(name, ...createSendArguments(name, payload, options, { db: fromPrisma(tx) }));
    },
    begin: createBegin(boss, { localWorkers, log, tracer }),
    // The workers have stopped already. Another process runs the jobs that this one still holds.
    [Symbol.asyncDispose]: () => boss.stop({ graceful: false, close: false }),
  };
}

interface BeginServices {
  localWorkers: JobQueue['localWorkers'];
  log: Log;
  tracer: Tracer | null;
}

function createBegin(boss: PgBoss, { localWorkers, log, tracer }: BeginServices): Queue['begin'] {
  return async (name, payload, { run, ...options }) => {
    const worker = localWorkers.get(name);
    const span = createJobSpan(name, payload, findCurrentTraceparent());
    const doWork = async (signal: AbortSignal) => {
      try {
        await inTrace({ tracer }, span, async () =>
          run ? run(signal) : worker?.run(payload, signal),
        );
      } catch (error) {
        log.warn({ err: error, job: name, data: payload }, 'job.failed');
      }
    };
    if (worker?.work.take({ group: options.group, run: doWork })) return;
    try {
      await boss.send(name, ...createSendArguments(name, payload, options));
    } catch (error) {
      log.warn({ err: error, job: name, data: payload }, 'job.not_enqueued');
    }
  };
}

function createBoss({ db, options }: Pick<Database['jobs'], 'db' | 'options'>, log: Log): PgBoss {
  const boss = new PgBoss({
    db,
    schema: SCHEMA,
    ...options,
    useListenNotify: true,
    schedule: false,
    // The workers supervise the queue: jobs/job-worker.ts.
    supervise: false,
    superviseIntervalSeconds: HEARTBEAT_SECONDS / 2,
    monitorIntervalSeconds: HEARTBEAT_SECONDS / 2,
    maintenanceIntervalSeconds: RETENTION_SECONDS,
    flowIntervalSeconds: UNUSED_TIMER_SECONDS,
    bamIntervalSeconds: UNUSED_TIMER_SECONDS,
  });
  // Every worker repeats the same error, and no event reports its end, so the log repeats it at an interval.
  const outage = new Outage(log, 'job_queue.failed', { repeatMs: LOG_INTERVAL_MS });
  boss.on('error', (error) => outage.recordFailure(error));
  boss.on('warning', ({ message, data }) =>
    log.info({ warning: message, data }, 'job_queue.warned'),
  );
  return boss;
}

/** No index finds the waiting job that starts first. While a job waits, jobs are therefore checked every second. */
function createDueTimeSql(name: JobName): string {
  const waitingJobs = `select from ${SCHEMA}.job where name = '${name}' and state < 'active' and not blocked`;
  return `case when exists (${waitingJobs} and start_after <= ${SCHEMA}.job_now()) then now()
    when exists (${waitingJobs}) then now() + interval '1 second' end`;
}

function toCounts({ name: queue, readyCount, deferredCount, activeCount }: QueueResult) {
  const counts = { ready: readyCount, deferred: deferredCount, active: activeCount };
  return Object.entries(counts).map(([state, count]) => ({ queue, state, count }));
}

function createSendArguments<N extends JobName>(
  name: N,
  payload: JobPayload<N>,
  { startAfter, singletonKey, group }: EnqueueOptions,
  connection: ConnectionOptions = {},
): [payload: object, options: SendOptions] {
  const { onceForKey, payload: schema }: JobPolicy = JOBS[name];
  if (onceForKey && !singletonKey) throw new Error(`Bug: a job ${name} needs a singletonKey.`);
  const traceparent = findCurrentTraceparent();
  return [
    { ...schema.parse(payload), ...(traceparent && { [TRACEPARENT]: traceparent }) },
    {
      ...connection,
      ...(startAfter && { startAfter }),
      ...(singletonKey && { singletonKey }),
      ...(group && { group: { id: group } }),
    },
  ];
}

async function declareQueues(boss: PgBoss): Promise<void> {
  const existingQueues = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
  for (const [name, policy] of Object.entries<JobPolicy>(JOBS)) {
    const options = {
      ...RETRIES,
      expireInSeconds: policy.expireInSeconds,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      deleteAfterSeconds: RETENTION_SECONDS,
      notify: true,
    };
    const queue = existingQueues.get(name) as Record<string, unknown> | undefined;
    if (!queue) {
      await boss.createQueue(name, {
        ...options,
        policy: policy.onceForKey ? 'short' : 'standard',
      });
    } else if (Object.entries(options).some(([key, value]) => queue[key] !== value)) {
      await boss.updateQueue(name, options);
    }
  }
}

/** The member of a job's data, next to its payload, with which the process that runs the job continues the trace. */
const TRACEPARENT = 'traceparent';

/** Returns the options of a job's span. Its attributes are the payload, which contains only ids. */
export function createJobSpan(name: JobName, payload: object, parent: string | null) {
  const ids = Object.entries(payload).map(([key, id]) => [`gateway.job.${key}`, String(id)]);
  const attributes: Record<string, string> = Object.fromEntries(ids);
  return { name: `job ${name}`, kind: SpanKind.CONSUMER, parent, attributes };
}

/** Returns the trace of a job from its data. Null if the job was enqueued outside of traces. */
export function findTraceparent(data: unknown): string | null {
  const traceparent = (data as { [TRACEPARENT]?: unknown } | null)?.[TRACEPARENT];
  return typeof traceparent === 'string' ? traceparent : null;
}
