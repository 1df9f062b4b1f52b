import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import {
  createRestTenant,
  listIssuePositions,
  type RestTenant,
} from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();
const OAUTH_CLIENT = { clientId: 'client', clientSecret: 'planted-secret' };

function createProviderApp(rest: RestTenant, overrides: object = {}) {
  const body = { provider: 'hubspot', ...OAUTH_CLIENT, ...overrides };
  return rest.post(`${rest.base}/provider-apps`, body, 200);
}

test('creates and lists a provider app, and never returns its secret', async () => {
  const rest = await createRestTenant(app);
  const metadata = { authQueryParams: { optional_scope: ['a', 'b'] } };
  const createdApp = await createProviderApp(rest, {
    scopes: ['contacts'],
    externalRef: '42',
    metadata,
  });
  expect(createdApp).toEqual({
    id: expect.stringMatching(/^app_/),
    projectId: rest.tenant.projectId,
    provider: 'hubspot',
    clientId: 'client',
    externalRef: '42',
    scopes: ['contacts'],
    metadata,
    redirectURL: expect.stringMatching(/\/oauth\/callback$/),
    warnings: [],
    createTime: expect.any(String),
  });
  const salesforceApp = await createProviderApp(rest, { provider: 'salesforce' });
  expect(await rest.get(`${rest.base}/provider-apps`)).toEqual([salesforceApp, createdApp]);
  expect(await rest.get(`${rest.base}/provider-apps?provider=hubspot`)).toEqual([createdApp]);
});

test('updates only the fields in the mask', async () => {
  const rest = await createRestTenant(app);
  const { id } = await createProviderApp(rest, { scopes: ['a'], externalRef: '42' });
  const path = `${rest.base}/provider-apps/${id}`;
  const changed = await rest.patch(path, {
    updateMask: ['externalRef', 'scopes', 'clientSecret'],
    providerApp: {
      externalRef: null,
      scopes: ['b'],
      clientSecret: 'planted-secret-2',
      clientId: 'ignored',
    },
  });
  expect(changed).toMatchObject({ clientId: 'client', scopes: ['b'] });
  expect(changed).not.toHaveProperty('externalRef');
  expect(JSON.stringify(changed)).not.toContain('planted');
});

test('refuses invalid inputs, reports the position of each, and repeats no secret', async () => {
  const rest = await createRestTenant(app);
  const expectIssues = async (method: 'POST' | 'PATCH', path: string, body: unknown) => {
    const refusal = await rest.expectRefusal(method, `${rest.base}/provider-apps${path}`, body);
    expect(refusal.status).toBe(400);
    expect(JSON.stringify(refusal)).not.toContain('planted');
    return listIssuePositions(refusal);
  };
  const body = { provider: 'none', clientId: '', clientSecret: 'planted\u0007', scopes: ['a', ''] };
  expect(await expectIssues('POST', '', body)).toEqual([
    'body clientId',
    'body clientSecret',
    'body scopes[1]',
  ]);
  const valid = { ...body, clientId: 'c', clientSecret: 'planted', scopes: [] };
  expect(await expectIssues('POST', '', valid)).toEqual(['body provider']);
  const { id } = await createProviderApp(rest);
  expect(
    await expectIssues('PATCH', `/${id}`, {
      updateMask: ['clientId', 'provider', 'metadata'],
      providerApp: { provider: 'none', metadata: { other: 1 }, clientSecret: 'planted\u0007' },
    }),
  ).toEqual(['body providerApp.clientId', 'body providerApp.metadata.other']);
  expect(
    await expectIssues('PATCH', `/${id}`, { updateMask: ['EXTERNAL_REF'], providerApp: {} }),
  ).toEqual(['body updateMask[0]']);
});

test('returns 409 for deleting a provider app that connections use, and deletes an unused one', async () => {
  const rest = await createRestTenant(app);
  const used = await createProviderApp(rest);
  await rest.post(`${rest.base}/connections:generate`, {
    groupRef: 'acme',
    consumerRef: 'ann',
    provider: 'hubspot',
    oauth2AuthorizationCode: { accessToken: { token: 'at' } },
  });
  const path = `${rest.base}/provider-apps`;
  expect(await rest.expectRefusal('DELETE', `${path}/${used.id}`)).toMatchObject({ status: 409 });
  const unused = await createProviderApp(rest);
  await rest.delete(`${path}/${unused.id}`);
  expect(await rest.expectRefusal('DELETE', `${path}/${unused.id}`)).toMatchObject({ status: 404 });
});

test("returns 404 for another tenant's provider app, and requires provider-apps:write", async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  const { id } = await createProviderApp(rest);
  const change = { updateMask: ['clientId'], providerApp: { clientId: 'mine' } };
  for (const base of [rest.base, otherTenant.base]) {
    const path = `${base}/provider-apps/${id}`;
    expect(await otherTenant.expectRefusal('PATCH', path, change)).toMatchObject({ status: 404 });
    expect(await otherTenant.expectRefusal('DELETE', path)).toMatchObject({ status: 404 });
  }
  const reader = await rest.withScopes('read');
  const path = `${rest.base}/provider-apps`;
  for (const refusal of [
    await reader.expectRefusal('POST', path, { provider: 'hubspot', ...OAUTH_CLIENT }),
    await reader.expectRefusal('PATCH', `${path}/${id}`, change),
    await reader.expectRefusal('DELETE', `${path}/${id}`),
  ]) {
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('provider-apps:write');
  }
});
