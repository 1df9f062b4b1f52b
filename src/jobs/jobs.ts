/**
 * The jobs: names, payloads and how they are run. A payload names rows and holds no data of its own,
 * so that a job that runs late, or twice, works on the rows as they are now.
 */
import { z } from 'zod';
import type { OwnWorkOptions } from './own-work.ts';

export interface JobPolicy {
  payload: z.ZodObject;
  /** At most one job of a key waits: a second one is dropped while the first has not begun. */
  onceForKey?: boolean;
  /** A job that runs longer is given up and run again. */
  expireInSeconds: number;
  /** Fetched together and run side by side by one worker. */
  batchSize: number;
  /** Workers in each process. */
  concurrency: number;
  /** Of these, how many may work for one group at a time. */
  concurrencyOfGroup: number;
  /** What a process does beside it of the work that it begins itself; without it, all of it goes through the queue. */
  own?: OwnWorkOptions;
}

/** A job of a version that did not name it finds no row; the sweeps begin its work again. */
const projectId = z.string().default('');

export const JOBS = {
  /** A write whose time has come: its first attempt, or another one. */
  'run-write': {
    payload: z.object({ projectId, taskId: z.string() }),
    onceForKey: true,
    expireInSeconds: 300,
    batchSize: 2,
    concurrency: 8,
    concurrencyOfGroup: 6,
    own: { runningMax: 32, runningOfGroupMax: 24, waitingMax: 1_000 },
  },
  /** Some pages of a read; the next job in line reads the rest. */
  'run-read': {
    payload: z.object({ projectId, operationId: z.string() }),
    onceForKey: true,
    expireInSeconds: 120,
    batchSize: 1,
    concurrency: 8,
    concurrencyOfGroup: 4,
    own: { runningMax: 8, runningOfGroupMax: 4, waitingMax: 1_000 },
  },
  /** Some rows of what is being erased; the next job in line removes the rest. */
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

/** Shared by all jobs: failures wait a little longer each time, and are never given up. */
export const RETRIES = {
  retryLimit: 100_000,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
} as const;

/** The shortest that the queue allows: a job of a killed worker runs again after this. */
export const HEARTBEAT_SECONDS = 10;
/** Ended jobs are not needed: their results are in the rows. */
export const KEPT_SECONDS = 60;
