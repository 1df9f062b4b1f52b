import { defineConfig } from 'vitest/config';

const HOUR_MS = 3_600_000;

/** Processes that are killed while they work, on PostgreSQL: minutes, so not part of the ordinary run. */
export default defineConfig({
  test: {
    maxWorkers: 1,
    projects: [
      {
        test: {
          name: 'postgres',
          include: ['test/faults/**/*.test.ts'],
          env: { TEST_DATABASE: 'postgres' },
          globalSetup: 'test/support/global-setup.ts',
          testTimeout: HOUR_MS,
          hookTimeout: 60_000,
          experimental: { viteModuleRunner: false },
        },
      },
    ],
  },
});
