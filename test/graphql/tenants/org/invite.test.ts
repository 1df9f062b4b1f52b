import { afterEach, expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { listIssueNames } from '../../../support/graphql-client.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
let laterMs = 0;
const app = await getSharedApp({ now: () => new Date(Date.now() + laterMs) });
afterEach(() => {
  laterMs = 0;
});

const CREATE_INVITE = `mutation CreateInvite($input: CreateInviteInput!) {
  createInvite(input: $input) {
    invite { id invitedEmail role parentType parentId status createTime updateTime }
  }
}`;
const DELETE_INVITE = `mutation DeleteInvite($input: DeleteInviteInput!) {
  deleteInvite(input: $input) { deletedId invite { id status updateTime } }
}`;
const ACCEPT_INVITE = `mutation AcceptInvite($input: AcceptInviteInput!) {
  acceptInvite(input: $input) { invite { id status updateTime } builder { id } }
}`;
const LIST_INVITES = `query ListInvites(
  $id: ID!, $status: InviteStatus, $first: Int, $after: String, $last: Int, $before: String
) {
  org(id: $id) {
    invites(status: $status, first: $first, after: $after, last: $last, before: $before) {
      totalCount nodes { id status }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
}`;
const GET_INVITE = 'query GetInvite($id: ID!) { node(id: $id) { ... on Invite { id status } } }';
const LIST_MEMBERS =
  'query ListMembers($id: ID!) { org(id: $id) { members { nodes { builderId } } } }';

async function createInvite(
  { builder, orgId }: Tenant,
  email: string,
  role = 'MEMBER',
): Promise<string> {
  const { createInvite } = await builder.query(CREATE_INVITE, { input: { orgId, email, role } });
  return createInvite.invite.id;
}

async function listInvites(
  { builder, orgId: id }: Tenant,
  variables: Record<string, unknown> = {},
) {
  return (await builder.query(LIST_INVITES, { id, ...variables })).org.invites;
}

async function queryStatus({ builder }: Tenant, id: string): Promise<string> {
  return (await builder.query(GET_INVITE, { id })).node.status;
}

test('creates an invite for the address in lowercase', async () => {
  const tenant = await app.createTenant();
  const input = { orgId: tenant.orgId, email: 'Eve@Example.com' };
  expect(await tenant.builder.query(CREATE_INVITE, { input })).toEqual({
    createInvite: {
      invite: {
        id: expect.stringMatching(/^inv_/),
        invitedEmail: 'eve@example.com',
        role: 'MEMBER',
        parentType: 'ORG',
        parentId: tenant.orgId,
        status: 'PENDING',
        createTime: expect.any(String),
        updateTime: null,
      },
    },
  });
});

test('lets a key with org:write, which full does not imply, invite and revoke', async () => {
  const tenant = await app.createTenant();
  const { orgId } = tenant;
  const writer = await tenant.withScopes('org:write');
  const fullClient = await tenant.withScopes('full');
  const creation = await writer.query(CREATE_INVITE, {
    input: { orgId, email: 'eve@example.com' },
  });
  const inviteId = creation.createInvite.invite.id;
  for (const refusal of [
    await fullClient.expectRefusal(CREATE_INVITE, { input: { orgId, email: 'ada@example.com' } }),
    await fullClient.expectRefusal(DELETE_INVITE, { input: { orgId, inviteId } }),
  ]) {
    expect(refusal).toMatchObject({ code: 'FORBIDDEN' });
  }
  expect((await listInvites(tenant)).nodes).toEqual([{ id: inviteId, status: 'PENDING' }]);
  expect(await writer.query(DELETE_INVITE, { input: { orgId, inviteId } })).toMatchObject({
    deleteInvite: { invite: { status: 'REVOKED' } },
  });
});

test('reports every invalid input', async () => {
  const tenant = await app.createTenant();
  for (const email of ['eve', 'eve@example', `${'e'.repeat(250)}@example.com`]) {
    const { code, problem } = await tenant.builder.expectRefusal(CREATE_INVITE, {
      input: { orgId: '', email },
    });
    expect(code).toBe('BAD_USER_INPUT');
    expect(listIssueNames(problem)).toEqual(expect.arrayContaining(['input.orgId', 'input.email']));
  }
});

test('creates one pending invite of an address and org, even in concurrent calls', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const input = { orgId: tenant.orgId, email: 'eve@example.com' };
  const responses = await Promise.all(
    [1, 2, 3].map(() => tenant.builder.request(CREATE_INVITE, { input })),
  );
  const codes = responses
    .flatMap(({ errors }) => errors ?? [])
    .map((error) => error.extensions.code);
  expect(codes).toEqual(['CONFLICT', 'CONFLICT']);
  const upper = { input: { ...input, email: 'EVE@example.com' } };
  expect(await tenant.builder.expectRefusal(CREATE_INVITE, upper)).toMatchObject({
    code: 'CONFLICT',
  });
  expect((await listInvites(tenant)).totalCount).toBe(1);
  expect(await createInvite(otherTenant, 'eve@example.com')).toEqual(expect.any(String));
});

test('returns CONFLICT for the address of a member', async () => {
  const tenant = await app.createTenant();
  const input = { orgId: tenant.orgId, email: tenant.builderEmail.toUpperCase() };
  expect(await tenant.builder.expectRefusal(CREATE_INVITE, { input })).toMatchObject({
    code: 'CONFLICT',
  });
  expect((await listInvites(tenant)).totalCount).toBe(0);
});

test('expires an invite after 7 days, and accepts the address again', async () => {
  const tenant = await app.createTenant();
  const expiredId = await createInvite(tenant, 'eve@example.com');
  laterMs = 7 * DAY_MS - 60_000;
  expect(await queryStatus(tenant, expiredId)).toBe('PENDING');
  laterMs = 7 * DAY_MS + 60_000;
  expect(await queryStatus(tenant, expiredId)).toBe('EXPIRED');

  const renewedId = await createInvite(tenant, 'eve@example.com');
  expect((await listInvites(tenant)).nodes).toEqual([
    { id: renewedId, status: 'PENDING' },
    { id: expiredId, status: 'EXPIRED' },
  ]);
  const input = { orgId: tenant.orgId, inviteId: expiredId };
  expect(await tenant.builder.expectRefusal(DELETE_INVITE, { input })).toMatchObject({
    code: 'CONFLICT',
  });
});

test('lists invites by their present status, in both directions', async () => {
  const tenant = await app.createTenant();
  const { orgId } = tenant;
  const replaced = await createInvite(tenant, 'a@example.com');
  const lapsed = await createInvite(tenant, 'b@example.com');
  const revoked = await createInvite(tenant, 'c@example.com');
  await tenant.builder.query(DELETE_INVITE, { input: { orgId, inviteId: revoked } });
  laterMs = 8 * DAY_MS;
  const renewedId = await createInvite(tenant, 'a@example.com');
  const fresh = await createInvite(tenant, 'd@example.com');

  const listIdsByStatus = async (status: string) =>
    (await listInvites(tenant, { status })).nodes.map((invite: { id: string }) => invite.id);
  expect(await listIdsByStatus('PENDING')).toEqual([fresh, renewedId]);
  expect(await listIdsByStatus('EXPIRED')).toEqual([lapsed, replaced]);
  expect(await listIdsByStatus('REVOKED')).toEqual([revoked]);
  expect(await listIdsByStatus('ACCEPTED')).toEqual([]);
  expect((await listInvites(tenant, { status: null })).totalCount).toBe(5);

  const expired = { status: 'EXPIRED', first: 1 };
  const firstPage = await listInvites(tenant, expired);
  expect(firstPage).toMatchObject({
    totalCount: 2,
    nodes: [{ id: lapsed, status: 'EXPIRED' }],
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  });
  const lastPage = await listInvites(tenant, { ...expired, after: firstPage.pageInfo.endCursor });
  expect(lastPage).toMatchObject({
    nodes: [{ id: replaced, status: 'EXPIRED' }],
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  });
  const before = lastPage.pageInfo.startCursor;
  expect(await listInvites(tenant, { status: 'EXPIRED', last: 1, before })).toMatchObject({
    nodes: [{ id: lapsed }],
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  });
  expect((await listInvites(tenant, { status: 'PENDING', after: before })).nodes).toEqual([]);
});

test('revokes an invite once, and still lists it', async () => {
  const tenant = await app.createTenant();
  const inviteId = await createInvite(tenant, 'eve@example.com');
  const input = { orgId: tenant.orgId, inviteId };
  expect(await tenant.builder.query(DELETE_INVITE, { input })).toEqual({
    deleteInvite: {
      deletedId: inviteId,
      invite: { id: inviteId, status: 'REVOKED', updateTime: expect.any(String) },
    },
  });
  expect(await tenant.builder.expectRefusal(DELETE_INVITE, { input })).toMatchObject({
    code: 'CONFLICT',
  });
  expect((await listInvites(tenant)).nodes).toEqual([{ id: inviteId, status: 'REVOKED' }]);
  expect(await createInvite(tenant, 'eve@example.com')).not.toBe(inviteId);
});

test("returns NOT_FOUND for another org's invites", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const inviteId = await createInvite(tenant, 'eve@example.com');
  for (const caller of [otherTenant, otherTenant.builder]) {
    expect(await caller.query(GET_INVITE, { id: inviteId })).toEqual({ node: null });
    for (const orgId of [tenant.orgId, otherTenant.orgId]) {
      const input = { orgId, inviteId };
      expect(await caller.expectRefusal(DELETE_INVITE, { input })).toMatchObject({
        code: 'NOT_FOUND',
      });
    }
    const input = { orgId: tenant.orgId, email: 'ada@example.com' };
    expect(await caller.expectRefusal(CREATE_INVITE, { input })).toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  expect((await listInvites(tenant)).nodes).toEqual([{ id: inviteId, status: 'PENDING' }]);
});

test('adds the builder with the invited address to the org within the same request', async () => {
  const [host, guest] = [await app.createTenant(), await app.createTenant()];
  const inviteId = await createInvite(host, guest.builderEmail, 'ADMIN');
  const { acceptInvite, ...next } = await guest.builder.query(
    `mutation AcceptInvite($input: AcceptInviteInput!, $next: CreateInviteInput!) {
      acceptInvite(input: $input) { invite { id status updateTime } builder { id } }
      createInvite(input: $next) { invite { parentId } }
    }`,
    { input: { inviteId }, next: { orgId: host.orgId, email: 'eve@example.com' } },
  );
  expect(acceptInvite).toEqual({
    invite: { id: inviteId, status: 'ACCEPTED', updateTime: expect.any(String) },
    builder: { id: guest.builderId },
  });
  expect(next).toEqual({ createInvite: { invite: { parentId: host.orgId } } });
  expect(await guest.builder.query(LIST_MEMBERS, { id: host.orgId })).toEqual({
    org: { members: { nodes: [{ builderId: guest.builderId }, { builderId: host.builderId }] } },
  });
});

test('accepts an invite once, even in concurrent calls', async () => {
  const [host, guest] = [await app.createTenant(), await app.createTenant()];
  const input = { inviteId: await createInvite(host, guest.builderEmail) };
  const responses = await Promise.all(
    [1, 2, 3].map(() => guest.builder.request(ACCEPT_INVITE, { input })),
  );
  const codes = responses
    .flatMap(({ errors }) => errors ?? [])
    .map((error) => error.extensions.code);
  expect(codes).toEqual(['CONFLICT', 'CONFLICT']);
  const { org } = await host.builder.query(LIST_MEMBERS, { id: host.orgId });
  expect(org.members.nodes).toHaveLength(2);
});

test.each([
  ['MEMBER', 'ADMIN', 'ADMIN'],
  ['ADMIN', 'MEMBER', 'ADMIN'],
  ['MEMBER', 'MEMBER', 'MEMBER'],
] as const)('gives a %s who accepts an invite as %s the role %s', async (before, role, after) => {
  const [host, guest] = [await app.createTenant(), await app.createTenant()];
  const input = { inviteId: await createInvite(host, guest.builderEmail, role) };
  const data = { orgId: host.orgId, builderId: guest.builderId, role: before };
  await app.app.services.database.prisma.orgMember.create({ data });
  expect(await guest.builder.query(ACCEPT_INVITE, { input })).toMatchObject({
    acceptInvite: { invite: { status: 'ACCEPTED' } },
  });
  const { org } = await guest.builder.query(
    'query ListInvites($id: ID!) { org(id: $id) { viewerRole } }',
    {
      id: host.orgId,
    },
  );
  expect(org).toEqual({ viewerRole: after });
});

test('refuses an API key that invites an admin', async () => {
  const tenant = await app.createTenant();
  const writer = await tenant.withScopes('org:write');
  const input = { orgId: tenant.orgId, email: 'eve@example.com', role: 'ADMIN' };
  const { code, problem } = await writer.expectRefusal(CREATE_INVITE, { input });
  expect([code, problem.detail]).toEqual(['FORBIDDEN', expect.stringContaining('role admin')]);
  expect((await listInvites(tenant)).totalCount).toBe(0);
});

test("returns NOT_FOUND for another builder's invite, and FORBIDDEN for a key", async () => {
  const [host, guest, otherBuilder] = [
    await app.createTenant(),
    await app.createTenant(),
    await app.createTenant(),
  ];
  const input = { inviteId: await createInvite(host, guest.builderEmail) };
  for (const caller of [otherBuilder.builder, host.builder]) {
    expect(await caller.expectRefusal(ACCEPT_INVITE, { input })).toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  const token = await app.app.verifier.mint?.({ sub: crypto.randomUUID() });
  const nameless = app.createClient({ authorization: `Bearer ${token}` });
  expect(await nameless.expectRefusal(ACCEPT_INVITE, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await guest.expectRefusal(ACCEPT_INVITE, { input })).toMatchObject({ code: 'FORBIDDEN' });
  expect(await queryStatus(host, input.inviteId)).toBe('PENDING');
});

test.each([
  false,
  undefined,
])('refuses a token whose email_verified is %s', async (email_verified) => {
  const host = await app.createTenant();
  const email = `${crypto.randomUUID()}@example.com`;
  const inviteId = await createInvite(host, email);
  const claims = { sub: crypto.randomUUID(), email, email_verified };
  const token = await app.app.verifier.mint?.(claims);
  const pretender = app.createClient({ authorization: `Bearer ${token}` });
  expect(await pretender.expectRefusal(ACCEPT_INVITE, { input: { inviteId } })).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('returns CONFLICT for a revoked or expired invite', async () => {
  const [host, guest] = [await app.createTenant(), await app.createTenant()];
  const revoked = await createInvite(host, guest.builderEmail);
  await host.builder.query(DELETE_INVITE, { input: { orgId: host.orgId, inviteId: revoked } });
  const expired = await createInvite(host, guest.builderEmail);
  laterMs = 8 * DAY_MS;
  for (const inviteId of [revoked, expired]) {
    expect(await guest.builder.expectRefusal(ACCEPT_INVITE, { input: { inviteId } })).toMatchObject(
      {
        code: 'CONFLICT',
      },
    );
  }
  const { org } = await host.builder.query(LIST_MEMBERS, { id: host.orgId });
  expect(org.members.nodes).toEqual([{ builderId: host.builderId }]);
});
