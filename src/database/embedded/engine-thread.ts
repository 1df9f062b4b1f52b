/** The thread of the database in the data folder: what takes long there holds up nothing else of the process. */
import { workerData } from 'node:worker_threads';
import { copyFiles } from './copy-files.ts';
import { openFolder } from './open-folder.ts';
import { runEngine } from './run-engine.ts';

const dataDir = workerData as string;
await runEngine(
  (options) => openFolder(dataDir, options),
  (to) => copyFiles(dataDir, to),
);
