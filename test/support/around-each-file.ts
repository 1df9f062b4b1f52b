/**
 * Setup file of vitest: runs around each test file's own hooks, and fails a file that leaves an app open, or in which Node
 * warns of too many listeners.
 */
import { afterAll, expect } from 'vitest';
import { closeOpenApps, expectNoOpenApps } from './open-apps.ts';

const listenerWarnings: Error[] = [];
const recordWarning = (warning: Error) => {
  if (warning.name === 'MaxListenersExceededWarning') listenerWarnings.push(warning);
};

await closeOpenApps();
process.on('warning', recordWarning);
afterAll(() => {
  process.off('warning', recordWarning);
  expectNoOpenApps();
  expect(listenerWarnings).toEqual([]);
});
