import { defineConfig } from 'vitest/config';
import { noPgbouncer } from './test/support/database/pgbouncer.ts';
import { noPostgres } from './test/support/database/postgres-binaries.ts';
import { common, run } from './vitest.config.ts';

/** What happens over time, through a pooler that gives each transaction another connection. */
const pooler = {
  test: {
    ...common,
    name: 'pooler',
    include: [
      'test/{flows,events,jobs,deliveries}/**/*.test.ts',
      'test/database/sessions/changed-columns.test.ts',
    ],
    env: { TEST_DATABASE: 'postgres', TEST_DATABASE_POOLER: 'pgbouncer' },
  },
};

const reason = noPostgres() ?? noPgbouncer();
if (reason) console.warn(`What is tested through a pooler is left out: ${reason}.`);

export const throughPooler = reason ? [] : [pooler];

export default defineConfig({
  test: reason ? { include: [], passWithNoTests: true } : { ...run, projects: throughPooler },
});
