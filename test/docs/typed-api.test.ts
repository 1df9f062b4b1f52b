/**
 * Tests that the TypeScript example of docs/typed-api.md compiles against the demo's contract, and runs.
 *
 * @module-tag all/process
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { getSharedApp } from '../support/app.ts';
import { listCodeBlocks, ROOT } from '../support/documents.ts';
import { fillDemoTenant } from '../support/tenancy/end-user-callers.ts';

const app = await getSharedApp();
const runFile = promisify(execFile);

interface TypedApi {
  listPeople(group: string): Promise<{ emailAddress: string }[]>;
  createPerson(group: string, input: { emailAddress: string; lastname: string }): Promise<string>;
}

test('compiles and runs the example, which has no type any', async () => {
  const { headers } = await fillDemoTenant(app);
  app.app.sandbox.seed('contacts', 2);
  const blocks = listCodeBlocks('docs/typed-api.md').filter(({ language }) => language === 'ts');
  const example = blocks[0]?.text ?? '';
  expect(blocks).toHaveLength(1);
  expect(example).not.toMatch(/\bany\b/);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-typed-api-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const contract = await app.fetch('/v1/projects/demo/contract.d.ts', { headers });
  writeFileSync(join(folder, 'contract.d.ts'), await contract.text());
  writeFileSync(join(folder, 'people.ts'), example);
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options =
    '--noEmit --strict --target es2024 --module nodenext --allowImportingTsExtensions';
  const files = ['--types', '', 'people.ts', 'contract.d.ts'];
  const compile = runFile(process.execPath, [tsc, ...options.split(' '), ...files], {
    cwd: folder,
  });
  const { stdout } = await compile.catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
  const { createTypedApi } = await import(pathToFileURL(join(folder, 'people.ts')).href);
  const { url } = await app.app.start();
  const api: TypedApi = createTypedApi(`${url}/graphql/projects/demo`, headers['x-api-key']);
  expect(await api.listPeople('acme')).toMatchObject([
    { emailAddress: 'contact-1@example.test' },
    {},
  ]);
  const person = { emailAddress: 'karen@example.test', lastname: 'Jones' };
  expect(await api.createPerson('globex', person)).toEqual(expect.any(String));
  await expect(api.listPeople('none')).rejects.toThrow('Group "none" was not found.');
});
