import { runSlice } from '../domain/operation/read/slice.ts';
import type { Handler } from './job-worker.ts';

/** Reads some pages; a job of its own reads the others, if there are more. */
export const runReadJob: Handler<'run-read'> = (services, run, signal) =>
  runSlice(services, run, signal);
