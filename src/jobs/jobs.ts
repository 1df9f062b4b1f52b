/**
 * The names, payloads and policies of jobs. A payload contains only ids of rows, so that a job that runs late or twice
 * works on their current state.
 */
import { z } from 'zod';
import type { LocalWorkOptions } from './local-work.ts';

export interface JobPolicy {
  payload: z.ZodObject;
  /** True if at most one job of a key waits: a second one is dropped until the first has started. */
  onceForKey?: boolean;
  /** A job that runs longer is considered lost, and runs again. */
  expireInSeconds: number;
  /** The maximum number of jobs that one worker fetches together and runs in parallel. */
  batchSize: number;
  /** The number of workers in each process. */
  concurrency: number;
  /** The maximum number of workers that work for one group at the same time. */
  concurrencyOfGroup: number;
  /**
   * The limits of work that a process begins and does itself, in addition to its workers. Absent if all work goes
   * through the queue.
   */
  localWork?: LocalWorkOptions;
}

/** A job of an older version without a project id finds no row. Sweeps recover its work. */
const projectId = z.string().default('');

export const JOBS = {
  /** A write that is due: its first attempt or a later one. */
  'run-write': {
    payload: z.object({ projectId, taskId: z.string() }),
    onceForKey: true,
    expireInSeconds: 300,
    batchSize: 2,
    concurrency: 8,
    concurrencyOfGroup: 6,
    localWork: { runningMax: 32, runningOfGroupMax: 24, waitingMax: 1_000 },
  },
  /** Some pages of a read. The next job reads the rest. */
  'run-read': {
    payload: z.object({ projectId, operationId: z.string() }),
    onceForKey: true,
    expireInSeconds: 120,
    batchSize: 1,
    concurrency: 8,
    concurrencyOfGroup: 4,
    localWork: { runningMax: 8, runningOfGroupMax: 4, waitingMax: 1_000 },
  },
  /** Some rows of an erasure. The next job removes the rest. */
  'run-erasure': {
    payload: z.object({ projectId: z.string(), id: z.string() }),
    onceForKey: true,
    expireInSeconds: 300,
    batchSize: 1,
    concurrency: 2,
    concurrencyOfGroup: 2,
  },
} as const satisfies Record<string, JobPolicy>;

export type JobName = keyof typeof JOBS;
export type JobPayload<N extends JobName> = z.output<(typeof JOBS)[N]['payload']>;

/** How all jobs are retried. The wait increases with each failure. The limit is never reached in practice. */
export const RETRIES = {
  retryLimit: 100_000,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
} as const;

/** The shortest heartbeat that the queue allows. A job of a killed worker runs again after this time. */
export const HEARTBEAT_SECONDS = 10;
/** How long ended jobs are retained. No code reads them: their results are in the rows. */
export const RETENTION_SECONDS = 60;
