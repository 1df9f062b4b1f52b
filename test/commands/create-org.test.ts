/**
 * Tests the command that creates an org.
 *
 * @module-tag all/process
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open/open-database.ts';
import { createLog } from '../../src/kernel/log.ts';
import { readConfig } from '../../src/settings/config.ts';
import { fillDataFolder } from '../support/database/data-folder.ts';
import { runCommand, runCommandInProcess } from '../support/process/run-command.ts';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'gateway-create-org-'));
fillDataFolder(DATA_DIR);
afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }));

test('creates an org without members, and invites its first admin', async () => {
  const args = ['--label', 'Acme', '--invite', 'Ada@example.com'];
  const creation = await runCommand('create-org', args, { DATA_DIR });
  expect(creation.code).toBe(0);
  expect(creation.output).toMatch(
    /^Created the org org_\w+\. ada@example\.com can accept the invite/,
  );
  await using database = await openDatabase(readConfig({ DATA_DIR }), createLog('silent'));
  const orgs = await database.prisma.org.findMany({
    include: { members: true, invites: true, billingAccount: true },
  });
  expect(orgs).toMatchObject([
    {
      label: 'Acme',
      members: [],
      invites: [{ invitedEmail: 'ada@example.com', status: 'PENDING', role: 'ADMIN' }],
      billingAccount: { displayName: 'Acme' },
    },
  ]);
});

test('reports every invalid option, and creates nothing', async () => {
  const args = ['--label', ' ', '--invite', 'ada'];
  const { output, code } = await runCommandInProcess('create-org', args, { DATA_DIR });
  expect(code).toBe(1);
  expect(output).toContain('--label: ');
  expect(output).toContain('--invite: must be an email address');
  expect(output).toContain('Usage: npm run org');
});
