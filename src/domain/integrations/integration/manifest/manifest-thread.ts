/** Parses large texts in a thread, so that a text at the limits does not block the requests of the process. */
import { parentPort } from 'node:worker_threads';
import { type ProviderReadJob, type ReadJob, readText } from './manifest-text.ts';

parentPort?.on('message', (job: ReadJob | ProviderReadJob) =>
  parentPort?.postMessage(readText(job)),
);
