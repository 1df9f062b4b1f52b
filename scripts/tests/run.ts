/**
 * Runs vitest with these arguments, and retries each failed file once, alone. Exits with 0 if no test failed in
 * the retry, and all failed tests were retried.
 */
import { parseArgs } from 'node:util';
import { retryFailedFiles } from './retry.ts';
import { runVitest } from './vitest-run.ts';

const args = process.argv.slice(2);
const run = await runVitest('npm test', args);
if (run.exitCode !== 0) {
  process.exitCode = (await retryFailedFiles([run], listSelection(args))) ? 0 : 1;
}

/**
 * Returns the arguments that select tests within a file, in each of vitest's spellings. A retry runs the tests that the
 * run selected.
 */
function listSelection(args: string[]): string[] {
  const { values } = parseArgs({
    args,
    strict: false,
    options: {
      'tags-filter': { type: 'string', multiple: true },
      tagsFilter: { type: 'string', multiple: true },
      'test-name-pattern': { type: 'string', multiple: true },
      testNamePattern: { type: 'string', multiple: true, short: 't' },
    },
  });
  return Object.entries(values).flatMap(([name, values]) =>
    Array.isArray(values) ? values.map((value) => `--${name}=${value}`) : [],
  );
}
