/** Opens a worker's first database while the worker loads the product, which takes about as long. */
import type { Engine } from '../../../../src/database/connect/embedded/engine.ts';
import { startMemoryEngine } from './memory-engine.ts';

const { TEST_DATABASE, TEST_SNAPSHOT } = process.env;
// Processes that a test forks preload this module too, but have their own databases and no `TEST_DATABASE`.
let firstEngine: Promise<Engine> | null =
  TEST_DATABASE === 'embedded' && TEST_SNAPSHOT ? startMemoryEngine() : null;
// The caller of `takeFirstEngine` gets the error. The rejection must not be unhandled before that.
firstEngine?.catch(() => {});

/** Returns null if the database was taken before. */
export function takeFirstEngine(): Promise<Engine> | null {
  const engine = firstEngine;
  firstEngine = null;
  return engine;
}
