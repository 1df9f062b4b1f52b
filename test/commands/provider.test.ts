/**
 * Tests `npm run provider -- export` and `check`.
 *
 * @module-tag all/process
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import { startProviderServer } from '../support/providers/provider-server.ts';

const ROOT = join(import.meta.dirname, '../..');

function run(args: string[], env: Record<string, string> = {}) {
  const options = { cwd: ROOT, env: { ...PROCESS_ENV, ...env } };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      ['scripts/providers/provider.ts', ...args],
      options,
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

function writeDocument(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-provider-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'provider.yaml');
  writeFileSync(file, text);
  return file;
}

test('exports a built-in provider as a document that it accepts', async () => {
  const { code, stdout } = await run(['export', 'close']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^name: x-close\n/) });
  const check = await run(['check', writeDocument(stdout)]);
  expect(check).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^x-close: READ, WRITE.*\n {2}lead \(READ.*No account is read/s),
    stderr: '',
  });
  const file = writeDocument(stdout.replace('name: x-close', 'name: close'));
  expect(await run(['check', file])).toEqual({
    code: 1,
    stdout: '',
    stderr: `${file}:1:1: name: must be \`x-\` and lower-case words with dashes, like x-acme.\n`,
  });
});

test('reads one page of each object with the key of the environment', async () => {
  const keys: unknown[] = [];
  await using server = await startProviderServer(({ method, headers }) => {
    keys.push([method, headers['x-key']]);
    return { status: 200, body: { notes: [{ id: 1 }, { id: 2 }] } };
  });
  const list = '{ path: /notes, records: /notes, paging: { kind: none } }';
  const file = writeDocument(`name: x-notes
displayName: Notes
baseUrl: ${server.url}
authSchemes: [API_KEY]
apiKey: { in: header, name: X-Key }
api: { objects: { notes: { displayName: Notes, list: ${list} } } }
`);
  const { code, stdout } = await run(['check', file], { PROVIDER_TOKEN: 'key-1' });
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/\n {2}notes: 2 records, the last page\n$/),
  });
  expect(keys).toEqual([['GET', 'key-1']]);
});

test.each([
  [['export', 'nothing'], /nothing: not a declared provider\nUsage: /],
  [['check'], /check: needs one argument\nUsage: /],
  [['close', 'more'], /more: not an argument\nUsage: /],
  [['check', '/no/such/file'], /can't be read \(ENOENT\)/],
])('refuses %j', async (args, problem) => {
  const { code, stderr } = await run(args);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(problem);
});
