import { runWrite } from '../domain/operation/write/write-run.ts';
import type { Handler } from './job-worker.ts';

/** One attempt; the next one, where there is one, is a job of its own. */
export const runWriteJob: Handler<'run-write'> = async (services, { taskId }) => {
  await runWrite(services, taskId);
};
