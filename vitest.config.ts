import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig } from 'vitest/config';
import { memoryFolder } from './test/support/database/memory-folder.ts';
import { LongestFirst } from './test/support/sequencer.ts';

// Workers load what an earlier run has compiled.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

// Databases and all other files of a run, unless it is told where to put them.
process.env.TMPDIR ??= memoryFolder() ?? tmpdir();

export const common = {
  globalSetup: 'test/support/global-setup.ts',
  setupFiles: ['test/support/around-each-file.ts', 'test/support/database/after-each-file.ts'],
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // A state that is waited for comes late on a machine that is busy: a second is no sign of a fault.
  expect: { poll: { timeout: 20_000 } },
  // A worker loads the modules once for all of its files.
  isolate: false,
  execArgv: [
    // What a test allocates is mostly garbage soon: with room for it, little of it is looked at again and again.
    '--max-semi-space-size=64',
    '--import',
    pathToFileURL(join(import.meta.dirname, 'test/support/preload.ts')).href,
  ],
  // Tests run as the product does: Node itself, no bundler between.
  experimental: { viteModuleRunner: false, nodeLoader: false },
};

/** All behaviour on the embedded database. */
export const embedded = {
  test: {
    ...common,
    name: 'embedded',
    include: ['test/**/*.test.ts'],
    exclude: ['test/faults/**'],
    env: { TEST_DATABASE: 'embedded' },
  },
};

/** Of memory, with the databases of its apps and what its tests start. */
const WORKER_BYTES = 3 * 1024 ** 3;
/** Two more than there are cores: while tests wait, others have something to do. */
const maxWorkers = Math.max(
  2,
  Math.min(availableParallelism() + 2, Math.floor(totalmem() / WORKER_BYTES), 6),
);

export const run = { maxWorkers, sequence: { sequencer: LongestFirst } };

export default defineConfig({ test: { ...run, projects: [embedded] } });
