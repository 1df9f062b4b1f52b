/** The thread of a test's database: in memory, from the snapshot whose path it is given. */
import { workerData } from 'node:worker_threads';
import { runEngine } from '../../../../src/database/embedded/run-engine.ts';
import { openSnapshot } from './open-snapshot.ts';

await runEngine((options) => openSnapshot(workerData as string, options));
