/** The job queue, in the same database as the rows that jobs are about: a job commits with its change or not at all. */
import { fromPrisma, PgBoss } from 'pg-boss';
import type { Database } from '../database/database.ts';
import type { Transaction } from '../database/transaction.ts';
import type { Log } from '../log.ts';
import { Outage } from '../work/outage.ts';
import {
  HEARTBEAT_SECONDS,
  JOBS,
  type JobName,
  type JobPayload,
  type JobPolicy,
  KEPT_SECONDS,
  RETRIES,
} from './jobs.ts';

export interface EnqueueOptions {
  /** By the database's clock. Default: at once. */
  startAfter?: Date;
  /** Required for a job that is declared with `onceForKey`. */
  singletonKey?: string;
  /** The group whose work it is: one group never takes all workers. */
  group?: string;
}

export interface Queue {
  /** Call it in the transaction of the change that the job follows from. */
  enqueue<N extends JobName>(
    tx: Transaction,
    name: N,
    payload: JobPayload<N>,
    options?: EnqueueOptions,
  ): Promise<void>;
}

export interface JobQueue extends Queue, AsyncDisposable {
  /** For jobs/job-worker.ts alone. */
  boss: PgBoss;
}

/** Long: the gateway does not use what these timers do. */
const IDLE_SECONDS = 3_600;
const REPORT_MS = 10_000;

/** Creates the queue's tables if they are missing. Enqueueing needs no worker in this process. */
export async function openQueue({ jobs }: Pick<Database, 'jobs'>, log: Log): Promise<JobQueue> {
  const boss = new PgBoss({
    ...jobs,
    schema: 'pgboss',
    useListenNotify: true,
    schedule: false,
    // Workers do it: jobs/job-worker.ts.
    supervise: false,
    superviseIntervalSeconds: HEARTBEAT_SECONDS / 2,
    monitorIntervalSeconds: HEARTBEAT_SECONDS / 2,
    maintenanceIntervalSeconds: KEPT_SECONDS,
    flowIntervalSeconds: IDLE_SECONDS,
    bamIntervalSeconds: IDLE_SECONDS,
  });
  // Every worker repeats the same error, and nothing tells when it is over.
  const outage = new Outage(log, 'job_queue.failed', { repeatMs: REPORT_MS });
  boss.on('error', (error) => outage.failed(error));
  boss.on('warning', ({ message, data }) =>
    log.info({ warning: message, data }, 'job_queue.warned'),
  );
  await boss.start();
  await declareQueues(boss);
  return {
    boss,
    async enqueue(tx, name, payload, { startAfter, singletonKey, group } = {}) {
      const { onceForKey, payload: schema }: JobPolicy = JOBS[name];
      if (onceForKey && !singletonKey) throw new Error(`A job ${name} needs a singletonKey.`);
      await boss.send(name, schema.parse(payload), {
        db: fromPrisma(tx),
        ...(startAfter && { startAfter }),
        ...(singletonKey && { singletonKey }),
        ...(group && { group: { id: group } }),
      });
    },
    // The workers have stopped before; a job that is still held is run again by another process.
    [Symbol.asyncDispose]: () => boss.stop({ graceful: false, close: false }),
  };
}

async function declareQueues(boss: PgBoss): Promise<void> {
  const existing = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
  for (const [name, policy] of Object.entries<JobPolicy>(JOBS)) {
    const options = {
      ...RETRIES,
      expireInSeconds: policy.expireInSeconds,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      deleteAfterSeconds: KEPT_SECONDS,
      notify: true,
    };
    const queue = existing.get(name) as Record<string, unknown> | undefined;
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
