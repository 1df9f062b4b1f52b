/**
 * Before an upgrade, the command `config` finds stored documents that the new version can't use.
 *
 * @module-tag all/process
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open/open-database.ts';
import { newId } from '../../src/kernel/ids.ts';
import { createLog } from '../../src/kernel/log.ts';
import { readDocument } from '../../src/providers/document/read-document.ts';
import { readConfig } from '../../src/settings/config.ts';
import { fillDataFolder } from '../support/database/data-folder.ts';
import { createDocument } from '../support/inputs/custom-providers.ts';
import { runCommand, runCommandInProcess } from '../support/process/run-command.ts';

const createFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-stored-documents-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const check = (DATA_DIR: string) =>
  runCommandInProcess('check-settings', ['--check'], { DATA_DIR });

const openFolder = (DATA_DIR: string) =>
  openDatabase(readConfig({ DATA_DIR }), createLog('silent'));

/** Stores a document that this version can use, and one from a version with other members. */
async function storeDocuments(dataDir: string): Promise<void> {
  fillDataFolder(dataDir);
  await using database = await openFolder(dataDir);
  const [orgId, projectId] = [newId('org'), newId('prj')];
  const billing = { id: newId('bil'), displayName: 'Acme', billingProvider: 'none' };
  await database.prisma.org.create({
    data: {
      id: orgId,
      label: 'Acme',
      billingAccount: { create: { ...billing, billingProviderRef: billing.id } },
      projects: { create: { id: projectId, name: 'crm', appName: 'Acme' } },
    },
  });
  const document = createDocument('https://api.acme.example');
  const content = readDocument(document) as object;
  await database.prisma.customProvider.createMany({
    data: [
      { id: newId('cpr'), projectId, name: 'x-acme', document, content },
      {
        id: newId('cpr'),
        projectId,
        name: 'x-older',
        document,
        content: { ...content, name: 'x-older', displayName: undefined, retiredMember: true },
      },
    ],
  });
}

test('names the project, the provider and the problem of each document, and exits with 1', async () => {
  const folder = createFolder();
  await storeDocuments(folder);
  const { code, output } = await check(folder);
  expect(output).toContain('provider x-older: ');
  expect(code).toBe(1);
  expect(output).toMatch(/^Project crm, provider x-older: .*displayName.*$/m);
  expect(output).toContain('updateProvider');
  expect(output).not.toContain('x-acme');
});

test('checks the documents of a database that a server has open', async () => {
  const folder = createFolder();
  await storeDocuments(folder);
  await using database = await openFolder(folder);
  expect(database.kind).toBe('embedded');
  const { code, output } = await runCommand('check-settings', ['--check'], { DATA_DIR: folder });
  expect(output).toContain('provider x-older: ');
  expect(code).toBe(1);
  expect(output).toContain('provider x-older: ');
});

test('creates no database, and reports nothing without one', async () => {
  const folder = createFolder();
  const { code, output } = await check(folder);
  expect({ code, output }).not.toContain('custom providers');
  expect(code).toBe(0);
});

test('reports that it could not check, if the database does not respond', async () => {
  const DATABASE_URL = 'postgres://gateway:hunter2@127.0.0.1:1/gateway';
  const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');
  const env = { DATABASE_URL, ENCRYPTION_KEY };
  const { code, output } = await runCommandInProcess('check-settings', ['--check'], env);
  expect(output).toContain('The documents of custom providers were not checked: ');
  expect(output).not.toContain('hunter2');
  expect(code).toBe(0);
});
