import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { createRestTenant, listIssuePositions } from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();

test('creates, lists, finds and revokes an invite', async () => {
  const rest = await createRestTenant(app);
  const path = `/orgs/${rest.tenant.orgId}/invites`;
  const createdInvite = await rest.post(path, { email: 'Eve@Example.com' });
  expect(createdInvite).toEqual({
    id: expect.stringMatching(/^inv_/),
    invitedEmail: 'eve@example.com',
    role: 'member',
    parentType: 'org',
    parentId: rest.tenant.orgId,
    status: 'pending',
    createTime: expect.any(String),
  });
  expect(await rest.get(path)).toEqual([createdInvite]);
  expect(await rest.get(`${path}/${createdInvite.id}`)).toEqual(createdInvite);
  const repeated = await rest.expectRefusal('POST', path, { email: 'eve@example.com' });
  expect(repeated.status).toBe(409);

  await rest.delete(`${path}/${createdInvite.id}`);
  const revoked = await rest.get(`${path}/${createdInvite.id}`);
  expect(revoked).toEqual({ ...createdInvite, status: 'revoked', updateTime: expect.any(String) });
  expect(await rest.get(`${path}?status=revoked`)).toEqual([revoked]);
  expect(await rest.get(`${path}?status=pending`)).toEqual([]);
  expect(await rest.expectRefusal('DELETE', `${path}/${createdInvite.id}`)).toMatchObject({
    status: 409,
  });
});

test("lists the invites to a builder's address, and accepts one of them", async () => {
  const [host, guest] = [await createRestTenant(app), await createRestTenant(app)];
  const { orgId } = host.tenant;
  const email = guest.tenant.builderEmail;
  const createdInvite = await host.builder.post(`/orgs/${orgId}/invites`, { email });
  expect(await guest.builder.get('/invites')).toEqual([createdInvite]);
  const body = { inviteId: createdInvite.id };
  const joined = await guest.builder.post('/invites:accept', body, 200);
  expect(joined).toMatchObject({
    builder: { id: guest.tenant.builderId, primaryEmail: email },
    orgIds: [guest.tenant.orgId, orgId],
  });
  expect(await guest.builder.get(`/orgs/${orgId}/invites/${createdInvite.id}`)).toMatchObject({
    status: 'accepted',
  });
  expect(await guest.builder.get('/invites')).toEqual([]);
  const repeated = await guest.builder.expectRefusal('POST', '/invites:accept', body);
  expect(repeated.status).toBe(409);
});

test('reports an invalid address and role at their positions', async () => {
  const rest = await createRestTenant(app);
  const path = `/orgs/${rest.tenant.orgId}/invites`;
  const { issues } = await rest.expectRefusal('POST', path, { email: 'eve', role: 'owner' });
  expect(listIssuePositions({ issues }).sort()).toEqual(['body email', 'body role']);
  const refusal = await rest.expectRefusal('GET', `${path}?status=PENDING`);
  expect(refusal.issues).toMatchObject([{ in: 'query', name: 'status' }]);
});

test("returns 404 for another tenant's invite, and requires the scopes", async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  const path = `/orgs/${rest.tenant.orgId}/invites`;
  const { id } = await rest.post(path, { email: 'eve@example.com' });
  for (const base of [path, `/orgs/${otherTenant.tenant.orgId}/invites`]) {
    expect(await otherTenant.expectRefusal('GET', `${base}/${id}`)).toMatchObject({ status: 404 });
    expect(await otherTenant.expectRefusal('DELETE', `${base}/${id}`)).toMatchObject({
      status: 404,
    });
  }
  const accepting = await otherTenant.builder.expectRefusal('POST', '/invites:accept', {
    inviteId: id,
  });
  expect(accepting.status).toBe(404);
  const keyRefusal = await rest.expectRefusal('POST', '/invites:accept', { inviteId: id });
  expect(keyRefusal.status).toBe(403);
  const fullClient = await rest.withScopes('full');
  await fullClient.get(`${path}/${id}`);
  for (const refusal of [
    await fullClient.expectRefusal('POST', path, { email: 'bob@example.com' }),
    await fullClient.expectRefusal('DELETE', `${path}/${id}`),
  ]) {
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('org:write');
  }
});

test("accepts the newest invite to the builder's address by naming the address", async () => {
  const [host, guest] = [await createRestTenant(app), await createRestTenant(app)];
  const { orgId } = host.tenant;
  const invitedEmail = guest.tenant.builderEmail;
  const getAcceptRefusal = (client: typeof guest.builder, body: object) =>
    client.expectRefusal('POST', '/invites:accept', body);
  expect(await getAcceptRefusal(guest.builder, { invitedEmail })).toMatchObject({ status: 404 });
  const { id: inviteId } = await host.builder.post(`/orgs/${orgId}/invites`, {
    email: invitedEmail,
  });
  expect(await getAcceptRefusal(host.builder, { invitedEmail })).toMatchObject({ status: 404 });
  expect(await getAcceptRefusal(guest.builder, { invitedEmail, inviteId })).toMatchObject({
    status: 400,
  });
  expect(await getAcceptRefusal(guest.builder, {})).toMatchObject({ status: 400 });
  const body = { invitedEmail: invitedEmail.toUpperCase() };
  const joined = await guest.builder.post('/invites:accept', body, 200);
  expect(joined.orgIds).toContain(orgId);
  expect(joined.projectRoles).toHaveProperty(host.tenant.projectId);
  expect(await getAcceptRefusal(guest.builder, { invitedEmail })).toMatchObject({ status: 404 });
});
