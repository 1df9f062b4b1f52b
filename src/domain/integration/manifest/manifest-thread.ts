/** The thread that parses large texts. A text at the limits blocks this thread and not the process's requests. */
import { parentPort } from 'node:worker_threads';
import { type Job, readJob } from './manifest-text.ts';

parentPort?.on('message', (job: Job) => parentPort?.postMessage(readJob(job)));
