import { afterEach, expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../../support/app.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
let laterMs = 0;
const app = await getSharedApp({ now: () => new Date(Date.now() + laterMs) });
afterEach(() => {
  laterMs = 0;
});

const QUERY_VIEWER = '{ viewer { kind scopes project { id } builder { id primaryEmail } } }';
const LIST_INVITES = `query ListInvites($first: Int, $after: String) {
  viewer {
    invites(first: $first, after: $after) {
      totalCount nodes { id parentId status } pageInfo { hasNextPage endCursor }
    }
  }
}`;

async function createInvite({ builder, orgId }: Tenant, email: string): Promise<string> {
  const create = `mutation CreateInvite($input: CreateInviteInput!) {
    createInvite(input: $input) { invite { id } }
  }`;
  return (await builder.query(create, { input: { orgId, email } })).createInvite.invite.id;
}

test('returns the project and scopes of an API key', async () => {
  const tenant = await app.createTenant();
  const key = await tenant.withScopes('read', 'events:write');
  expect(await key.query(QUERY_VIEWER)).toEqual({
    viewer: {
      kind: 'API_KEY',
      scopes: ['READ', 'EVENTS_WRITE'],
      project: { id: tenant.projectId },
      builder: null,
    },
  });
});

test('returns the builder of a token', async () => {
  const tenant = await app.createTenant();
  expect(await tenant.builder.query(QUERY_VIEWER)).toMatchObject({
    viewer: {
      kind: 'BUILDER',
      project: null,
      builder: { id: tenant.builderId, primaryEmail: tenant.builderEmail },
    },
  });
});

test("lists pending invites to the builder's own address, in any org", async () => {
  const [a, b, guest] = [
    await app.createTenant(),
    await app.createTenant(),
    await app.createTenant(),
  ];
  const [olderInvite, newerInvite] = [
    await createInvite(a, guest.builderEmail),
    await createInvite(b, guest.builderEmail.toUpperCase()),
  ];
  await createInvite(a, 'other@example.com');
  const firstPage = (await guest.builder.query(LIST_INVITES, { first: 1 })).viewer.invites;
  expect(firstPage).toMatchObject({
    totalCount: 2,
    nodes: [{ id: newerInvite, parentId: b.orgId, status: 'PENDING' }],
    pageInfo: { hasNextPage: true },
  });
  const after = firstPage.pageInfo.endCursor;
  expect(
    (await guest.builder.query(LIST_INVITES, { first: 1, after })).viewer.invites,
  ).toMatchObject({
    nodes: [{ id: olderInvite, parentId: a.orgId, status: 'PENDING' }],
    pageInfo: { hasNextPage: false },
  });
});

test('omits revoked and expired invites, also by id', async () => {
  const [a, b, guest] = [
    await app.createTenant(),
    await app.createTenant(),
    await app.createTenant(),
  ];
  const node = 'query GetNode($id: ID!) { node(id: $id) { id } }';
  const [revoked, expiring] = [
    await createInvite(a, guest.builderEmail),
    await createInvite(b, guest.builderEmail),
  ];
  expect(await guest.builder.query(node, { id: revoked })).toEqual({ node: { id: revoked } });
  const revoke = `mutation DeleteInvite($input: DeleteInviteInput!) {
    deleteInvite(input: $input) { deletedId }
  }`;
  await a.builder.query(revoke, { input: { orgId: a.orgId, inviteId: revoked } });
  expect((await guest.builder.query(LIST_INVITES)).viewer.invites).toMatchObject({
    nodes: [{ id: expiring }],
  });
  laterMs = 8 * DAY_MS;
  expect((await guest.builder.query(LIST_INVITES)).viewer.invites).toMatchObject({
    totalCount: 0,
    nodes: [],
  });
  for (const id of [revoked, expiring]) {
    expect(await guest.builder.query(node, { id })).toEqual({ node: null });
  }
});

test('returns no invites to an API key, and to a builder without an address', async () => {
  const tenant = await app.createTenant();
  const inviteId = await createInvite(tenant, 'eve@example.com');
  const revoke = `mutation DeleteInvite($input: DeleteInviteInput!) {
    deleteInvite(input: $input) { deletedId }
  }`;
  await tenant.builder.query(revoke, { input: { orgId: tenant.orgId, inviteId } });
  const token = await app.app.verifier.mint?.({ sub: crypto.randomUUID() });
  for (const caller of [tenant, app.createClient({ authorization: `Bearer ${token}` })]) {
    expect((await caller.query(LIST_INVITES)).viewer.invites).toEqual({
      totalCount: 0,
      nodes: [],
      pageInfo: { hasNextPage: false, endCursor: null },
    });
  }
});
