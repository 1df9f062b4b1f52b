/** Retries failed test files, and prints which failures were flaky. */
import type { FileOutcome } from './outcomes.ts';
import { type EndedRun, runVitest } from './vitest-run.ts';

/** If more files than this fail, the cause is a defect and not flakiness, so none is retried. */
const RETRIES_MAX = 12;

/**
 * Retries each failed file once, alone, and prints the result of all runs. Returns false if a test failed twice, or if a
 * run failed although its tests passed. `selection` is the arguments that select tests within a file.
 *
 * A file that passes in its retry is flaky, and does not fail the runs.
 */
export async function retryFailedFiles(
  runs: readonly EndedRun[],
  selection: readonly string[] = [],
): Promise<boolean> {
  const failures = runs.flatMap(listRunFailures);
  const flakyTests: string[] = [];
  const files = runs.flatMap(({ outcome }) => outcome?.files ?? []);
  const failedFiles = files.filter(hasFailed);
  const endedFiles = files.filter((file) => !hasFailed(file));
  const isRetried = failedFiles.length <= RETRIES_MAX;
  for (const failedFile of failedFiles) {
    const ended = isRetried ? await retry(failedFile, selection) : failedFile;
    endedFiles.push(ended);
    if (hasFailed(ended)) failures.push(...listFailures(ended));
    else flakyTests.push(...listFailures(failedFile));
  }
  if (!isRetried) console.log(`More than ${RETRIES_MAX} files failed, so none was retried.`);
  for (const line of flakyTests) console.log(`FLAKY ${line}`);
  for (const line of failures) console.log(`FAILED ${line}`);
  console.log(formatCounts(endedFiles, flakyTests.length, failures.length));
  return failures.length === 0;
}

function formatCounts(files: readonly FileOutcome[], flaky: number, failed: number): string {
  const sum = (name: 'passed' | 'skipped') =>
    files.reduce((total, outcome) => total + outcome[name], 0);
  return `${sum('passed')} passed, ${flaky} of them flaky, ${failed} failed, ${sum('skipped')} skipped`;
}

function hasFailed({ failures }: FileOutcome): boolean {
  return failures.length > 0;
}

/** Lists failures that belong to no test file. */
function listRunFailures({ name, exitCode, outcome }: EndedRun): string[] {
  if (!outcome) return [`${name}: The run ended without an outcome.`];
  if (outcome.errors.length > 0) return outcome.errors.map((message) => `${name}: ${message}`);
  return exitCode === 0 || outcome.files.some(hasFailed)
    ? []
    : [`${name}: vitest exited with ${exitCode}.`];
}

/** Returns a line for each failure. The output of vitest has the whole messages. */
function listFailures({ file, project, failures }: FileOutcome): string[] {
  return failures.map(
    ({ test, message }) => `${file} > ${test} (${project}): ${message.split('\n', 1)[0]}`,
  );
}

/** Runs the file alone. Its outcome is also a failure if the run breaks or does not contain the file. */
async function retry(
  { project, file }: FileOutcome,
  selection: readonly string[],
): Promise<FileOutcome> {
  console.log(`Retrying ${file} (${project})`);
  const { outcome } = await runVitest(file, [...selection, '--project', project, file]);
  const ran = outcome?.files.find((one) => one.file === file && one.project === project);
  const errors = ran ? outcome?.errors : ['The retry ended without an outcome of the file.'];
  const { failures, ...counts } = ran ?? { file, project, passed: 0, skipped: 0, failures: [] };
  const fileErrors = errors?.map((message) => ({ test: '(whole file)', message })) ?? [];
  return { ...counts, failures: [...failures, ...fileErrors] };
}
