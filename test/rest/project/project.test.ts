import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { restTenant } from '../../support/rest/rest-client.ts';

const app = await sharedApp();

test('a builder makes a project, which is found by id and by name', async () => {
  const { builder, tenant } = await restTenant(app);
  const name = `Made-${crypto.randomUUID().slice(0, 8)}`;
  const made = await builder.post('/projects', { name, appName: 'Mine', orgId: tenant.orgId });
  expect(made).toEqual({
    id: expect.stringMatching(/^prj_/),
    name: name.toLowerCase(),
    appName: 'Mine',
    allowedOrigins: [],
    orgId: tenant.orgId,
    createTime: expect.any(String),
  });
  expect(await builder.get(`/projects/${made.id}`)).toEqual(made);
  expect(await builder.get(`/projects/${made.name}`)).toEqual(made);
  const listed = await builder.get('/projects');
  expect(listed.map(({ id }: { id: string }) => id)).toEqual([made.id, tenant.projectId]);
});

test('an API key sees its own project, and makes none', async () => {
  const rest = await restTenant(app);
  const { projectId: id, projectName: name, orgId } = rest.tenant;
  expect(await rest.get('/projects')).toMatchObject([{ id, name }]);
  const refused = await rest.refusal('POST', '/projects', { name: 'mine', appName: 'x', orgId });
  expect(refused.status).toBe(403);
});

test('entitlements are shown where they are asked for', async () => {
  const rest = await restTenant(app);
  expect(await rest.get(rest.base)).not.toHaveProperty('entitlements');
  expect(await rest.get(`${rest.base}?includeEntitlements=true`)).toMatchObject({
    entitlements: { brandingRemoval: { value: false } },
  });
});

test('what the mask names is changed, and no more', async () => {
  const rest = await restTenant(app);
  const changed = await rest.patch(rest.base, {
    updateMask: ['appName'],
    project: { appName: 'Other', name: 'ignored' },
  });
  expect(changed).toMatchObject({ appName: 'Other', name: rest.tenant.projectName });
});

test('every offending input is named at once', async () => {
  const { builder } = await restTenant(app);
  const { issues } = await builder.refusal('POST', '/projects', { name: '-', appName: '' });
  expect([...new Set(issues?.map((issue) => `${issue.in} ${issue.name}`))].sort()).toEqual([
    'body appName',
    'body name',
    'body orgId',
  ]);
});

test("another tenant's project does not exist", async () => {
  const [a, b] = [await restTenant(app), await restTenant(app)];
  expect(await b.refusal('GET', a.base)).toMatchObject({ status: 404 });
  const body = { updateMask: ['appName'], project: { appName: 'x' } };
  expect(await b.refusal('PATCH', a.base, body)).toMatchObject({ status: 404 });
  const { orgId } = a.tenant;
  const made = await b.builder.refusal('POST', '/projects', { name: 'no', appName: 'x', orgId });
  expect(made.status).toBe(404);
});
