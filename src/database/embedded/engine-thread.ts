/** The thread of the database in the data folder: what takes long there holds up nothing else of the process. */
import { workerData } from 'node:worker_threads';
import { openFolder } from './open-folder.ts';
import { runEngine } from './run-engine.ts';

await runEngine((options) => openFolder(workerData as string, options));
