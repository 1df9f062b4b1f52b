import { defineConfig } from 'vitest/config';
import { common } from './vitest.config.ts';

const HOUR_MS = 3_600_000;

/** Processes that are killed while they work, on PostgreSQL: minutes, so not part of the ordinary run. */
export default defineConfig({
  test: {
    maxWorkers: 1,
    projects: [
      {
        test: {
          ...common,
          name: 'postgres',
          include: ['test/faults/**/*.test.ts'],
          env: { TEST_DATABASE: 'postgres' },
          testTimeout: HOUR_MS,
        },
      },
    ],
  },
});
