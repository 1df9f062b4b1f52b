/** The functions that run jobs, by the job's name. */
import { continueErasure } from '../domain/erasure/continue-erasure.ts';
import { continueRead } from '../domain/operation/read/continue-read.ts';
import { runWrite } from '../domain/operation/write/write-run.ts';
import type { JobHandlers } from './job-worker.ts';

export const HANDLERS = {
  /** Attempts a write once. If the attempt fails, another job runs the next one. */
  'run-write': async (services, { projectId, taskId: id }) => {
    await runWrite(services, { projectId, id });
  },
  /** Reads some pages. Another job reads the rest. */
  'run-read': continueRead,
  /** Removes some rows. Another job removes the rest. */
  'run-erasure': continueErasure,
} satisfies JobHandlers;
