import { defineConfig } from 'vitest/config';
import { noPostgres } from './test/support/database/postgres-binaries.ts';
import { common, embedded, run } from './vitest.config.ts';

/** Everything that reaches the database, on PostgreSQL. */
const postgres = {
  test: {
    ...common,
    name: 'postgres',
    include: [
      'test/{copies,domain,graphql,flows,database,events,jobs,deliveries,work}/**/*.test.ts',
    ],
    env: { TEST_DATABASE: 'postgres' },
  },
};

const reason = noPostgres();
if (reason) console.warn(`Tests on PostgreSQL are skipped: ${reason}.`);

/** Every part of the bench with tiny counts. Its peers need `npm ci --prefix bench`. */
const bench = {
  test: {
    name: 'bench',
    include: ['bench/smoke.test.ts'],
    experimental: common.experimental,
  },
};

export const all = [embedded, ...(reason ? [] : [postgres, bench])];

export default defineConfig({ test: { ...run, projects: all } });
