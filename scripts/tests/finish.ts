/**
 * Retries the failed files of runs that have ended, and prints the result of the whole check. Each argument is
 * `<name of the run>=<file of its outcome>=<exit code>`. Exits with 1 if a test failed in its retry or was not retried,
 * or if a run failed although its tests passed.
 */
import { retryFailedFiles } from './retry.ts';
import { readOutcome } from './vitest-run.ts';

const runs = process.argv.slice(2).map((argument) => {
  const [name = '', path = '', exitCode = ''] = argument.split('=');
  return { name, outcome: readOutcome(path), exitCode: Number(exitCode) };
});
process.exitCode = (await retryFailedFiles(runs)) ? 0 : 1;
