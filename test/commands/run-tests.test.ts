/**
 * Tests the program of `npm test` in a folder with tests that fail once, always or never.
 *
 * @module-tag all/process
 */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../support/documents.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';

const CONFIG = `export default { test: { projects: [{ test: { name: 'all', include: ['*.test.mjs'] } }] } };`;
const IMPORTS = `
import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
`;
const PASSING = `test('passes', () => {});`;
const FLAKY = `test('passes in its second run', () => {
  const isRetry = existsSync('ran');
  writeFileSync('ran', '');
  expect(isRetry).toBe(true);
});`;
const FAILING = `test('fails', () => expect(1).toBe(2));`;
const SKIPPED_IN_RETRY = `test.skipIf(existsSync('ran'))('is skipped in its second run', () => {
  writeFileSync('ran', '');
  expect(1).toBe(2);
});`;
const FAILING_IN_RETRY = `test('fails in its second run', () => expect(existsSync('ran')).toBe(false));`;
const HANGING = `test('hangs', async () => {
  writeFileSync('ran', '');
  await new Promise(() => {});
});`;
const CRASHING = `test('ends vitest', () => process.kill(process.ppid, 'SIGKILL'));`;

interface RunResult {
  code: unknown;
  lines: string[];
  stdout: string;
}

interface Options {
  args?: string[];
  config?: string;
}

/** Starts the tests of these files. The result has the lines after the output of vitest. */
function startTests(texts: Record<string, string>, { args = [], config = CONFIG }: Options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-run-tests-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'vitest.config.mjs'), config);
  const temporaryFolder = join(folder, 'tmp');
  mkdirSync(temporaryFolder);
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(folder, `${name}.test.mjs`), IMPORTS + text);
  }
  const program = [join(ROOT, 'scripts/tests/run.ts'), ...args];
  const options = { cwd: folder, env: { ...PROCESS_ENV, TMPDIR: temporaryFolder } };
  const { promise: ended, resolve } = Promise.withResolvers<RunResult>();
  const child = execFile(process.execPath, program, options, (error, stdout) => {
    const lines = stdout.split('\n').filter((line) => /^(Retrying|FLAKY|FAILED|\d)/.test(line));
    resolve({ code: error?.code ?? 0, lines, stdout });
  });
  const hasRun = () => existsSync(join(folder, 'ran'));
  const listTemporaryFolders = () =>
    readdirSync(temporaryFolder).filter((name) => name.startsWith('gateway-outcomes-'));
  return { child, ended, hasRun, listTemporaryFolders };
}

async function runTests(texts: Record<string, string>, options?: Options) {
  const { code, lines } = await startTests(texts, options).ended;
  return { code, lines };
}

test('prints nothing of its own if all tests pass', async () => {
  expect(await runTests({ passing: PASSING })).toEqual({ code: 0, lines: [] });
});

test('retries a failed file, and reports a test that passes then as flaky', async () => {
  expect(await runTests({ passing: PASSING, flaky: `${FLAKY}\n${PASSING}` })).toEqual({
    code: 0,
    lines: [
      'Retrying flaky.test.mjs (all)',
      expect.stringMatching(/^FLAKY flaky\.test\.mjs > passes in its second run \(all\): .*true/),
      '1 of the passed tests are flaky',
      '3 passed, 0 failed, 0 skipped',
    ],
  });
});

test('fails if a test fails in its retry too', async () => {
  expect(await runTests({ passing: PASSING, failing: FAILING, flaky: FLAKY })).toEqual({
    code: 1,
    lines: [
      'Retrying failing.test.mjs (all)',
      'Retrying flaky.test.mjs (all)',
      expect.stringContaining('FLAKY flaky.test.mjs > passes in its second run (all)'),
      expect.stringContaining('FAILED failing.test.mjs > fails (all)'),
      '1 of the passed tests are flaky',
      '2 passed, 1 failed, 0 skipped',
    ],
  });
});

test('reports a test as flaky if only another test of its file fails in the retry', async () => {
  expect(await runTests({ both: `${FAILING_IN_RETRY}\n${FLAKY}` })).toEqual({
    code: 1,
    lines: [
      'Retrying both.test.mjs (all)',
      expect.stringContaining('FLAKY both.test.mjs > passes in its second run (all)'),
      expect.stringContaining('FAILED both.test.mjs > fails in its second run (all)'),
      '1 of the passed tests are flaky',
      '1 passed, 1 failed, 0 skipped',
    ],
  });
});

test('fails if no test runs in the retry', async () => {
  expect(await runTests({ skipped: SKIPPED_IN_RETRY })).toEqual({
    code: 1,
    lines: [
      'Retrying skipped.test.mjs (all)',
      'FAILED skipped.test.mjs > (whole file) (all): No test ran in the retry.',
      expect.stringContaining('FAILED skipped.test.mjs > is skipped in its second run (all)'),
      '0 passed, 2 failed, 1 skipped',
    ],
  });
});

test('fails if vitest fails in the retry although its tests pass', async () => {
  const setExitCode = `if (existsSync('ran')) process.exitCode = 3;`;
  const config = `import { existsSync } from 'node:fs';\n${setExitCode}\n${CONFIG}`;
  expect(await runTests({ flaky: FLAKY }, { config })).toEqual({
    code: 1,
    lines: [
      'Retrying flaky.test.mjs (all)',
      expect.stringContaining('FLAKY flaky.test.mjs > passes in its second run (all)'),
      'FAILED flaky.test.mjs > (whole file) (all): vitest exited with 3.',
      '1 of the passed tests are flaky',
      '1 passed, 1 failed, 0 skipped',
    ],
  });
});

test.each([
  [['-t', 'second run']],
  [['--test-name-pattern', 'second run']],
])('passes the arguments %j to vitest, and selects the same tests in a retry', async (selection) => {
  const texts = { passing: PASSING, failing: FAILING, flaky: `${FLAKY}\n${FAILING}` };
  expect(await runTests(texts, { args: [...selection, 'flaky'] })).toEqual({
    code: 0,
    lines: [
      'Retrying flaky.test.mjs (all)',
      expect.stringContaining('FLAKY flaky.test.mjs > passes in its second run (all)'),
      '1 of the passed tests are flaky',
      '1 passed, 0 failed, 1 skipped',
    ],
  });
});

test('fails if no file matches the arguments', async () => {
  expect(await runTests({ passing: PASSING }, { args: ['none'] })).toEqual({
    code: 1,
    lines: ['FAILED npm test: vitest exited with 1.', '0 passed, 1 failed, 0 skipped'],
  });
});

test('reports a crash of vitest', async () => {
  expect(await runTests({ crashing: CRASHING })).toEqual({
    code: 1,
    lines: [
      'FAILED npm test: vitest exited with 137 and reported no outcome. Its output is above.',
      '0 passed, 1 failed, 0 skipped',
    ],
  });
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('ends vitest and removes its files after %s, and retries nothing', async (signal, code) => {
  const { child, ended, hasRun, listTemporaryFolders } = startTests({ hanging: HANGING });
  await expect.poll(hasRun, { timeout: 30_000 }).toBe(true);
  expect(listTemporaryFolders()).toHaveLength(1);
  child.kill(signal);
  const { stdout, ...result } = await ended;
  expect(result).toEqual({ code, lines: [] });
  expect(stdout).not.toContain('timed out');
  expect(listTemporaryFolders()).toEqual([]);
});

test('retries no file if many files fail', async () => {
  const names = Array.from({ length: 13 }, (_, index) => `failing-${index}`);
  const { code, lines } = await runTests(Object.fromEntries(names.map((name) => [name, FAILING])));
  expect(code).toBe(1);
  expect(lines.filter((line) => line.startsWith('Retrying'))).toEqual([]);
  expect(lines.at(-1)).toBe('0 passed, 13 failed, 0 skipped');
});
