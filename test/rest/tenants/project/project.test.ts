import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { createRestTenant, listIssuePositions } from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();

test('creates a project, and finds it by id and by name', async () => {
  const { builder, tenant } = await createRestTenant(app);
  const name = `Created-${crypto.randomUUID().slice(0, 8)}`;
  const createdProject = await builder.post('/projects', {
    name,
    appName: 'Globex',
    orgId: tenant.orgId,
  });
  expect(createdProject).toEqual({
    id: expect.stringMatching(/^prj_/),
    name: name.toLowerCase(),
    appName: 'Globex',
    allowedOrigins: [],
    orgId: tenant.orgId,
    createTime: expect.any(String),
  });
  expect(await builder.get(`/projects/${createdProject.id}`)).toEqual(createdProject);
  expect(await builder.get(`/projects/${createdProject.name}`)).toEqual(createdProject);
  const listedProjects = await builder.get('/projects');
  expect(listedProjects.map(({ id }: { id: string }) => id)).toEqual([
    createdProject.id,
    tenant.projectId,
  ]);
});

test("returns an API key's own project, and refuses to create one", async () => {
  const rest = await createRestTenant(app);
  const { projectId: id, projectName: name, orgId } = rest.tenant;
  expect(await rest.get('/projects')).toMatchObject([{ id, name }]);
  const refusal = await rest.expectRefusal('POST', '/projects', {
    name: 'mine',
    appName: 'x',
    orgId,
  });
  expect(refusal.status).toBe(403);
});

test('returns entitlements only if requested', async () => {
  const rest = await createRestTenant(app);
  expect(await rest.get(rest.base)).not.toHaveProperty('entitlements');
  expect(await rest.get(`${rest.base}?includeEntitlements=true`)).toMatchObject({
    entitlements: { brandingRemoval: { value: false } },
  });
});

test('updates only the fields in the mask', async () => {
  const rest = await createRestTenant(app);
  const changed = await rest.patch(rest.base, {
    updateMask: ['appName'],
    project: { appName: 'Renamed', name: 'ignored' },
  });
  expect(changed).toMatchObject({ appName: 'Renamed', name: rest.tenant.projectName });
});

test('sets and clears the appearance of the connect page', async () => {
  const rest = await createRestTenant(app);
  const project = { logoUrl: 'https://a.test/logo.png', accentColor: '#AA3300', locale: 'de-at' };
  const updateMask = Object.keys(project);
  const changed = await rest.patch(rest.base, { updateMask, project });
  expect(changed).toMatchObject({ ...project, accentColor: '#aa3300', locale: 'de-AT' });
  const cleared = { logoUrl: null, accentColor: null };
  await rest.patch(rest.base, { updateMask: Object.keys(cleared), project: cleared });
  const storedProject = await rest.get(rest.base);
  expect(storedProject).toMatchObject({ locale: 'de-AT' });
  expect(storedProject).not.toHaveProperty('logoUrl');
  expect(storedProject).not.toHaveProperty('accentColor');
});

test('refuses invalid inputs, and reports the position of each', async () => {
  const { builder } = await createRestTenant(app);
  const { issues } = await builder.expectRefusal('POST', '/projects', { name: '-', appName: '' });
  expect([...new Set(listIssuePositions({ issues }))].sort()).toEqual([
    'body appName',
    'body name',
    'body orgId',
  ]);
});

test("returns 404 for another tenant's project", async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  expect(await otherTenant.expectRefusal('GET', rest.base)).toMatchObject({ status: 404 });
  const body = { updateMask: ['appName'], project: { appName: 'x' } };
  expect(await otherTenant.expectRefusal('PATCH', rest.base, body)).toMatchObject({ status: 404 });
  const { orgId } = rest.tenant;
  const creationRefusal = await otherTenant.builder.expectRefusal('POST', '/projects', {
    name: 'no',
    appName: 'x',
    orgId,
  });
  expect(creationRefusal.status).toBe(404);
});
