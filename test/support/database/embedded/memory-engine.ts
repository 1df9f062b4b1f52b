/** Starts embedded databases in memory, each in its own thread. */
import { Engine, type EngineOptions } from '../../../../src/database/connect/embedded/engine.ts';

/**
 * Returns the path of the run's snapshot. It is an environment variable because preloaded modules cannot use
 * vitest's `inject`.
 */
export function getSnapshotPath(): string {
  const { TEST_SNAPSHOT: path } = process.env;
  if (!path) throw new Error('TEST_SNAPSHOT is not set. Run the test with vitest.');
  return path;
}

/** Starts a migrated, empty database that is not shared. */
export function startMemoryEngine(
  options: Pick<EngineOptions, 'closeTimeoutMs'> = {},
): Promise<Engine> {
  return Engine.start({
    module: new URL('engine-thread.ts', import.meta.url),
    data: getSnapshotPath(),
    onCrash: (failure) => {
      throw failure;
    },
    ...options,
  });
}
