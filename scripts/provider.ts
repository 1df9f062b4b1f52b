/**
 * Checks a declared provider: `npm run provider -- <name>`. It runs the contract tests against a server that is generated
 * from the declaration and against a server with the vendor's wire format. With credentials in the environment it also reads one page of each
 * object from a real account, and writes nothing.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { answerHelp } from '../src/commands/usage.ts';
import { listCapabilities } from '../src/providers/contract.ts';
import { createDeclarativeProvider } from '../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../src/providers/declared/all.ts';
import { openAccountSession } from './provider-account.ts';
import { readObjects } from './provider-reading.ts';

const USAGE = `Usage: npm run provider -- <${DECLARATIONS.map((declaration) => declaration.name).join(' | ')}>`;

answerHelp(USAGE);
const name = process.argv[2];
const declared = DECLARATIONS.find((declaration) => declaration.name === name);
if (!declared || process.argv.length > 3) {
  console.error(USAGE);
  process.exit(2);
}

const provider = createDeclarativeProvider(declared);
console.log(`${provider.displayName}: ${listCapabilities(provider).join(', ')}`);
console.log(`Checked against: ${declared.api.checkedAgainst}`);

const vitest = join(import.meta.dirname, '..', 'node_modules', 'vitest', 'vitest.mjs');
const files = ['generated', 'declared'].map((name) => `test/providers/declared/${name}.test.ts`);
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', '--maxWorkers=1', '--reporter=dot', '--hideSkippedTests', ...files],
  {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, PROVIDER: declared.name },
    stdio: 'inherit',
  },
);

await using session = openAccountSession(provider, process.env);
if (session) {
  console.log(`Reading a page of each object from ${session.baseUrl}; nothing is written.`);
  const allPassed = await readObjects(declared, provider, session);
  if (!allPassed) process.exitCode = 1;
} else {
  console.log('No account is read: set PROVIDER_TOKEN, or PROVIDER_USER and PROVIDER_PASSWORD.');
}
if (status !== 0) process.exitCode = 1;
