/** Examples of the documentation that commands.test.ts does not run, each with its reason, and those with their own terminal. */

/** Both a block and a command within a sentence. */
const INSTALL_AND_START = {
  start: 'npm ci && npm start',
  reason: 'the packages are installed, and commands.test.ts starts the server',
};

/** Blocks, identified by their beginning. */
export const BLOCKS_NOT_RUN = [
  INSTALL_AND_START,
  {
    start: 'npm run release -- 1.2.0',
    reason: 'test/commands/release.test.ts releases in a new repository',
  },
  { start: 'npm ci && npm test', reason: 'this test is a part of it' },
  {
    start: 'export SIGN_IN_ISSUERS=',
    reason: 'test/flows/sign-in/openid-sign-in.test.ts signs in at a test provider',
  },
  {
    start: 'npm run org -- --label "Acme"',
    reason: 'test/commands/create-org.test.ts runs it on a new folder',
  },
  {
    start: 'npx vitest run test/graphql/events/topic.test.ts',
    reason: 'this run contains the test, and another one checks that the file exists',
  },
  {
    start: 'ALLOWED_PRIVATE_TARGETS=127.0.0.1/32 npm start',
    reason: 'commands.test.ts starts its server with it, in a separate terminal',
  },
  {
    start: 'npm run listen -- --topic data',
    reason: 'commands.test.ts runs it in a separate terminal during all other commands',
  },
  {
    start: 'AMP_API_URL=',
    reason: 'test/clients/cli.test.ts replays the requests of that program, which is not installed',
  },
  {
    start: "import type { Objects } from './contract.d.ts';\n\ntype Person = Objects",
    reason: 'test/rest/data/contract/object-contract.test.ts compiles a similar file',
  },
  {
    start: "import type { Objects } from './contract.d.ts';\n\ntype Person = Pick",
    reason: 'test/docs/typed-api.test.ts compiles it',
  },
  {
    start: '# receiver.py',
    reason: 'test/docs/python-receiver.test.ts runs it, if Python is installed',
  },
  {
    start: 'npm run install:production',
    reason: 'it installs packages; test/faults/operation/image.test.ts runs the script',
  },
  ...['// agent.ts', 'npm exec -- node agent.ts'].map((start) => ({
    start,
    reason: 'test/docs/agents.test.ts runs the agent, with a package that only tests install',
  })),
  {
    start: 'curl "$PROXY_URL/services',
    reason: 'test/rest/integrations/installation/proxy-host.test.ts sends the documented requests',
  },
  { start: ' request ─► ', reason: 'a diagram' },
  { start: ' YAML or JSON text', reason: 'a diagram' },
  { start: '  open ──', reason: 'a diagram' },
  { start: 'POST /graphql   ', reason: 'a diagram' },
  {
    start: 'rule_files: [ops',
    reason: 'test/faults/operation/prometheus.test.ts runs a similar file',
  },
  {
    start: 'backend gateway',
    reason: 'test/faults/operation/rolling-restart.test.ts runs a similar file',
  },
  ...['// urql.mjs', '// apollo.mjs', '// Documents.js', '// relay.mjs', 'mkdir -p pages'].map(
    (start) => ({
      start,
      reason: 'test/clients/examples.test.ts runs it, with packages that only tests install',
    }),
  ),
  ...['CREATE EXTENSION citus;', 'npm run distribute', 'SELECT citus_add_node('].map((start) => ({
    start,
    reason: 'it needs a Citus cluster',
  })),
  { start: 'npm run move -- --to postgresql', reason: 'test/backup/ runs it' },
  {
    start:
      'export DATABASE_URL=postgresql://gateway:secret@127.0.0.1:5432/gateway\nexport ENCRYPTION_KEY=$(head',
    reason: 'test/backup/ starts the moved database with these settings',
  },
  { start: 'BACKUP_PASSPHRASE=... npm run backup', reason: 'test/backup/ runs it' },
  ...['gateway apply --project demo', 'GATEWAY_API_KEY=$STAGING_KEY gateway export'].map(
    (start) => ({
      start,
      reason: 'test/commands/gateway.test.ts runs similar commands with other projects',
    }),
  ),
];

const RUN_BY_CI = '.ci/run does it, on a fresh copy';
const CHANGES_SOURCES = 'it writes to the sources, and developers run it after they change them';
const TAKES_MINUTES = 'it takes minutes and needs an idle machine';

/** Commands within a sentence. */
export const COMMANDS_NOT_RUN: { command: string; reason: string }[] = [
  { command: 'npm ci', reason: RUN_BY_CI },
  { command: 'npm test', reason: 'this test is a part of it' },
  { command: 'npm run test:all', reason: RUN_BY_CI },
  {
    command: 'npm run test:all -- --project postgres <file>',
    reason: 'this run contains the tests',
  },
  { command: 'npm run dev', reason: 'it is npm start in watch mode, and never ends' },
  { command: INSTALL_AND_START.start, reason: INSTALL_AND_START.reason },
  {
    command: 'npx vitest run test/conformance -t " 3\\.2 "',
    reason: 'this run contains its tests',
  },
  {
    command: 'npm run console',
    reason: 'the server runs it when the console is opened for the first time',
  },
  {
    command: 'npm run console:pictures -- data/pictures',
    reason: 'test/console opens the same pages',
  },
  {
    command: 'PORT=4710 npm start',
    reason: 'test/process/npm-start.test.ts starts it with a port',
  },
  { command: 'npm run types', reason: RUN_BY_CI },
  { command: 'npm run test:surface', reason: 'this run contains its tests' },
  { command: 'npm run lint', reason: RUN_BY_CI },
  { command: 'npm run test:faults', reason: RUN_BY_CI },
  {
    command: 'npm run test:pooler',
    reason: '.ci/run runs the `pooler` project; the other tests take minutes',
  },
  { command: 'npm run test:citus', reason: 'it needs a Citus cluster' },
  {
    command: 'npm run distribute',
    reason: 'it needs a Citus cluster',
  },
  { command: '.ci/run', reason: 'this test is a part of it' },
  {
    command: 'npm run install:production',
    reason:
      'it installs packages, and commands.test.ts runs in a folder without the other packages',
  },
  { command: 'npm run migration -- <name>', reason: CHANGES_SOURCES },
  { command: 'npx prisma generate', reason: CHANGES_SOURCES },
  { command: 'npm run schema', reason: CHANGES_SOURCES },
  { command: 'npm run provider:pages', reason: CHANGES_SOURCES },
  { command: 'npm run provider:schema', reason: CHANGES_SOURCES },
  {
    command: 'npm run provider -- export close',
    reason: 'test/commands/provider.test.ts runs it',
  },
  {
    command: 'npm run docs',
    reason: 'it installs packages; test/faults/operation/image.test.ts runs it',
  },
  {
    command: 'npm run release',
    reason: 'test/commands/release.test.ts releases in a new repository',
  },
  {
    command: 'npx vitest run test/docs/site.test.ts',
    reason: 'this run contains the test',
  },
  { command: 'npx vitest run test/rest/platform -u', reason: CHANGES_SOURCES },
  { command: 'npm run provider -- <name>', reason: 'this run contains its tests' },
  { command: 'npx biome check --write <files>', reason: CHANGES_SOURCES },
  { command: 'npx vitest run test/conformance -u', reason: CHANGES_SOURCES },
  {
    command: 'npm run listen -- --topic connections',
    reason: 'commands.test.ts runs it with another topic',
  },
  {
    command: 'npm run listen -- --stream lake',
    reason: 'test/commands/listen.test.ts runs it',
  },
  {
    command: 'SIGNING_SECRET=whsec_... npm run receive',
    reason: 'commands.test.ts runs it with a real secret',
  },
  {
    command: 'prisma migrate status',
    reason: 'it needs a schema engine, which the product does not install',
  },
  {
    command: 'npm run config -- --check',
    reason: 'test/commands/check-settings.test.ts runs it with other settings',
  },
  {
    command: 'npm run billing-plan -- --project demo --branding-removal true',
    reason: 'test/commands/set-billing-plan.test.ts runs it on a new folder',
  },
  {
    command:
      'npm run billing-plan -- --org <id> --billing-provider stripe --billing-ref cus_123 --billing-name "Acme"',
    reason: 'test/commands/set-billing-plan.test.ts runs it on a new folder',
  },
  {
    command: 'npm run move -- --to <folder>',
    reason: 'test/backup/move.test.ts runs it on new databases',
  },
  { command: 'npm run backup', reason: 'test/backup/ runs it on new databases' },
  { command: 'npm run restore', reason: 'test/backup/ runs it on new databases' },
  { command: 'npm run move', reason: 'test/backup/ runs it on new databases' },
  {
    command: 'npm exec -- node --expose-gc bench/contract/typed-api.ts',
    reason: TAKES_MINUTES,
  },
  { command: 'npm run bench', reason: TAKES_MINUTES },
  {
    command: 'npm run bench -- --parts fan-out,callers,deliveries,moving,inbound',
    reason: TAKES_MINUTES,
  },
  { command: 'npm run bench -- --parts retention', reason: TAKES_MINUTES },
  { command: 'npm run endurance -- --minutes 60 --rate 200', reason: TAKES_MINUTES },
];

/** Commands that commands.test.ts runs, each in a separate terminal. */
export const START_COMMAND = 'ALLOWED_PRIVATE_TARGETS=127.0.0.1/32 npm start';
export const LISTEN_COMMAND = 'npm run listen -- --topic data';
export const REENCRYPT_COMMAND = 'npm run reencrypt -- --new-key';
export const START_WITHOUT_NPM = 'node_modules/.bin/node src/main.ts';
export const COMMANDS_IN_TERMINALS = [
  START_COMMAND,
  LISTEN_COMMAND,
  REENCRYPT_COMMAND,
  START_WITHOUT_NPM,
];
