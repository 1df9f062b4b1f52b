/** An embedded database in memory, in a thread of its own. */
import { Engine } from '../../../../src/database/embedded/engine.ts';

/** Where the run has its snapshot. Of the environment: what is preloaded can't ask vitest. */
export function snapshotPath(): string {
  const { TEST_SNAPSHOT: path } = process.env;
  if (!path) throw new Error('The run has made no snapshot.');
  return path;
}

/** Migrated and empty, of one's own. */
export function startMemoryEngine(): Promise<Engine> {
  return Engine.start({
    module: new URL('engine-thread.ts', import.meta.url),
    data: snapshotPath(),
    onCrash: (failure) => {
      throw failure;
    },
  });
}
