/** Retries failed test files, and prints which failures were flaky. */
import type { FileOutcome } from './outcomes.ts';
import { type EndedRun, runVitest } from './vitest-run.ts';

/** If more files than this fail, the cause is a defect and not flakiness, so none is retried. */
const RETRIES_MAX = 12;

/**
 * Retries each failed file once, alone, and prints the result of all runs. Tests that failed only in the first run are
 * flaky, and don't fail the runs. Returns false if a test failed in the retry or was not retried, or if a run failed
 * although its tests passed. `selection` is the arguments that select tests within a file.
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
    failures.push(...formatFailures(ended));
    flakyTests.push(...formatFailures(omitFailures(failedFile, ended.failures)));
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
  const counts = `${sum('passed')} passed, ${failed} failed, ${sum('skipped')} skipped`;
  return flaky > 0 ? `${flaky} of the passed tests are flaky\n${counts}` : counts;
}

function hasFailed({ failures }: FileOutcome): boolean {
  return failures.length > 0;
}

/** Lists failures that belong to no test file. */
function listRunFailures({ name, exitCode, outcome }: EndedRun): string[] {
  if (!outcome) {
    return [
      `${name}: vitest exited with ${exitCode} and reported no outcome. Its output is above.`,
    ];
  }
  if (outcome.errors.length > 0) return outcome.errors.map((message) => `${name}: ${message}`);
  return exitCode === 0 || outcome.files.some(hasFailed)
    ? []
    : [`${name}: vitest exited with ${exitCode}.`];
}

/** Returns a line for each failure. The output of vitest has the whole messages. */
function formatFailures({ file, project, failures }: FileOutcome): string[] {
  return failures.map(
    ({ test, message }) => `${file} > ${test} (${project}): ${message.split('\n', 1)[0]}`,
  );
}

/** Returns the outcome without the failures of these tests. */
function omitFailures(
  { failures, ...counts }: FileOutcome,
  omitted: FileOutcome['failures'],
): FileOutcome {
  const omittedTests = new Set(omitted.map(({ test }) => test));
  return { ...counts, failures: failures.filter(({ test }) => !omittedTests.has(test)) };
}

/** Runs the file alone. If no test passes in the retry, all failures of the first run remain. */
async function retry(failedFile: FileOutcome, selection: readonly string[]): Promise<FileOutcome> {
  const { project, file } = failedFile;
  console.log(`Retrying ${file} (${project})`);
  const run = await runVitest(file, [...selection, '--project', project, file]);
  const ran = run.outcome?.files.find((one) => one.file === file && one.project === project);
  const errors = listRetryErrors(run, ran).map((message) => ({ test: '(whole file)', message }));
  const { failures, ...counts } = ran ?? { file, project, passed: 0, skipped: 0, failures: [] };
  const ownFailures = [...failures, ...errors];
  const remaining = counts.passed > 0 ? [] : omitFailures(failedFile, ownFailures).failures;
  return { ...counts, failures: [...ownFailures, ...remaining] };
}

/** Lists failures of a retry that belong to none of its tests. */
function listRetryErrors({ exitCode, outcome }: EndedRun, ran: FileOutcome | undefined): string[] {
  if (!outcome || !ran) {
    return [`vitest exited with ${exitCode} and reported no outcome of the file.`];
  }
  if (hasFailed(ran) || outcome.errors.length > 0) return outcome.errors;
  if (exitCode !== 0) return [`vitest exited with ${exitCode}.`];
  return ran.passed === 0 ? ['No test ran in the retry.'] : [];
}
