import { runWrite } from '../domain/operation/write/write-run.ts';
import type { Handler } from './job-worker.ts';

/** One attempt; a job of its own makes the next one, if one follows. */
export const runWriteJob: Handler<'run-write'> = async (services, { projectId, taskId: id }) => {
  await runWrite(services, { projectId, id });
};
