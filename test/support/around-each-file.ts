/**
 * Setup file of vitest: runs around each test file's own hooks, prints the log of failed tests, and fails a file that
 * leaves an app open, or in which Node warns of too many listeners.
 */
import { afterAll, afterEach, expect } from 'vitest';
import { closeOpenApps, expectNoOpenApps } from './open-apps.ts';
import { clearLog, printLog, printLogIfFailed } from './process/test-log.ts';

const listenerWarnings: Error[] = [];
const recordWarning = (warning: Error) => {
  if (warning.name === 'MaxListenersExceededWarning') listenerWarnings.push(warning);
};

const hadOpenApps = await closeOpenApps();
// The hooks of a file that failed while it was loaded do not run.
if (hadOpenApps) printLog();
clearLog();
process.on('warning', recordWarning);
afterEach(({ task }) => printLogIfFailed(task));
// biome-ignore lint/correctness/noEmptyPattern: vitest passes the file as the second argument
afterAll(({}, file) => printLogIfFailed(file));
afterAll(() => {
  process.off('warning', recordWarning);
  expectNoOpenApps();
  expect(listenerWarnings).toEqual([]);
});
