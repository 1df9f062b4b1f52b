import { defineConfig } from 'vitest/config';
import { common, run } from './vitest.config.ts';

const { TEST_CITUS_URL = '', TEST_DATABASE_POOLER = '' } = process.env;
if (!TEST_CITUS_URL) {
  console.warn(
    'What is tested on Citus is left out: TEST_CITUS_URL names no cluster (postgresql://user@coordinator,worker,worker).',
  );
}

/** What is asked of one server alone. */
const ONE_SERVER = [
  // PostgreSQL's plans, of which a cluster shows the coordinator's part: each shard's own are those of one server.
  'test/database/planner/plans.test.ts',
  'test/database/planner/vacuumed-tables.test.ts',
  // Statements are counted: one for several projects is sent to each of their shards.
  'test/database/statements.test.ts',
  // Databases of its own, made as copies of one: a cluster has a database on each node, which know of each other.
  'test/database/pooler.test.ts',
];

/**
 * What reaches the database, on a Citus cluster that whoever runs it has; with TEST_DATABASE_POOLER=pgbouncer through
 * PgBouncer before its coordinator.
 */
const citus = {
  test: {
    ...common,
    name: 'citus',
    include: TEST_CITUS_URL
      ? [
          'test/{copies,domain,graphql,flows,database,events,jobs,deliveries,work}/**/*.test.ts',
          'test/{browser,clients,commands,console,demo,metrics,rest,server,tracing}/**/*.test.ts',
        ]
      : [],
    exclude: ONE_SERVER,
    // Statements take several times as long as on one server.
    testTimeout: 180_000,
    env: { TEST_DATABASE: 'citus', TEST_CITUS_URL, TEST_DATABASE_POOLER },
  },
};

export default defineConfig({
  test: { ...run, projects: [citus], passWithNoTests: true },
});
