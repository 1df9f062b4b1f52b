import { expect, onTestFinished, test, vi } from 'vitest';
import { createTestApp } from '../support/app.ts';
import { clearLog, printLogIfFailed } from '../support/process/test-log.ts';

test('prints the lines of an app if its test fails, and no line of a passed test', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => print.mockRestore());
  await using app = await createTestApp();
  const { log } = app.app.services;
  clearLog();
  log.error('first.failed');
  printLogIfFailed({ result: { state: 'pass' } });
  expect(print.mock.calls).toEqual([]);
  log.warn('second.failed');
  printLogIfFailed({ tasks: [{ result: { state: 'pass' } }, { result: { state: 'fail' } }] });
  expect(print.mock.calls).toEqual([[expect.stringMatching(/^\{.*"msg":"second\.failed"\}\n$/)]]);
});
