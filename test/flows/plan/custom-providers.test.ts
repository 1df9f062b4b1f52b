/** Custom providers are a section of project documents. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createInstallation } from '../../support/fixtures/integrations.ts';
import {
  applyPlan,
  exportDocument,
  planAndApply,
  planDocument,
} from '../../support/fixtures/project-documents.ts';
import {
  createDocument,
  createObject,
  createProvider,
} from '../../support/inputs/custom-providers.ts';
import { startProviderServer } from '../../support/providers/provider-server.ts';
import { createRestTenant } from '../../support/rest/rest-client.ts';

const app = await getSharedApp({ env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
const vendor = await startProviderServer(() => ({ status: 200, body: { data: [] } }));
afterAll(() => vendor[Symbol.asyncDispose]());
beforeEach(() => vendor.reset());

const DESTINATIONS = [{ name: 'records', type: 'stream' }];
const NOTES_ONLY = { notes: createObject('notes') };

const createContent = (objectNames: readonly string[]) => ({
  name: 'crm',
  provider: 'x-acme',
  read: {
    objects: objectNames.map((objectName) => ({
      objectName,
      destination: 'records',
      requiredFields: [{ fieldName: 'title' }],
    })),
  },
});

/** Returns a project document. A null document of the provider leaves the project without custom providers. */
function toText(document: string | null, objectNames?: readonly string[]): string {
  return JSON.stringify({
    specVersion: '1.0.0',
    customProviders: document === null ? [] : [{ name: 'x-acme', document }],
    ...(objectNames && {
      destinations: DESTINATIONS,
      integrations: objectNames.length > 0 ? [createContent(objectNames)] : [],
    }),
  });
}

/** Creates a project with a custom provider and an integration that reads its notes and tasks for a customer. */
async function createProject() {
  const rest = await createRestTenant(app);
  const document = createDocument(vendor.url);
  await planAndApply(rest, toText(document, ['notes', 'tasks']));
  await generateConnection(rest.tenant, { provider: 'x-acme', apiKey: 'secret-key' });
  const config = { read: [{ objectName: 'notes' }, { objectName: 'tasks' }] };
  const installation = await createInstallation(rest.tenant, { config });
  vendor.reset();
  return { rest, document, installation };
}

const listPaths = ({ changes }: { changes: { action: string; path: string }[] }) =>
  changes.map(({ action, path }) => `${action} ${path}`);

test('creates a custom provider together with an integration that uses it, and exports both', async () => {
  const rest = await createRestTenant(app);
  expect(await exportDocument(rest)).not.toContain('customProviders');
  const document = `# Notes of our customers.\n${createDocument(vendor.url)}\n`;
  const plan = await planDocument(rest, toText(document, ['notes']));
  expect(listPaths(plan)).toEqual([
    'create customProviders.x-acme',
    'create destinations.records',
    'create integrations.crm',
  ]);
  expect(plan.changes[0]).toMatchObject({
    kind: 'customProvider',
    after: { name: 'x-acme', document },
  });
  expect((await applyPlan(rest, plan)).status).toBe(200);
  for (const format of ['yaml', 'json']) {
    const exported = await exportDocument(rest, format);
    expect((await planDocument(rest, exported)).changes).toEqual([]);
    const other = await createRestTenant(app);
    await planAndApply(other, exported);
    expect(await exportDocument(other, format)).toBe(exported);
  }
  expect(await exportDocument(rest)).toContain('# Notes of our customers.');
});

test('revises a provider and the integrations that lose an object, in one plan', async () => {
  const { rest } = await createProject();
  const smaller = createDocument(vendor.url, {}, NOTES_ONLY);
  const broken = await planDocument(rest, toText(smaller));
  expect(broken.findings).toMatchObject([
    {
      severity: 'error',
      path: 'customProviders.x-acme',
      message: expect.stringContaining('crm: read.objects[1].objectName is not an object of Acme'),
    },
  ]);
  expect(broken.impacts).toMatchObject([
    { integrationName: 'crm', reason: expect.stringContaining('is not an object of Acme') },
  ]);
  expect((await applyPlan(rest, broken)).status).toBe(409);
  const wrong = await rest.expectRefusal('POST', `${rest.base}/plans`, {
    document: toText(smaller, ['notes', 'tasks']),
  });
  expect(wrong.issues).toMatchObject([
    { name: expect.stringContaining('integrations[0].read.objects[1].objectName') },
  ]);
  const options = { allowDeletions: true };
  const plan = await planDocument(rest, toText(smaller, ['notes']), options);
  expect(listPaths(plan)).toEqual(['update customProviders.x-acme', 'update integrations.crm']);
  expect(
    plan.findings.filter(({ severity }: { severity: string }) => severity === 'error'),
  ).toEqual([]);
  expect((await applyPlan(rest, plan)).status).toBe(200);
  expect((await planDocument(rest, toText(smaller, ['notes']))).changes).toEqual([]);
});

test('compares the contract before and after a change of a provider', async () => {
  const { rest } = await createProject();
  const fields = { id: 'STRING', title: 'STRING', body: 'STRING' };
  const objects = {
    notes: createObject('notes', { standardFields: fields }),
    tasks: createObject('tasks', { standardFields: { id: 'STRING', title: 'INT' } }),
  };
  const plan = await planDocument(rest, toText(createDocument(vendor.url, {}, objects)));
  expect(plan.findings).toEqual([]);
  expect(JSON.stringify(plan.contractChanges)).toContain('title');
});

test('names connections that a change of the hosts suspends, and sends no request meanwhile', async () => {
  const { rest, installation } = await createProject();
  await using other = await startProviderServer(() => ({ status: 200, body: { data: [] } }));
  const moved = toText(createDocument(other.url));
  const refused = await planDocument(rest, moved);
  expect(refused.findings).toMatchObject([
    {
      severity: 'error',
      message: expect.stringContaining('1 connection must be connected again'),
    },
  ]);
  const plan = await planDocument(rest, moved, { allowDeletions: true });
  expect(plan.findings).toMatchObject([{ severity: 'warning' }]);
  expect(plan.impacts).toMatchObject([
    {
      reason: expect.stringContaining('Connect the account again'),
      installations: [{ installationId: installation.id }],
    },
  ]);
  expect((await applyPlan(rest, plan)).status).toBe(200);
  const connections = await rest.get(`${rest.base}/connections`);
  expect(JSON.stringify(connections)).toContain('bad_credentials');
  expect([...other.requests, ...vendor.requests]).toEqual([]);
  // The connection waits already, so the next revision suspends nothing.
  const renamed = toText(createDocument(other.url, { displayName: 'Acme Cloud' }));
  expect((await planDocument(rest, renamed)).findings).toEqual([]);
});

test('refuses to apply a plan if a connection that it would suspend was created since', async () => {
  const rest = await createRestTenant(app);
  await createProvider(rest.tenant, createDocument(vendor.url));
  const plan = await planDocument(rest, toText(createDocument('https://api.acme.example')));
  expect(plan.findings).toEqual([]);
  await generateConnection(rest.tenant, { provider: 'x-acme', apiKey: 'secret-key' });
  const { status, body } = await applyPlan(rest, plan);
  expect(status).toBe(409);
  expect(body.detail).toContain('Plan again');
});

test('deletes a custom provider only with allowDeletions, and only if nothing uses it', async () => {
  const { rest } = await createProject();
  const kept = await planDocument(rest, toText(null));
  expect(kept).toMatchObject({
    changes: [],
    findings: [{ message: expect.stringContaining('omits customProviders.x-acme') }],
  });
  expect(
    (await planDocument(rest, '{"specVersion":"1.0.0"}', { allowDeletions: true })).changes,
  ).toEqual([]);
  const used = await planDocument(rest, toText(null), { allowDeletions: true });
  expect(used.findings).toMatchObject([
    {
      severity: 'error',
      message: expect.stringContaining('integrations (crm), 1 connection use'),
    },
  ]);
  expect((await applyPlan(rest, used)).status).toBe(409);
});

test('deletes a custom provider after the integrations that use it', async () => {
  const rest = await createRestTenant(app);
  await planAndApply(rest, toText(createDocument(vendor.url), ['notes']));
  const plan = await planDocument(rest, toText(null, []), { allowDeletions: true });
  expect(listPaths(plan)).toEqual(['delete customProviders.x-acme', 'delete integrations.crm']);
  expect((await applyPlan(rest, plan)).status).toBe(200);
  expect(await exportDocument(rest)).not.toContain('x-acme');
});

test('refuses invalid documents with their positions, other names and too many providers', async () => {
  const rest = await createRestTenant(app);
  const refuse = async (document: string) => {
    const { issues } = await rest.expectRefusal('POST', `${rest.base}/plans`, { document });
    return JSON.stringify(issues);
  };
  const invalid = await refuse(toText('name: x-acme\nbaseUrl: 7\n'));
  expect(invalid).toContain('customProviders[0].document.baseUrl');
  expect(invalid).toContain('See line 2, column 1 of it.');
  const other = createDocument(vendor.url, { name: 'x-other' });
  expect(await refuse(toText(other))).toContain('must be the name in the document, x-other.');
  await app.app.services.database.prisma.customProvider.createMany({
    data: Array.from({ length: 50 }, (_, index) => ({
      id: `cpr_${String(index).padStart(26, '0')}`,
      projectId: rest.tenant.projectId,
      name: `x-p${index}`,
      document: '{}',
      content: {},
    })),
  });
  expect(await refuse(toText(createDocument(vendor.url)))).toContain('at most 50 custom providers');
});

test('requires the scope providers:write to apply changes of custom providers', async () => {
  const rest = await createRestTenant(app);
  const plan = await planDocument(rest, toText(createDocument(vendor.url)));
  const client = await rest.tenant.withScopes('read', 'integrations:write');
  const APPLY =
    'mutation ApplyPlan($input: ApplyPlanInput!) { applyPlan(input: $input) { plan { id } } }';
  const input = { projectIdOrName: rest.tenant.projectId, planId: plan.id };
  expect(await client.expectRefusal(APPLY, { input })).toMatchObject({ code: 'FORBIDDEN' });
});
