import { runSlice } from '../domain/operation/read/slice.ts';
import type { Handler } from './job-worker.ts';

/** Some pages; the others, where there are more, are a job of their own. */
export const runReadJob: Handler<'run-read'> = (services, { operationId }, signal) =>
  runSlice(services, operationId, signal);
