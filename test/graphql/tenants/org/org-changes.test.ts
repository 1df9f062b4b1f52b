/** Tests how orgs are renamed and deleted, and how members are removed. */
import { expect, test } from 'vitest';
import { newId } from '../../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { openEventStream } from '../../../support/event-stream.ts';
import { addMember } from '../../../support/fixtures/tenant.ts';
import { createRestClient, createRestTenant } from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();
const { prisma } = app.app.services.database;

const UPDATE_ORG = `mutation UpdateOrg($input: UpdateOrgInput!) {
  updateOrg(input: $input) { org { id label updateTime } }
}`;
const DELETE_ORG = `mutation DeleteOrg($input: DeleteOrgInput!) {
  deleteOrg(input: $input) { deletedId }
}`;
const REMOVE_MEMBER =
  'mutation RemoveMember($input: RemoveMemberInput!) { removeMember(input: $input) { deletedId } }';
const CREATE_ORG = 'mutation CreateOrg { createOrg(input: { label: "Short" }) { org { id } } }';
const LIST_ORGS = '{ orgs { nodes { id } } }';
const LIST_MEMBERS =
  'query ListMembers($id: ID!) { org(id: $id) { members { nodes { builderId } } } }';

async function queryMembers({ builder, orgId }: Tenant): Promise<string[]> {
  const { org } = await builder.query(LIST_MEMBERS, { id: orgId });
  return org.members.nodes.map(({ builderId }: { builderId: string }) => builderId).sort();
}

test('lets an admin rename the org, and refuses an API key and a builder of another org', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const input = { orgId: tenant.orgId, label: ' Acme GmbH ' };
  const { org } = (await tenant.builder.query(UPDATE_ORG, { input })).updateOrg;
  expect(org).toEqual({ id: tenant.orgId, label: 'Acme GmbH', updateTime: expect.any(String) });
  expect(await tenant.expectRefusal(UPDATE_ORG, { input })).toMatchObject({ code: 'FORBIDDEN' });
  expect(await otherTenant.builder.expectRefusal(UPDATE_ORG, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
  const { problem } = await tenant.builder.expectRefusal(UPDATE_ORG, {
    input: { ...input, label: ' ' },
  });
  expect(problem.issues).toMatchObject([{ name: 'input.label', value: ' ' }]);
});

test('removes a member from the org and ends their streams', async () => {
  const tenant = await app.createTenant();
  const member = await addMember(app, tenant, 'MEMBER');
  const stream = await openEventStream(app.fetch, {
    query: `subscription FollowNotificationEvents {
      notificationEvents(projectIdOrName: "${tenant.projectId}") { cursor }
    }`,
    variables: {},
    headers: { authorization: `Bearer ${member.token}` },
  });
  const input = { orgId: tenant.orgId, builderId: member.builderId };
  expect(await tenant.builder.query(REMOVE_MEMBER, { input })).toEqual({
    removeMember: { deletedId: member.builderId },
  });
  expect(await queryMembers(tenant)).toEqual([tenant.builderId]);
  expect((await member.builder.query(LIST_ORGS)).orgs.nodes).toEqual([{ id: member.orgId }]);
  const message = await stream.next();
  expect(message?.data.errors[0].extensions.code).toBe('UNAUTHENTICATED');
  expect(await tenant.builder.expectRefusal(REMOVE_MEMBER, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('refuses to remove a member for an API key (FORBIDDEN) and a builder of another org (NOT_FOUND)', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const member = await addMember(app, tenant, 'MEMBER');
  const input = { orgId: tenant.orgId, builderId: member.builderId };
  expect(await tenant.expectRefusal(REMOVE_MEMBER, { input })).toMatchObject({ code: 'FORBIDDEN' });
  expect(await otherTenant.builder.expectRefusal(REMOVE_MEMBER, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect((await queryMembers(tenant)).length).toBe(2);
});

test('deletes an org without projects, and refuses one with projects', async () => {
  const tenant = await app.createTenant();
  const { id } = (await tenant.builder.query(CREATE_ORG)).createOrg.org;
  expect(await tenant.builder.query(DELETE_ORG, { input: { orgId: id } })).toMatchObject({
    deleteOrg: { deletedId: id },
  });
  const where = { orgId: id };
  expect([
    await prisma.org.count({ where: { id } }),
    await prisma.billingAccount.count({ where }),
    await prisma.orgMember.count({ where }),
  ]).toEqual([0, 0, 0]);
  expect(await tenant.builder.expectRefusal(DELETE_ORG, { input: { orgId: id } })).toMatchObject({
    code: 'NOT_FOUND',
  });
  const input = { orgId: tenant.orgId };
  expect(await tenant.builder.expectRefusal(DELETE_ORG, { input })).toMatchObject({
    code: 'CONFLICT',
  });
  expect(await tenant.expectRefusal(DELETE_ORG, { input })).toMatchObject({ code: 'FORBIDDEN' });
});

test('removes a member, renames and deletes an org over REST', async () => {
  const rest = await createRestTenant(app);
  const { tenant } = rest;
  const { orgId } = tenant;
  const member = await addMember(app, tenant, 'MEMBER');
  await rest.builder.delete(`/orgs/${orgId}/builders/${member.builderId}`);
  expect(await queryMembers(tenant)).toEqual([tenant.builderId]);
  const refusal = await rest.builder.expectRefusal(
    'DELETE',
    `/orgs/${orgId}/builders/${tenant.builderId}`,
  );
  expect(refusal).toMatchObject({ status: 409 });
  expect(await rest.builder.expectRefusal('DELETE', `/orgs/${orgId}`)).toMatchObject({
    status: 409,
  });
  const { id } = await rest.builder.post('/orgs', { label: 'Short' });
  expect(await rest.builder.get(`/orgs/${id}/projects`)).toEqual([]);
  const [project] = await rest.get(`/orgs/${orgId}/projects`);
  expect(project).toMatchObject({ id: tenant.projectId, orgId });
  await rest.builder.delete(`/orgs/${id}`);
  expect(await rest.builder.expectRefusal('GET', `/orgs/${id}`)).toMatchObject({ status: 404 });
});

test('limits a builder to 100 orgs, even in concurrent calls, and ignores deleted orgs', async () => {
  const tenant = await app.createTenant();
  const { builderId } = tenant;
  const orgs = Array.from({ length: 98 }, () => ({ id: newId('org'), label: 'One of many' }));
  await prisma.org.createMany({ data: orgs });
  await prisma.orgMember.createMany({
    data: orgs.map(({ id: orgId }) => ({ orgId, builderId, role: 'ADMIN' })),
  });
  const responses = await Promise.all([1, 2, 3].map(() => tenant.builder.request(CREATE_ORG)));
  const codes = responses
    .flatMap(({ errors }) => errors ?? [])
    .map(({ extensions }) => extensions.code);
  expect(codes).toEqual(['CONFLICT', 'CONFLICT']);
  const rest = createRestClient(app, { authorization: `Bearer ${tenant.token}` });
  expect(await rest.expectRefusal('POST', '/orgs', { label: 'More' })).toMatchObject({
    status: 409,
  });
  await rest.delete(`/orgs/${orgs[0]?.id}`);
  expect(await rest.post('/orgs', { label: 'More' })).toMatchObject({ label: 'More' });
});
