/** Parses large texts in a thread, so that a text at the limits does not block the requests of the process. */
import { parentPort } from 'node:worker_threads';
import { type ReadJob, readJob } from './manifest-text.ts';

parentPort?.on('message', (job: ReadJob) => parentPort?.postMessage(readJob(job)));
