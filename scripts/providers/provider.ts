/**
 * Checks providers. `npm run provider -- <name>` runs the contract tests of a built-in declared provider against a server
 * that is generated from the declaration and against a server with the vendor's wire format. `export` prints the provider
 * as a document, and `check` checks a document. With credentials in the environment, a check also reads one page of each
 * object from a real account, and writes nothing.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { answerHelp } from '../../src/commands/usage.ts';
import { listCapabilities } from '../../src/providers/contract.ts';
import {
  createDeclarativeProvider,
  type DeclaredProvider,
} from '../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../src/providers/declared/all.ts';
import {
  exportDocument,
  formatProviderDocument,
} from '../../src/providers/document/export-document.ts';
import { checkDocumentFile } from './provider-check.ts';
import { readAccount } from './provider-reading.ts';

const NAMES = DECLARATIONS.map((declaration) => declaration.name).join(' | ');
const USAGE = `Usage: npm run provider -- <name>         runs the contract tests of a built-in provider
       npm run provider -- export <name>  prints a built-in provider as a document
       npm run provider -- check <file>   checks a document, and reads an account with PROVIDER_TOKEN

<name>: ${NAMES}`;

function refuse(problem: string): never {
  console.error(`${problem}\n${USAGE}`);
  process.exit(2);
}

function getDeclared(name: string): DeclaredProvider {
  const declared = DECLARATIONS.find((declaration) => declaration.name === name);
  return declared ?? refuse(`${name}: not a declared provider`);
}

async function testProvider(declared: DeclaredProvider): Promise<boolean> {
  const provider = createDeclarativeProvider(declared);
  console.log(`${provider.displayName}: ${listCapabilities(provider).join(', ')}`);
  console.log(`Checked against: ${declared.api.checkedAgainst}`);
  const vitest = join(import.meta.dirname, '..', '..', 'node_modules', 'vitest', 'vitest.mjs');
  const files = ['generated', 'declared'].map((name) => `test/providers/declared/${name}.test.ts`);
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', '--maxWorkers=1', '--reporter=dot', '--hideSkippedTests', ...files],
    {
      cwd: join(import.meta.dirname, '..', '..'),
      env: { ...process.env, PROVIDER: declared.name },
      stdio: 'inherit',
    },
  );
  const canRead = await readAccount(declared, provider);
  return canRead && status === 0;
}

answerHelp(USAGE);
const [command, argument, ...others] = process.argv.slice(2);
if (command === undefined || others.length > 0) refuse('One provider or one file is needed.');
if (command === 'export' || command === 'check') {
  if (argument === undefined) refuse(`${command}: needs one argument`);
  if (command === 'export') {
    process.stdout.write(formatProviderDocument(exportDocument(getDeclared(argument))));
  } else if (!(await checkDocumentFile(argument))) process.exitCode = 1;
} else {
  if (argument !== undefined) refuse(`${argument}: not an argument`);
  if (!(await testProvider(getDeclared(command)))) process.exitCode = 1;
}
