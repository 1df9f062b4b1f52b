/** A worker's first database: it opens while the worker loads the product, which takes as long. */
import type { Engine } from '../../../../src/database/embedded/engine.ts';
import { startMemoryEngine } from './memory-engine.ts';

let first: Promise<Engine> | null =
  process.env.TEST_DATABASE === 'postgres' ? null : startMemoryEngine();
// Whoever takes it is told.
first?.catch(() => {});

/** Null where it is taken already. */
export function takeFirstEngine(): Promise<Engine> | null {
  const taken = first;
  first = null;
  return taken;
}
