import { eraseSlice } from '../domain/erasure/erase-slice.ts';
import type { Handler } from './job-worker.ts';

/** Removes some rows; a job of its own removes the others, if there are more. */
export const runErasureJob: Handler<'run-erasure'> = (services, key, signal) =>
  eraseSlice(services, key, signal);
