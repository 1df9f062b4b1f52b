/**
 * Keeps the log lines of the running test's apps. Only a failed test prints them, so that lines of the server do not
 * separate the results.
 */
import type { TestContext } from 'vitest';
import { createLog } from '../../../src/kernel/log.ts';

type Task = Pick<TestContext['task'], 'result'> & { tasks?: Task[] };

/** Older lines rarely explain a failure. */
const LINES_MAX = 200;

let lines: string[] = [];

/** The log of apps and databases for which a test creates none. */
export const testLog = createLog('warn', {
  write(line) {
    lines.push(line);
    if (lines.length > 2 * LINES_MAX) lines = lines.slice(-LINES_MAX);
  },
});

/** Prints the lines since the last call if the test or a part of the suite has failed. */
export function printLogIfFailed(task: Task): void {
  if (hasFailed(task)) printLog();
  clearLog();
}

export function printLog(): void {
  if (lines.length > 0) console.error(lines.slice(-LINES_MAX).join(''));
}

export function clearLog(): void {
  lines = [];
}

function hasFailed({ result, tasks = [] }: Task): boolean {
  return result?.state === 'fail' || tasks.some(hasFailed);
}
