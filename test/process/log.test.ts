/**
 * The lines of a process reach its stdout. Each test runs a process that writes nothing but its log.
 *
 * @module-tag all/process
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { PROCESS_ENV } from '../support/process/process-env.ts';

/** More lines than one group, and an incomplete group at the end. */
const COUNT = 2_500;
const SETUP = `
  import { createLog } from './src/kernel/log.ts';
  const log = createLog('info');
  const logLines = () => {
    for (let index = 0; index < ${COUNT}; index += 1) log.info({ index }, 'test.line');
  };
  const keepRunning = () => setInterval(() => {}, 1_000);`;

function startLogger(script: string): ChildProcessByStdio<null, Readable, null> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SETUP + script], {
    cwd: join(import.meta.dirname, '..', '..'),
    env: PROCESS_ENV,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const listIndexes = (output: string) =>
  output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).index);
const ALL_INDEXES = Array.from({ length: COUNT }, (_, index) => index);

test.each([
  { end: 'an uncaught error', script: "logLines(); throw new Error('uncaught');", code: 1 },
  {
    end: 'an uncaught error while a group is written',
    script: "logLines(); setImmediate(() => { throw new Error('uncaught'); }); keepRunning();",
    code: 1,
  },
  { end: 'a rejected promise', script: "logLines(); await Promise.reject('uncaught');", code: 1 },
  { end: 'process.exit()', script: 'logLines(); process.exit(0);', code: 0 },
  { end: 'its work', script: 'logLines();', code: 0 },
])('writes all lines before $end ends the process', async ({ script, code }) => {
  const child = startLogger(script);
  const exited = once(child, 'exit');
  expect(listIndexes(await text(child.stdout))).toEqual(ALL_INDEXES);
  expect(await exited).toEqual([code, null]);
});

test('writes all lines before SIGTERM ends the process', async () => {
  const child = startLogger(`
    process.once('SIGTERM', () => {
      logLines();
      process.exit(0);
    });
    log.warn('test.ready');
    keepRunning();`);
  const [readyLine] = await once(child.stdout, 'data');
  expect(String(readyLine)).toContain('test.ready');
  child.kill('SIGTERM');
  expect(listIndexes(await text(child.stdout))).toEqual(ALL_INDEXES);
});

test('writes a line without further lines', async () => {
  const child = startLogger("log.info('test.single'); keepRunning();");
  const [line] = await once(child.stdout, 'data');
  expect(String(line)).toContain('test.single');
});
