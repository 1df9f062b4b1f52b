/** Roles of members: restricted mutations, changes of roles, and the last admin. */
import { isObjectType } from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { createConsoleSession } from '../../../../src/domain/access/viewer/console-session.ts';
import { isForAdmins, type Need } from '../../../../src/domain/access/viewer/needs.ts';
import type { OrgRole } from '../../../../src/domain/access/viewer/org-role.ts';
import { schema } from '../../../../src/graphql/schema/schema.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { addMember } from '../../../support/fixtures/tenant.ts';
import type { GraphqlClient } from '../../../support/graphql-client.ts';
import { createRestClient } from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();
const { prisma } = app.app.services.database;

/** Returns a mutation that selects only the type of its payload. */
function createMutation(name: string): string {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
  return `mutation RunMutation($input: ${type}!) { ${name}(input: $input) { __typename } }`;
}

const LIST_ROLES = `query ListRoles($id: ID!) { org(id: $id) {
  viewerRole members { totalCount nodes { role builder { id } builderId createTime } }
} }`;

async function queryRoles({ builder, orgId }: Tenant): Promise<Record<string, OrgRole>> {
  const { org } = await builder.query(LIST_ROLES, { id: orgId });
  const members: { role: OrgRole; builder: { id: string } }[] = org.members.nodes;
  return Object.fromEntries(members.map(({ role, builder: { id } }) => [id, role]));
}

interface Subjects {
  tenant: Tenant;
  member: Tenant;
  otherMember: Tenant;
  inviteId: string;
  claimedDomainId: string;
  /** An inactive key with org:write. */
  orgKeyId: string;
}
let subjects: Subjects;

beforeAll(async () => {
  const tenant = await app.createTenant();
  const [member, otherMember] = [
    await addMember(app, tenant, 'MEMBER'),
    await addMember(app, tenant, 'MEMBER'),
  ];
  const { orgId, projectId } = tenant;
  const ids = { invite: newId('inv'), claim: newId('dom'), key: newId('key') };
  const email = 'eve@example.com';
  const invite = { id: ids.invite, orgId, invitedEmail: email, pendingEmail: email };
  const expireTime = new Date(Date.now() + 3_600_000);
  await prisma.invite.create({
    data: { ...invite, status: 'PENDING', role: 'MEMBER', expireTime },
  });
  const domain = `${crypto.randomUUID()}.example.com`;
  await prisma.claimedDomain.create({ data: { id: ids.claim, orgId, domain } });
  const key = { projectId, label: 'Provisioning', hash: ids.key, prefix: 'ik_', active: false };
  await prisma.apiKey.create({ data: { id: ids.key, ...key, scopes: ['org:write'] } });
  const rows = { inviteId: ids.invite, claimedDomainId: ids.claim, orgKeyId: ids.key };
  subjects = { tenant, member, otherMember, ...rows };
});

type Input = (walk: Subjects) => Record<string, unknown>;

/** The mutations that only admins may call, each with a valid input. */
const ADMIN_MUTATIONS: [name: string, input: Input][] = [
  [
    'claimDomain',
    ({ tenant: { orgId } }) => ({ domain: 'x.example.com', parentId: orgId, parentType: 'ORG' }),
  ],
  ['createInvite', ({ tenant: { orgId } }) => ({ orgId, email: 'ada@example.com' })],
  ['createProject', ({ tenant: { orgId } }) => ({ orgId, name: 'new-project', appName: 'App' })],
  ['deleteInvite', ({ tenant: { orgId }, inviteId }) => ({ orgId, inviteId })],
  ['deleteOrg', ({ tenant: { orgId } }) => ({ orgId })],
  [
    'deleteProject',
    ({ tenant: { projectId, projectName } }) => ({
      projectIdOrName: projectId,
      confirmName: projectName,
    }),
  ],
  ['releaseClaimedDomain', ({ claimedDomainId }) => ({ claimedDomainId })],
  [
    'updateMember',
    ({ tenant: { orgId }, member: { builderId } }) => ({ orgId, builderId, role: 'ADMIN' }),
  ],
  ['updateOrg', ({ tenant: { orgId } }) => ({ orgId, label: 'Mine' })],
  ['verifyClaimedDomain', ({ claimedDomainId }) => ({ claimedDomainId })],
];

/** Mutations of which only some calls need an admin. */
const PARTLY_RESTRICTED: [name: string, input: Input][] = [
  [
    'addMember',
    ({ tenant: { orgId }, otherMember: { builderId } }) => ({
      orgId,
      builderId,
    }),
  ],
  ['removeMember', ({ tenant: { orgId }, otherMember: { builderId } }) => ({ orgId, builderId })],
  [
    'createApiKey',
    ({ tenant: { projectId } }) => ({
      projectIdOrName: projectId,
      label: 'Mine',
      scopes: ['READ', 'ORG_WRITE'],
    }),
  ],
  [
    'updateApiKey',
    ({ tenant: { projectId, apiKeyId } }) => ({
      projectIdOrName: projectId,
      apiKeyId,
      scopes: ['ORG_WRITE'],
    }),
  ],
  [
    'updateApiKey',
    ({ tenant: { projectId }, orgKeyId }) => ({
      projectIdOrName: projectId,
      apiKeyId: orgKeyId,
      active: true,
    }),
  ],
];

test('lists every mutation that requires an admin', () => {
  const mutations = schema.getMutationType();
  if (!isObjectType(mutations)) throw new Error('The schema has no mutations.');
  const declaredNames = Object.values(mutations.getFields())
    .filter(({ extensions }) => isForAdmins(extensions.needs as Need))
    .map(({ name }) => name);
  expect(declaredNames.sort()).toEqual(ADMIN_MUTATIONS.map(([name]) => name));
});

test.each([
  ...ADMIN_MUTATIONS,
  ...PARTLY_RESTRICTED,
])('refuses %s of a member', async (name, createInput) => {
  const { member } = subjects;
  const { code, problem } = await member.builder.expectRefusal(createMutation(name), {
    input: createInput(subjects),
  });
  expect([code, problem.detail]).toEqual(['FORBIDDEN', expect.stringContaining('the role admin')]);
});

test('lets a refused member work in the projects, and has changed nothing', async () => {
  const { tenant, member, inviteId, claimedDomainId, orgKeyId } = subjects;
  const { orgId, projectId } = tenant;
  expect(await prisma.orgMember.count({ where: { orgId, role: 'ADMIN' } })).toBe(1);
  expect(await prisma.orgMember.count({ where: { orgId } })).toBe(3);
  expect(await prisma.invite.findMany({ where: { orgId } })).toMatchObject([
    { id: inviteId, status: 'PENDING' },
  ]);
  expect(await prisma.claimedDomain.count({ where: { id: claimedDomainId } })).toBe(1);
  expect(await prisma.apiKey.count({ where: { projectId, active: true } })).toBe(1);
  const keyInput = { projectIdOrName: projectId, label: 'Backend', scopes: ['FULL', 'ORG_READ'] };
  await member.builder.query(createMutation('createApiKey'), { input: keyInput });
  const rename = { projectIdOrName: projectId, apiKeyId: orgKeyId, label: 'Renamed' };
  await member.builder.query(createMutation('updateApiKey'), { input: rename });
  const topic = { projectIdOrName: projectId, name: 'mine' };
  await member.builder.query(createMutation('createTopic'), { input: topic });
  await member.builder.query(createMutation('updateProject'), {
    input: { projectIdOrName: projectId, appName: 'Better' },
  });
});

test('refuses to create a key with org:write for a key without it', async () => {
  const { tenant } = subjects;
  const key = await tenant.withScopes('keys:write');
  const input = { projectIdOrName: tenant.projectId, label: 'More', scopes: ['ORG_WRITE'] };
  expect(await key.expectRefusal(createMutation('createApiKey'), { input })).toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('returns all roles to members and keys, and viewerRole to builders only', async () => {
  const tenant = await app.createTenant();
  const member = await addMember(app, tenant, 'MEMBER');
  const { org } = await member.builder.query(LIST_ROLES, { id: tenant.orgId });
  const list = [
    { id: member.builderId, role: 'MEMBER' },
    { id: tenant.builderId, role: 'ADMIN' },
  ].map(({ id, role }) => {
    return { role, builder: { id }, builderId: id, createTime: expect.any(String) };
  });
  expect(org).toEqual({ viewerRole: 'MEMBER', members: { totalCount: 2, nodes: list } });
  const keyResponse = await tenant.query(LIST_ROLES, { id: tenant.orgId });
  expect(keyResponse.org).toEqual({ viewerRole: null, members: { totalCount: 2, nodes: list } });
  const otherTenant = await app.createTenant();
  expect(await otherTenant.builder.query(LIST_ROLES, { id: tenant.orgId })).toEqual({ org: null });
});

test('applies a new role to the rest of the request and to later ones', async () => {
  const tenant = await app.createTenant();
  const { orgId } = tenant;
  const member = await addMember(app, tenant, 'MEMBER');
  const promote = { orgId, builderId: member.builderId, role: 'ADMIN' };
  await tenant.builder.query(createMutation('updateMember'), { input: promote });
  await member.builder.query(createMutation('updateOrg'), { input: { orgId, label: 'Ours' } });
  const query = `mutation UpdateMember($step: UpdateMemberInput!, $rename: UpdateOrgInput!) {
    updateMember(input: $step) { member { role } }
    updateOrg(input: $rename) { org { id } }
  }`;
  const step = { orgId, builderId: tenant.builderId, role: 'MEMBER' };
  const { data, errors } = await tenant.builder.request(query, {
    step,
    rename: { orgId, label: 'Mine' },
  });
  expect(data).toEqual({ updateMember: { member: { role: 'MEMBER' } }, updateOrg: null });
  expect(errors).toMatchObject([{ path: ['updateOrg'], extensions: { code: 'FORBIDDEN' } }]);
  expect(await queryRoles(tenant)).toEqual({
    [tenant.builderId]: 'MEMBER',
    [member.builderId]: 'ADMIN',
  });
});

test("applies another process's change of a role to cached tokens and console sessions", async () => {
  const tenant = await app.createTenant();
  const { orgId } = tenant;
  const member = await addMember(app, tenant, 'MEMBER');
  const secret = await createConsoleSession(app.app.services, member.builderId);
  const session = app.createClient({
    cookie: `console-session=${secret}`,
    'sec-fetch-site': 'same-origin',
  });
  const input = { orgId, label: 'Ours' };
  const rename = async ({ request }: GraphqlClient) => {
    const { errors } = await request(createMutation('updateOrg'), { input });
    return errors?.[0]?.extensions.code ?? null;
  };
  const clients = [member.builder, session];
  const renameByAll = () => Promise.all(clients.map(rename));
  expect(await renameByAll()).toEqual(['FORBIDDEN', 'FORBIDDEN']);
  for (const role of ['ADMIN', 'MEMBER'] as const) {
    await prisma.orgMember.update({
      where: { orgId_builderId: { orgId, builderId: member.builderId } },
      data: { role },
    });
    const code = role === 'ADMIN' ? null : 'FORBIDDEN';
    await expect.poll(renameByAll).toEqual([code, code]);
  }
});

test('refuses to demote or remove the last admin', async () => {
  const tenant = await app.createTenant();
  const { orgId, builderId } = tenant;
  const member = await addMember(app, tenant, 'MEMBER');
  const lastAdminRefusal = {
    code: 'CONFLICT',
    problem: { detail: expect.stringContaining('Make another') },
  };
  const demote = { orgId, builderId, role: 'MEMBER' };
  expect(
    await tenant.builder.expectRefusal(createMutation('updateMember'), { input: demote }),
  ).toMatchObject(lastAdminRefusal);
  const leave = { orgId, builderId };
  expect(
    await tenant.builder.expectRefusal(createMutation('removeMember'), { input: leave }),
  ).toMatchObject(lastAdminRefusal);
  await tenant.builder.query(createMutation('updateMember'), {
    input: { ...demote, role: 'ADMIN' },
  });
  await member.builder.query(createMutation('removeMember'), {
    input: { orgId, builderId: member.builderId },
  });
  expect(await queryRoles(tenant)).toEqual({ [builderId]: 'ADMIN' });
  const missingMember = { orgId, builderId: member.builderId, role: 'ADMIN' };
  expect(
    await tenant.builder.expectRefusal(createMutation('updateMember'), { input: missingMember }),
  ).toMatchObject({ code: 'NOT_FOUND' });
});

test.each([
  [
    'demote',
    (orgId: string, builderId: string) => ['updateMember', { orgId, builderId, role: 'MEMBER' }],
  ],
  ['remove', (orgId: string, builderId: string) => ['removeMember', { orgId, builderId }]],
] as const)('keeps one admin if two admins %s each other at the same time', async (_title, change) => {
  for (let round = 0; round < 5; round += 1) {
    const tenant = await app.createTenant();
    const secondAdmin = await addMember(app, tenant, 'ADMIN');
    const responses = await Promise.all(
      [[tenant, secondAdmin] as const, [secondAdmin, tenant] as const].map(
        ([caller, { builderId }]) => {
          const [name, input] = change(tenant.orgId, builderId);
          return caller.builder.request(createMutation(name as string), { input });
        },
      ),
    );
    const codes = responses.map(({ errors }) => errors?.[0]?.extensions.code ?? null);
    expect(codes.filter((code) => code === null)).toHaveLength(1);
    const where = { orgId: tenant.orgId, role: 'ADMIN' } as const;
    expect(await prisma.orgMember.count({ where })).toBe(1);
  }
});

test('lists and changes roles over REST', async () => {
  const tenant = await app.createTenant();
  const member = await addMember(app, tenant, 'MEMBER');
  const { orgId } = tenant;
  const [admin, otherMember] = [tenant, member].map(({ token }) =>
    createRestClient(app, { authorization: `Bearer ${token}` }),
  ) as [ReturnType<typeof createRestClient>, ReturnType<typeof createRestClient>];
  const path = `/orgs/${orgId}/memberships`;
  const createTime = expect.any(String);
  expect(await otherMember.get(path)).toEqual([
    { orgId, builderId: member.builderId, role: 'member', createTime },
    { orgId, builderId: tenant.builderId, role: 'admin', createTime },
  ]);
  expect(await otherMember.get('/my-info')).toMatchObject({
    projectRoles: { [tenant.projectId]: { role: 'member' }, [member.projectId]: { role: 'admin' } },
  });
  const orgs = await otherMember.get('/orgs');
  expect(orgs.map(({ viewerRole }: { viewerRole: string }) => viewerRole)).toEqual([
    'admin',
    'member',
  ]);
  const change = { updateMask: ['role'], membership: { role: 'admin' } };
  const memberPath = `${path}/${member.builderId}`;
  const refusal = await otherMember.expectRefusal('PATCH', memberPath, change);
  expect([refusal.status, refusal.detail]).toEqual([403, expect.stringContaining('role admin')]);
  expect(await admin.patch(memberPath, change)).toMatchObject({ role: 'admin' });
  expect(await otherMember.get(`/orgs/${orgId}`)).toMatchObject({ viewerRole: 'admin' });
  await admin.delete(`/orgs/${orgId}/builders/${tenant.builderId}`);
  expect(
    await otherMember.expectRefusal('DELETE', `/orgs/${orgId}/builders/${member.builderId}`),
  ).toMatchObject({ status: 409 });
  const account = await otherMember.get(`/orgs/${orgId}/billingAccount`);
  const portal = `/billingAccounts/${account.id}/portalSession`;
  const session = { redirectUrl: 'https://example.com' };
  expect(await otherMember.expectRefusal('POST', portal, session)).toMatchObject({ status: 422 });
  const guest = await addMember(app, tenant, 'MEMBER');
  const guestClient = createRestClient(app, { authorization: `Bearer ${guest.token}` });
  expect(await guestClient.expectRefusal('POST', portal, session)).toMatchObject({ status: 403 });
});
