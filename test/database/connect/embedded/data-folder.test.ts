/** @module-tag all/process */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from '../../../../src/app.ts';
import { LOCAL_ISSUER } from '../../../../src/domain/access/viewer/bearer.ts';
import { StartRefused } from '../../../../src/kernel/errors.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { createLog } from '../../../../src/kernel/log.ts';
import { readConfig } from '../../../../src/settings/config.ts';
import { fillDataFolder } from '../../../support/database/data-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-damage-'));
const intactFolder = join(folder, 'whole');
const log = createLog('silent');
const openApp = (dataDir: string) =>
  createApp(readConfig({ DATA_DIR: dataDir, PORT: '0', DEMO: 'false' }), { log });

beforeAll(async () => {
  // An interrupted first start does not count as damage.
  mkdirSync(join(intactFolder, 'database.unfinished'), { recursive: true });
  writeFileSync(join(intactFolder, 'database.unfinished', 'PG_VERSION'), '18\n');
  await using app = await openApp(intactFolder);
  await app.services.database.prisma.builder.create({
    data: { id: newId('bld'), idpProvider: LOCAL_ISSUER, idpRef: 'ada' },
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const clearFolder = (path: string) => {
  rmSync(path, { recursive: true });
  mkdirSync(path);
};

test.each<[string, string, (path: string) => void]>([
  ['is removed', 'database/PG_VERSION', (path) => rmSync(path)],
  ['is emptied', 'database/PG_VERSION', (path) => truncateSync(path)],
  ['is emptied', 'database/pg_wal', clearFolder],
  ['is removed', 'database/pg_wal', (path) => rmSync(path, { recursive: true })],
  ['is removed', 'database/pg_wal/000000010000000000000001', (path) => rmSync(path)],
  ['is cut off', 'database/global/pg_control', (path) => truncateSync(path, 100)],
  ['is emptied', 'database/base', clearFolder],
  ['is removed', 'database', (path) => rmSync(path, { recursive: true })],
  ['is removed', 'issuer-key.json', (path) => rmSync(path)],
  ['is garbage', 'issuer-key.json', (path) => writeFileSync(path, 'garbage')],
  ['is another JSON', 'issuer-key.json', (path) => writeFileSync(path, '{}')],
  ['is garbage', 'encryption-keys', (path) => writeFileSync(path, 'garbage\n')],
])('refuses to start, and creates no file, if a part of the data folder %s: %s', async (state, name, damage) => {
  const dataDir = join(folder, `${state}-${name}`.replaceAll(/\W/g, '-'));
  cpSync(intactFolder, dataDir, { recursive: true });
  damage(join(dataDir, name));
  const filesBefore = readdirSync(dataDir);
  const openingApp = openApp(dataDir);
  await expect(openingApp).rejects.toThrow(StartRefused);
  await expect(openingApp).rejects.toThrow(join(dataDir, name));
  await expect(openingApp).rejects.toThrow(/backup/);
  expect(readdirSync(dataDir)).toEqual(filesBefore);
});

test('creates the first key of the local issuer if the database has no builder of that issuer', async () => {
  const dataDir = join(folder, 'first-key');
  fillDataFolder(dataDir);
  await using app = await openApp(dataDir);
  expect(app.verifier.mint).not.toBeNull();
  expect(readdirSync(dataDir)).toContain('issuer-key.json');
});
