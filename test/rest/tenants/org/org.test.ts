import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { createRestTenant, listIssuePositions } from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();

test('creates an org with the builder as an admin, and renames it', async () => {
  const { builder, tenant } = await createRestTenant(app);
  const createdOrg = await builder.post('/orgs', { label: 'Acme' });
  expect(createdOrg).toEqual({
    id: expect.stringMatching(/^org_/),
    label: 'Acme',
    viewerRole: 'admin',
    defaultTeamId: createdOrg.id,
    createTime: expect.any(String),
  });
  const path = `/orgs/${createdOrg.id}`;
  expect(await builder.get(path)).toEqual(createdOrg);
  const role = { role: 'admin', principalType: 'builder', principalId: tenant.builderId };
  expect(await builder.get('/my-info')).toMatchObject({
    orgIds: [tenant.orgId, createdOrg.id],
    projectRoles: {
      [tenant.projectId]: { ...role, project: { id: tenant.projectId, orgId: tenant.orgId } },
    },
    orgRole: { ...role, org: createdOrg },
  });
  const change = { updateMask: ['label'], org: { label: 'Acme Inc.', id: 'ignored' } };
  const renamedOrg = await builder.patch(path, change);
  expect(renamedOrg).toEqual({ ...createdOrg, label: 'Acme Inc.', updateTime: expect.any(String) });
  const listedOrgs = await builder.get('/orgs');
  expect(listedOrgs.map(({ id }: { id: string }) => id)).toEqual([createdOrg.id, tenant.orgId]);
  const { issues } = await builder.expectRefusal('PATCH', path, {
    updateMask: ['label'],
    org: { label: ' ' },
  });
  expect(listIssuePositions({ issues })).toEqual(['body org.label']);
});

test('returns the billing account and the builders of an org', async () => {
  const rest = await createRestTenant(app);
  const { orgId, builderId, builderEmail } = rest.tenant;
  expect(await rest.get(`/orgs/${orgId}/billingAccount`)).toEqual({
    id: expect.stringMatching(/^bil_/),
    displayName: expect.any(String),
    billingProvider: 'none',
    billingProviderRef: expect.any(String),
    createTime: expect.any(String),
  });
  const builders = await rest.get(`/orgs/${orgId}/builders`);
  expect(builders).toEqual([
    {
      id: builderId,
      idpProvider: expect.any(String),
      idpRef: expect.any(String),
      fullName: expect.any(String),
      primaryEmail: builderEmail,
      createTime: expect.any(String),
    },
  ]);
  const [builder] = builders;
  expect(await rest.builder.get('/my-info')).toMatchObject({ builder, orgIds: [orgId] });
});

test("returns 404 for another tenant's org, requires the scopes, and refuses changes by API keys", async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  const path = `/orgs/${rest.tenant.orgId}`;
  const change = { updateMask: ['label'], org: { label: 'Mine' } };
  for (const client of [otherTenant, otherTenant.builder]) {
    for (const below of ['', '/builders', '/billingAccount', '/invites', '/claimed-domains']) {
      expect(await client.expectRefusal('GET', path + below)).toMatchObject({ status: 404 });
    }
  }
  expect(await otherTenant.builder.expectRefusal('PATCH', path, change)).toMatchObject({
    status: 404,
  });
  const reader = await rest.withScopes('read');
  for (const refusal of [
    await reader.expectRefusal('GET', '/orgs'),
    await reader.expectRefusal('GET', path),
    await reader.expectRefusal('GET', `${path}/billingAccount`),
  ]) {
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('org:read');
  }
  for (const refusal of [
    await rest.expectRefusal('POST', '/orgs', { label: 'Mine' }),
    await rest.expectRefusal('PATCH', path, change),
    await rest.expectRefusal('GET', '/my-info'),
  ]) {
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('bearer');
  }
});

test('returns 422 without a billing portal, and 404 to callers who are not members', async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  const { id } = await rest.get(`/orgs/${rest.tenant.orgId}/billingAccount`);
  const path = `/billingAccounts/${id}/portalSession`;
  const body = { redirectUrl: 'https://builder.test/billing' };
  expect(await rest.expectRefusal('POST', path, body)).toMatchObject({
    status: 422,
    detail: 'No billing portal is configured on this server.',
  });
  expect(await otherTenant.expectRefusal('POST', path, body)).toMatchObject({ status: 404 });
  const reader = await rest.withScopes('read');
  expect(await reader.expectRefusal('POST', path, body)).toMatchObject({ status: 403 });
});
