import { defineConfig } from 'vitest/config';
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
    // A server that is a process of its own chooses its way by itself.
    exclude: ['test/clients/examples.test.ts'],
    env: { TEST_DATABASE: 'embedded', TEST_FRONT: 'yoga' },
  },
};

const reason = noPostgres();
if (reason) console.warn(`What is tested on PostgreSQL is left out: ${reason}.`);

export const all = [embedded, ...(reason ? [] : [postgres]), yoga];

export default defineConfig({ test: { ...run, projects: all } });
