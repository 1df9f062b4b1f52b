import { globSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { defineConfig } from 'vitest/config';
import { getClusterSkipReason } from './test/support/database/cluster/cluster-servers.ts';
import { createMemoryFolder } from './test/support/database/memory-folder.ts';
import { getPgbouncerSkipReason } from './test/support/database/pgbouncer.ts';
import { getPostgresSkipReason } from './test/support/database/postgres-binaries.ts';
import { LongestFirst } from './test/support/sequencer.ts';

const { FAULTS_SHORT, TEST_DATABASE_POOLER = '' } = process.env;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

// Workers load modules that an earlier run compiled.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

// Databases and temporary files of a run.
process.env.TMPDIR ??= createMemoryFolder() ?? tmpdir();

/**
 * Reasons why a file or a test runs in `npm run test:all` only. A file names its reason in the comment at its top
 * (`@module-tag all/walk`), a test or a suite in its options (`{ tags: ['all/walk'] }`). `npm test` runs what has no tag.
 */
const tags = [
  {
    name: 'all/walk',
    description: 'Repeats a check for all inputs, lists, scopes, pages, providers or clients.',
  },
  {
    name: 'all/process',
    description: 'Starts and stops servers, commands or copies as processes of their own.',
  },
  {
    name: 'all/rows',
    description: 'Fills tables or sends load, to check plans, migrations, memory or fairness.',
  },
];

const NOT_TAGGED = '!all/*';

const { project: chosen = [], 'tags-filter': tagsFilters = [] } = parseArgs({
  options: {
    project: { type: 'string', multiple: true, short: 'p' },
    'tags-filter': { type: 'string', multiple: true },
  },
  strict: false,
}).values as { project?: string[]; 'tags-filter'?: string[] };

/** Lists the files whose tag `npm test` excludes. vitest would import each of them before it skips the tests. */
function listTaggedFiles(): string[] {
  const root = import.meta.dirname;
  const isTagged = (path: string) =>
    / @module-tag all\//.test(readFileSync(join(root, path), 'utf8'));
  return globSync('test/**/*.test.ts', { cwd: root }).filter(isTagged);
}

const common = {
  globalSetup: 'test/support/global-setup.ts',
  setupFiles: ['test/support/around-each-file.ts', 'test/support/database/after-each-file.ts'],
  // On a busy machine, tests take several times as long, and an awaited state may arrive late.
  testTimeout: 2 * MINUTE_MS,
  hookTimeout: 2 * MINUTE_MS,
  expect: { poll: { timeout: 60_000 } },
  // A worker loads the modules once for all of its files.
  isolate: false,
  execArgv: [
    // Most objects of a test are short-lived. A large young generation avoids scanning the others repeatedly.
    '--min-semi-space-size=64',
    '--max-semi-space-size=64',
    // Several workers share the cores, so more threads for one worker's scavenges take CPU time without saving time.
    '--no-parallel-scavenge',
    // Node warns once for each worker that it imports WebAssembly, which the parser of SQL does.
    '--disable-warning=ExperimentalWarning',
    '--import',
    pathToFileURL(join(import.meta.dirname, 'test/support/preload.ts')).href,
  ],
  // Tests run in Node itself, like the product, without a bundler.
  experimental: { viteModuleRunner: false, nodeLoader: false },
};

const embedded = {
  test: {
    ...common,
    name: 'embedded',
    include: ['test/**/*.test.ts'],
    exclude: ['test/faults/**', ...(tagsFilters.includes(NOT_TAGGED) ? listTaggedFiles() : [])],
    env: { TEST_DATABASE: 'embedded' },
  },
};

/** Folders whose tests use the database. */
const ON_DATABASE =
  'test/{backup,domain,graphql,flows,database,events,jobs,deliveries,work}/**/*.test.ts';

/** Walks over layers above the database, which does not change their results: the embedded database is enough. */
const ABOVE_DATABASE = [
  'test/domain/inputs-are-{read,shown}.test.ts',
  'test/flows/{end-user-tenancy,fuzz}.test.ts',
  'test/flows/provider-event/{declared-vendors,foreign-events,odd-requests}.test.ts',
  'test/graphql/execution/{compiled,declared-field-needs,declared-needs}.test.ts',
];

/**
 * Tests whose result PostgreSQL cannot change, for these reasons. Tests with concurrent callers or processes,
 * notifications, plans or migrations of the schema run on both databases.
 */
const ONLY_EMBEDDED = [
  // About the embedded database, or about decisions without a database.
  'test/database/connect/embedded/**',
  'test/database/cluster/node-watch.test.ts',
  'test/domain/connections/connection/{connection-scheme,session/attached-credentials}.test.ts',
  'test/domain/integrations/installation/resolve-object-aliases.test.ts',
  'test/domain/data/operation/read/read-plan.test.ts',
  'test/domain/{connections/provider/workspace,access/viewer/credential}.test.ts',
  'test/domain/integrations/integration/manifest-reader.test.ts',
  // Both databases get equal statements, which return equal rows.
  'test/database/statements/statement-counts.test.ts',
  'test/flows/credential-check.test.ts',
  'test/flows/plan/{custom-providers,project-document,revision-impacts}.test.ts',
  // Both databases read the clock of the machine, and the tests change only the clock of the process.
  'test/flows/database-clock.test.ts',
  // Requests of one caller after another, which begin no background work. `pooler` sends the statements of every query,
  // list, filter and mutation to PostgreSQL.
  'test/domain/long-lists.test.ts',
  'test/flows/{billing-plan,connection-session,define-fields,learned-account,service-account}.test.ts',
  'test/flows/connect/{admin-consent,consent-without-refresh-token,customer-pages,setup-failure}.test.ts',
  'test/flows/read/record-search{,-crm}.test.ts',
  'test/flows/write/write-{mapping,refusals,requests}.test.ts',
  'test/graphql/{agents,data/contract,connections/provider,access/viewer}/**/*.test.ts',
  'test/graphql/overview/attention-item.test.ts',
  'test/graphql/connections/connection/{account-objects,end-user-connecting,oauth-update}.test.ts',
  'test/graphql/connections/diagnosis/provider-test.test.ts',
  'test/graphql/events/{concerned-group,delivery,destination,event-topic-route,payload,subscription,topic-destination-route,typed-events}.test.ts',
  'test/graphql/execution/{limits,scopes,validation}.test.ts',
  'test/graphql/integrations/installation/{installation,object-metadata,end-user-refused-choices}.test.ts',
  'test/graphql/integrations/{custom-provider/custom-provider,integration/integration}.test.ts',
  'test/graphql/data/operation/operation.test.ts',
  'test/graphql/tenants/org/{domain-proof,org,org-creation}.test.ts',
  'test/graphql/tenants/project/{branding,consumer,end-user-lists,group,jwt-key,look-ups}.test.ts',
  'test/graphql/typed/{agreement,document-objects,mutations,tenancy,typed-schema}.test.ts',
  // Simulates the servers of a cluster in this process. The tests in `deliveries/` send its statements to PostgreSQL.
  'test/flows/shard-groups.test.ts',
  // Limits of this process. `faults/noisy-neighbours` attacks a server on PostgreSQL.
  'test/flows/noisy-neighbours/*.test.ts',
  // Configs and formats of providers. `flows/read/` and `flows/write/` run the same jobs on PostgreSQL.
  'test/flows/{choices,inputs}/*.test.ts',
  'test/flows/write/omitted-fields.test.ts',
  // Failures and formats of providers. `faults/provider-stream`, `faults/provider-events` and the other files of the
  // folder take events on PostgreSQL.
  'test/flows/agents/values-at-providers.test.ts',
  'test/flows/provider-event/{event-bounds,failing-account,issued-secrets,subscribing}.test.ts',
  'test/flows/provider-event/salesforce-{stream,tls}.test.ts',
  // Secrets and rejected credentials. `flows/token-refresh` and `jobs/refresh-tokens` refresh tokens on PostgreSQL, and
  // `flows/credentials/secrets-at-rest` checks its rows and its errors.
  'test/flows/sign-in/openid-sign-in.test.ts',
  'test/flows/credentials/{connection-life,custom-provider-hosts,hostile-documents,leak-walk,rejected-requests,repeated-secrets}.test.ts',
  // `pooler` runs these on PostgreSQL, with the same statements and concurrent calls.
  'test/flows/{erasure,tenancy,plan/project-plan,provider-event/hubspot-webhook,sign-in/console-session}.test.ts',
  // Agents call the functions whose statements `flows/tenancy` sends.
  'test/flows/agents/agent-tenancy.test.ts',
];

/** Lists the files that open no database, because they import nothing from `test/support/`. */
function listFilesWithoutDatabase(): string[] {
  const root = import.meta.dirname;
  const opensNoDatabase = (path: string) =>
    !readFileSync(join(root, path), 'utf8').includes('/support/');
  return globSync(ON_DATABASE, { cwd: root }).filter(opensNoDatabase);
}

const postgres = {
  test: {
    ...common,
    name: 'postgres',
    include: [ON_DATABASE],
    exclude: [...ABOVE_DATABASE, ...ONLY_EMBEDDED, ...listFilesWithoutDatabase()],
    env: { TEST_DATABASE: 'postgres' },
  },
};

/** Every part of the bench with tiny counts. Its peers need `npm ci --prefix bench`. */
const bench = {
  test: {
    name: 'bench',
    include: ['bench/smoke.test.ts'],
    experimental: common.experimental,
  },
};

/**
 * Tests of what a pooler can break by assigning another connection to each transaction: prepared statements,
 * notifications, advisory locks, leases, and transactions of several statements. `flows/tenancy` sends the statements
 * of every query, list, filter and mutation.
 */
const THROUGH_POOLER = [
  'test/database/connect/sessions/changed-columns.test.ts',
  'test/deliveries/{lease,running,worker}.test.ts',
  'test/events/{enqueue-messages,feed,operation-changes,record}.test.ts',
  'test/flows/{erasure,tenancy}.test.ts',
  'test/flows/plan/project-plan.test.ts',
  'test/flows/provider-event/hubspot-webhook.test.ts',
  'test/flows/read/{read-statements,read-trigger}.test.ts',
  'test/flows/sign-in/console-session.test.ts',
  'test/flows/write/{write-asynchronous,write-idempotency,write-statements}.test.ts',
  'test/jobs/{due-alarm,leased-work,upkeep-loop}.test.ts',
];

const pooler = {
  test: {
    ...postgres.test,
    name: 'pooler',
    include: THROUGH_POOLER,
    exclude: ABOVE_DATABASE,
    env: { TEST_DATABASE: 'postgres', TEST_DATABASE_POOLER: 'pgbouncer' },
  },
};

/** The other behaviour over time. It sends statements of the same kinds as `pooler`, so CI does not run it. */
const poolerFlows = {
  test: {
    ...pooler.test,
    name: 'pooler-flows',
    include: ['test/{flows,events,jobs,deliveries}/**/*.test.ts'],
    exclude: [...ABOVE_DATABASE, ...THROUGH_POOLER],
  },
};

/** With TEST_DATABASE_POOLER=pgbouncer, connections to the coordinator go through PgBouncer. */
const citus = {
  test: {
    ...common,
    name: 'citus',
    include: [
      ON_DATABASE,
      'test/{browser,clients,commands,console,demo,metrics,rest,server,tracing}/**/*.test.ts',
    ],
    exclude: [
      // The coordinator's plans do not show those of the shards, which equal the plans of one server.
      'test/database/planner/query-plans.test.ts',
      'test/database/planner/vacuumed-tables.test.ts',
      // Counts statements. A cluster sends a statement for several projects to each of their shards.
      'test/database/statements/statement-counts.test.ts',
      // Copies databases, which a cluster cannot.
      'test/database/open/pooler.test.ts',
    ],
    // Statements take several times as long as on one server.
    testTimeout: 180_000,
    env: { TEST_DATABASE: 'citus', TEST_DATABASE_POOLER },
  },
};

const isShort = FAULTS_SHORT === '1';

/**
 * These measure times and rates, so nothing else may run at the same time. In the short form, only `overload` compares
 * rates. The others assert outcomes, generous times or CPU times, and run together with the other fault tests.
 */
const MEASURED = (
  isShort
    ? ['overload']
    : [
        'attack',
        'embedded-load',
        'input-stalls',
        'live',
        'noisy-neighbours',
        'overload',
        'stall/response-stalls',
        'stall/result-stalls',
      ]
).map((name) => `test/faults/${name}.test.ts`);

/** Processes are killed and connections are cut, on PostgreSQL. */
const faults = {
  test: {
    ...common,
    name: 'faults',
    include: ['test/faults/**/*.test.ts'],
    exclude: MEASURED,
    // These tests open databases of their own, whose statements other tests check.
    setupFiles: 'test/support/around-each-file.ts',
    env: { TEST_DATABASE: 'postgres' },
    // A test that hangs in CI fails in time for its retry.
    testTimeout: isShort ? 10 * MINUTE_MS : HOUR_MS,
    // The short form is for CI. Its tests mostly wait, so several run at the same time.
    maxWorkers: isShort ? 4 : 1,
    sequence: { groupOrder: 1 },
  },
};

const measured = {
  test: {
    ...faults.test,
    name: 'faults-measured',
    include: MEASURED,
    exclude: [],
    maxWorkers: 1,
    sequence: { groupOrder: 2 },
  },
};

/** Without `--project`, tests run on the embedded database only. */
const isEmbedded = chosen.every((name) => name === 'embedded');
const isByName = chosen.some((name) => !name.startsWith('!'));

/** The project, without its tests if `reason` says why this machine cannot run it. */
function ifAvailable<T extends { test: { name: string } }>(project: T, reason: string | null): T {
  if (!reason) return project;
  const { name } = project.test;
  const isChosen = isByName ? chosen.includes(name) : !chosen.includes(`!${name}`);
  if (isChosen) console.warn(`Project ${name} is skipped: ${reason}.`);
  return { ...project, test: { ...project.test, include: [] } };
}

function allProjects() {
  const withoutPostgres = getPostgresSkipReason();
  const withoutPooler = withoutPostgres ?? getPgbouncerSkipReason();
  const withoutCitus = getClusterSkipReason();
  return [
    embedded,
    ifAvailable(postgres, withoutPostgres),
    ifAvailable(bench, withoutPostgres),
    ...[pooler, poolerFlows].map((project) => ifAvailable(project, withoutPooler)),
    ifAvailable(citus, withoutCitus),
    faults,
    measured,
  ];
}

/** Memory of a worker, with the databases of its apps and the processes that its tests start. */
const WORKER_BYTES = 3 * 1024 ** 3;
/** More than there are cores, because tests often wait: most of all for PostgreSQL. Each worker costs a start. */
const maxWorkers = Math.max(
  2,
  Math.min(availableParallelism() + (isEmbedded ? 1 : 2), Math.floor(totalmem() / WORKER_BYTES), 6),
);

const isShuffled = process.argv.some((argument) => argument.startsWith('--sequence.shuffle'));

export default defineConfig({
  test: {
    maxWorkers,
    // vitest itself sorts the files if it shuffles them.
    sequence: isShuffled ? {} : { sequencer: LongestFirst },
    tags,
    projects: isEmbedded ? [embedded] : allProjects(),
  },
});
