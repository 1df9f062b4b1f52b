/**
 * Retries each failed test file once, alone, and prints the result of the whole check. Each argument is
 * `<name of the run>=<file of outcomes>=<exit code>`. Exits with 1 if a test failed twice, or if a run failed although its
 * tests passed.
 *
 * A file that passes in its retry does not fail the check. Its failures are printed as FLAKY.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { FileOutcome, RunOutcome } from './outcomes.ts';

/** If more files than this fail, the cause is a defect and not flakiness, so none is retried. */
const RETRIES_MAX = 12;

const sum = { passed: 0, failed: 0, skipped: 0 };
const failedFiles: FileOutcome[] = [];

for (const argument of process.argv.slice(2)) {
  const [name = '', path = '', code = ''] = argument.split('=');
  const run = outcomesAt(path);
  if (!run) {
    report(`FAILED ${name}`, 'The run ended without outcomes.');
    continue;
  }
  for (const message of run.errors) report(`FAILED ${name}`, message);
  const hasFailures =
    run.errors.length > 0 || run.files.some(({ failures }) => failures.length > 0);
  if (code !== '0' && !hasFailures) report(`FAILED ${name}`, `vitest exited with ${code}.`);
  for (const outcome of run.files) {
    if (outcome.failures.length > 0) failedFiles.push(outcome);
    else count(outcome);
  }
}

const retried = failedFiles.length <= RETRIES_MAX ? failedFiles : [];
let flaky = 0;
for (const failed of failedFiles) {
  const again = retried.includes(failed) ? retry(failed) : failed;
  count(again);
  const isFlaky = again.failures.length === 0;
  if (isFlaky) flaky += 1;
  for (const { test, message } of isFlaky ? failed.failures : again.failures) {
    const line = `${isFlaky ? 'FLAKY' : 'FAILED'} ${failed.file} > ${test} (${failed.project})`;
    if (isFlaky) console.log(`${line}\n${message}`);
    else report(line, message);
  }
}

console.log(`${retried.length} files retried, ${flaky} of them passed`);
const { passed, failed, skipped } = sum;
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;

function count({ passed, skipped }: FileOutcome): void {
  sum.passed += passed;
  sum.skipped += skipped;
}

function report(line: string, message: string): void {
  sum.failed += 1;
  console.log(`${line}\n${message}`);
}

function outcomesAt(path: string): RunOutcome | undefined {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

/** Runs the file alone. Its outcome is also a failure if the run breaks or does not contain the file. */
function retry({ project, file }: FileOutcome): FileOutcome {
  console.log(`Retrying ${file} (${project})`);
  const path = `${process.env.TEST_OUTCOMES_RETRY}-${project}-${file.replaceAll('/', '-')}.json`;
  spawnSync(
    'npm',
    [
      ...['exec', '--', 'vitest', 'run', '--project', project, file],
      ...['--reporter=default', '--reporter=./.ci/outcomes.ts'],
    ],
    { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, TEST_OUTCOMES: path } },
  );
  const run = outcomesAt(path);
  const outcome = run?.files.find((one) => one.file === file && one.project === project);
  const missing = { file, project, passed: 0, skipped: 0, failures: [] as FileOutcome['failures'] };
  const { failures, ...counts } = outcome ?? missing;
  const errors = outcome ? (run?.errors ?? []) : ['The retry ended without an outcome.'];
  return {
    ...counts,
    failures: [...failures, ...errors.map((message) => ({ test: '(whole file)', message }))],
  };
}
