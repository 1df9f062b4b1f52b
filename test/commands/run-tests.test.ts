/**
 * Tests the program of `npm test` in a folder with tests that fail once, always or never.
 *
 * @module-tag all/process
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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

/** Runs the tests of these files, and returns the lines after the output of vitest. */
async function runTests(texts: Record<string, string>, args: string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-run-tests-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'vitest.config.mjs'), CONFIG);
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(folder, `${name}.test.mjs`), IMPORTS + text);
  }
  const program = [join(ROOT, 'scripts/tests/run.ts'), ...args];
  const options = { cwd: folder, env: PROCESS_ENV };
  return new Promise<{ code: unknown; lines: string[] }>((resolve) => {
    execFile(process.execPath, program, options, (error, stdout) => {
      const lines = stdout.split('\n').filter((line) => /^(Retrying|FLAKY|FAILED|\d)/.test(line));
      resolve({ code: error?.code ?? 0, lines });
    });
  });
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
      '3 passed, 1 of them flaky, 0 failed, 0 skipped',
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
      '2 passed, 1 of them flaky, 1 failed, 0 skipped',
    ],
  });
});

test('passes its arguments to vitest, and selects the same tests in a retry', async () => {
  const texts = { passing: PASSING, failing: FAILING, flaky: `${FLAKY}\n${FAILING}` };
  expect(await runTests(texts, ['-t', 'second run', 'flaky'])).toEqual({
    code: 0,
    lines: [
      'Retrying flaky.test.mjs (all)',
      expect.stringContaining('FLAKY flaky.test.mjs > passes in its second run (all)'),
      '1 passed, 1 of them flaky, 0 failed, 1 skipped',
    ],
  });
});

test('fails if vitest does not run', async () => {
  expect(await runTests({ passing: PASSING }, ['none'])).toEqual({
    code: 1,
    lines: [
      'FAILED npm test: vitest exited with 1.',
      '0 passed, 0 of them flaky, 1 failed, 0 skipped',
    ],
  });
});

test('retries no file if many files fail', async () => {
  const names = Array.from({ length: 13 }, (_, index) => `failing-${index}`);
  const { code, lines } = await runTests(Object.fromEntries(names.map((name) => [name, FAILING])));
  expect(code).toBe(1);
  expect(lines.filter((line) => line.startsWith('Retrying'))).toEqual([]);
  expect(lines.at(-1)).toBe('0 passed, 0 of them flaky, 13 failed, 0 skipped');
});
