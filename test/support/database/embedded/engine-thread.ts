/** Thread of a test's database. It opens the snapshot whose path is in `workerData` in memory. */
import { workerData } from 'node:worker_threads';
import { runEngine } from '../../../../src/database/connect/embedded/run-engine.ts';
import { openSnapshot } from './open-snapshot.ts';

await runEngine((options) => openSnapshot(workerData as string, options));
