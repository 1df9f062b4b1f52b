/** A worker's first database: it opens while the worker loads the product, which takes as long. */
import type { Engine } from '../../../../src/database/embedded/engine.ts';
import { startMemoryEngine } from './memory-engine.ts';

const { TEST_DATABASE, TEST_SNAPSHOT } = process.env;
// Processes that a test forks are preloaded as it is, and have databases of their own.
let first: Promise<Engine> | null =
  TEST_DATABASE === 'embedded' && TEST_SNAPSHOT ? startMemoryEngine() : null;
// Whoever takes it is told.
first?.catch(() => {});

/** Null where it is taken already. */
export function takeFirstEngine(): Promise<Engine> | null {
  const taken = first;
  first = null;
  return taken;
}
