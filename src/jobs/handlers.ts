/** The handlers of jobs. */
import { eraseSlice } from '../domain/erasure/erase-slice.ts';
import { runSlice } from '../domain/operation/read/slice.ts';
import { runWrite } from '../domain/operation/write/write-run.ts';
import type { JobHandlers } from './job-worker.ts';

export const HANDLERS = {
  /** Attempts a write once. If the attempt fails, another job runs the next one. */
  'run-write': async (services, { projectId, taskId: id }) => {
    await runWrite(services, { projectId, id });
  },
  /** Reads some pages. Another job reads the rest. */
  'run-read': runSlice,
  /** Removes some rows. Another job removes the rest. */
  'run-erasure': eraseSlice,
} satisfies JobHandlers;
