import { defineConfig } from 'vitest/config';
import { noPgbouncer } from './test/support/database/pgbouncer.ts';
import { noPostgres } from './test/support/database/postgres-binaries.ts';
import { common, embedded, run } from './vitest.config.ts';

/** What reaches the database, on PostgreSQL and through Yoga's own handler; embedded runs take the short way. */
const postgres = {
  test: {
    ...common,
    name: 'postgres',
    include: [
      'test/{copies,domain,graphql,flows,database,events,jobs,deliveries,work}/**/*.test.ts',
    ],
    env: { TEST_DATABASE: 'postgres', TEST_FRONT: 'yoga' },
  },
};

/** What speaks HTTP, through Yoga's own handler. */
const yoga = {
  test: {
    ...common,
    name: 'yoga',
    include: ['test/{server,clients,contract}/**/*.test.ts'],
    env: { TEST_DATABASE: 'embedded', TEST_FRONT: 'yoga' },
  },
};

/** What happens over time, through a pooler that gives each transaction another connection. */
const pooler = {
  test: {
    ...common,
    name: 'pooler',
    include: ['test/{flows,events,jobs,deliveries}/**/*.test.ts'],
    env: { TEST_DATABASE: 'postgres', TEST_DATABASE_POOLER: 'pgbouncer' },
  },
};

const reason = noPostgres();
if (reason) console.warn(`What is tested on PostgreSQL is left out: ${reason}.`);
const noPooler = reason ?? noPgbouncer();
if (noPooler) console.warn(`What is tested through a pooler is left out: ${noPooler}.`);

export default defineConfig({
  test: {
    ...run,
    projects: [embedded, ...(reason ? [] : [postgres]), ...(noPooler ? [] : [pooler]), yoga],
  },
});
