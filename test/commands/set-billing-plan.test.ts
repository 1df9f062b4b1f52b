/**
 * Tests the command that sets a billing plan.
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
import { readConfig } from '../../src/settings/config.ts';
import { fillDataFolder } from '../support/database/data-folder.ts';
import { runCommand, runCommandInProcess } from '../support/process/run-command.ts';

const DATA_DIR = mkdtempSync(join(tmpdir(), 'gateway-billing-plan-'));
fillDataFolder(DATA_DIR);
afterAll(() => rmSync(DATA_DIR, { recursive: true, force: true }));

const openFolderDatabase = () => openDatabase(readConfig({ DATA_DIR }), createLog('silent'));

const runOnFolder = (...args: string[]) =>
  runCommandInProcess('set-billing-plan', args, { DATA_DIR });

const [orgId, projectId] = [newId('org'), newId('prj')];
{
  await using database = await openFolderDatabase();
  const billing = { id: newId('bil'), displayName: 'Acme', billingProvider: 'none' };
  await database.prisma.org.create({
    data: {
      id: orgId,
      label: 'Acme',
      billingAccount: { create: { ...billing, billingProviderRef: billing.id } },
      projects: { create: { id: projectId, name: 'planned', appName: 'Acme' } },
    },
  });
}

test('stores the values of the options, and changes nothing else', async () => {
  const args = ['--project', 'Planned', '--branding-removal', 'true'];
  const brandingChange = await runCommand('set-billing-plan', args, { DATA_DIR });
  expect(brandingChange).toEqual({
    output: 'The project planned: brandingRemoval is true.\n',
    code: 0,
  });
  const billingChange = await runOnFolder(
    '--org',
    orgId,
    '--billing-provider=stripe',
    '--billing-ref',
    'cus_1',
  );
  const output = `The billing account of ${orgId}: Acme, stripe cus_1.\n`;
  expect(billingChange).toEqual({ output, code: 0 });
  const repeated = await runOnFolder('--project', projectId, '--branding-removal', 'false');
  expect(repeated.output).toContain('brandingRemoval is false');
  await using database = await openFolderDatabase();
  const org = await database.prisma.org.findUniqueOrThrow({
    where: { id: orgId },
    include: { billingAccount: true, projects: true },
  });
  expect(org).toMatchObject({
    label: 'Acme',
    billingAccount: { displayName: 'Acme', billingProvider: 'stripe', billingProviderRef: 'cus_1' },
    projects: [{ id: projectId, brandingRemoval: false, appName: 'Acme' }],
  });
});

test('refuses invalid options with the reason and the usage', async () => {
  const withUnknownProject = await runOnFolder('--project', 'none', '--branding-removal', 'true');
  expect(withUnknownProject).toEqual({ output: 'Project "none" was not found.\n', code: 1 });
  for (const [args, reason] of [
    [['--project', 'planned', '--branding-removal', 'maybe'], '--branding-removal: '],
    [['--project', 'planned', '--org', orgId], '--branding-removal: '],
    [['--org', orgId], 'Name at least one value to set.'],
    [['--plan', 'gold'], "Unknown option '--plan'"],
    [[], '--org: '],
  ] as const) {
    const { output, code } = await runOnFolder(...args);
    expect({ code, hasReason: output.includes(reason) }, output).toEqual({
      code: 1,
      hasReason: true,
    });
    expect(output).toContain('Usage: npm run billing-plan');
  }
});
