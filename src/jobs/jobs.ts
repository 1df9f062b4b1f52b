/**
 * The jobs: names, payloads and policies. A payload contains only ids of rows, so that a job that runs late or twice
 * works on their current state.
 */
import { z } from 'zod';
import type { OwnWorkOptions } from './local-work.ts';

export interface JobPolicy {
  payload: z.ZodObject;
  /** True if at most one job of a key waits: another one is dropped while the first has not started. */
  onceForKey?: boolean;
  /** A job that runs longer is considered lost, and runs again. */
  expireInSeconds: number;
  /** Jobs that one worker fetches together and runs in parallel. */
  batchSize: number;
  /** Workers in each process. */
  concurrency: number;
  /** The most workers that work for one group at a time. */
  concurrencyOfGroup: number;
  /**
   * Limits of the work that a process begins and does itself, besides its workers. Without it, all work goes through
   * the queue.
   */
  ownWork?: OwnWorkOptions;
}

/** A job of an older version without a project id finds no row. The sweeps start its work again. */
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
    ownWork: { runningMax: 32, runningOfGroupMax: 24, waitingMax: 1_000 },
  },
  /** Some pages of a read. The next job reads the rest. */
  'run-read': {
    payload: z.object({ projectId, operationId: z.string() }),
    onceForKey: true,
    expireInSeconds: 120,
    batchSize: 1,
    concurrency: 8,
    concurrencyOfGroup: 4,
    ownWork: { runningMax: 8, runningOfGroupMax: 4, waitingMax: 1_000 },
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

/** Retries of all jobs. The wait increases with each failure, and retries practically never end. */
export const RETRIES = {
  retryLimit: 100_000,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
} as const;

/** The shortest heartbeat that the queue allows. A job of a killed worker runs again after this time. */
export const HEARTBEAT_SECONDS = 10;
/** How long ended jobs are kept. They are not needed: their results are in the rows. */
export const KEPT_SECONDS = 60;
