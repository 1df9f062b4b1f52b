import { defineConfig } from 'vitest/config';
import { common } from './vitest.config.ts';

const HOUR_MS = 3_600_000;
/** The short form is for CI, where time is short: what mostly waits does so side by side. */
const AT_ONCE = process.env.FAULTS_SHORT === '1' ? 3 : 1;
/** They measure times and rates, which needs the machine to themselves. */
const MEASURED = [
  'attack',
  'embedded-load',
  'input-stalls',
  'live',
  'noisy-neighbours',
  'overload',
].map((name) => `test/faults/${name}.test.ts`);

const faults = {
  ...common,
  // Statements are looked at where they are tested: here tests open databases of their own.
  setupFiles: 'test/support/around-each-file.ts',
  env: { TEST_DATABASE: 'postgres' },
  testTimeout: HOUR_MS,
};

/** Processes that are killed while they work, on PostgreSQL: minutes, so not part of the ordinary run. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...faults,
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          exclude: MEASURED,
          maxWorkers: AT_ONCE,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...faults,
          name: 'measured',
          include: MEASURED,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
