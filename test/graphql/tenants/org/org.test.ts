import { expect, test } from 'vitest';
import { encodeCursor } from '../../../../src/domain/access/paging/list-cursor.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { addMember } from '../../../support/fixtures/tenant.ts';

const app = await getSharedApp();

const CREATE_ORG = `mutation CreateOrg($input: CreateOrgInput!) {
  createOrg(input: $input) {
    org {
      id label createTime updateTime
      billingAccount { id displayName billingProvider billingProviderRef createTime updateTime }
      members { nodes { builderId } }
      projects { nodes { id } }
    }
  }
}`;
const FIND_ORG = 'query GetLabel($id: ID!) { org(id: $id) { id label } }';
const LIST_ORGS = `query ListOrgs($first: Int, $after: String, $last: Int, $before: String) {
  orgs(first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;
const LIST_MEMBERS = `query ListMembers($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
  org(id: $id) {
    members(first: $first, after: $after, last: $last, before: $before) {
      totalCount nodes { builder { id primaryEmail } } pageInfo { hasNextPage hasPreviousPage endCursor }
    }
  }
}`;
const FIND_NODE = 'query GetNode($id: ID!) { node(id: $id) { __typename id } }';

const listIds = (nodes: { id: string }[]) => nodes.map(({ id }) => id);

async function addOrg(tenant: Tenant, label: string): Promise<string> {
  return (await tenant.builder.query(CREATE_ORG, { input: { label } })).createOrg.org.id;
}

test('creates an org with its first member and a billing account', async () => {
  const tenant = await app.createTenant();
  const { org } = (await tenant.builder.query(CREATE_ORG, { input: { label: ' Acme ' } }))
    .createOrg;
  expect(org).toEqual({
    id: expect.stringMatching(/^org_/),
    label: 'Acme',
    createTime: expect.any(String),
    updateTime: null,
    billingAccount: {
      id: expect.stringMatching(/^bil_/),
      displayName: 'Acme',
      billingProvider: 'none',
      billingProviderRef: org.billingAccount.id,
      createTime: expect.any(String),
      updateTime: null,
    },
    members: { nodes: [{ builderId: tenant.builderId }] },
    projects: { nodes: [] },
  });
  expect(await tenant.builder.query(FIND_ORG, { id: org.id })).toEqual({
    org: { id: org.id, label: 'Acme' },
  });
});

test('creates two orgs with equal labels', async () => {
  const tenant = await app.createTenant();
  const [olderId, newerId] = [await addOrg(tenant, 'Acme'), await addOrg(tenant, 'Acme')];
  expect(olderId).not.toBe(newerId);
  expect(listIds((await tenant.builder.query(LIST_ORGS)).orgs.nodes)).toEqual([
    newerId,
    olderId,
    tenant.orgId,
  ]);
});

test('returns FORBIDDEN for an API key', async () => {
  const tenant = await app.createTenant();
  expect(await tenant.expectRefusal(CREATE_ORG, { input: { label: 'Acme' } })).toMatchObject({
    code: 'FORBIDDEN',
  });
  expect((await tenant.query(LIST_ORGS)).orgs.totalCount).toBe(1);
});

test('refuses a blank or overlong label', async () => {
  const tenant = await app.createTenant();
  for (const label of ['  ', 'x'.repeat(129)]) {
    const { code, problem } = await tenant.builder.expectRefusal(CREATE_ORG, { input: { label } });
    expect(code).toBe('BAD_USER_INPUT');
    expect(problem.issues).toMatchObject([{ in: 'body', name: 'input.label', value: label }]);
  }
  expect((await tenant.builder.query(LIST_ORGS)).orgs.totalCount).toBe(1);
});

test("returns an org only to its members and to its projects' keys", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const reader = await tenant.withScopes('org:read');
  for (const caller of [tenant, tenant.builder, reader]) {
    expect(await caller.query(FIND_ORG, { id: tenant.orgId })).toMatchObject({
      org: { id: tenant.orgId },
    });
  }
  for (const caller of [otherTenant, otherTenant.builder]) {
    expect(await caller.query(FIND_ORG, { id: tenant.orgId })).toEqual({ org: null });
  }
  expect(await tenant.query(FIND_ORG, { id: 'nonsense' })).toEqual({ org: null });
});

test('returns FORBIDDEN for a key without org:read', async () => {
  const tenant = await app.createTenant();
  const key = await tenant.withScopes('read', 'org:write');
  const variables = { id: tenant.orgId };
  expect(await key.expectRefusal(FIND_ORG, variables)).toMatchObject({ code: 'FORBIDDEN' });
  expect(await key.expectRefusal(LIST_ORGS)).toMatchObject({ code: 'FORBIDDEN' });
  expect(await key.expectRefusal(FIND_NODE, variables)).toMatchObject({ code: 'FORBIDDEN' });
  const query = 'query GetOrg($id: String!) { project(idOrName: $id) { org { id } } }';
  const response = await key.request(query, { id: tenant.projectId });
  expect(response.data).toEqual({ project: { org: null } });
  expect(response.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
});

test("lists a builder's orgs newest first, in both directions", async () => {
  const tenant = await app.createTenant();
  const orgIds = [tenant.orgId, await addOrg(tenant, 'b'), await addOrg(tenant, 'c')].reverse();
  const page = (await tenant.builder.query(LIST_ORGS)).orgs;
  expect([listIds(page.nodes), page.totalCount]).toEqual([orgIds, 3]);

  const firstPage = (await tenant.builder.query(LIST_ORGS, { first: 2 })).orgs;
  expect(listIds(firstPage.nodes)).toEqual(orgIds.slice(0, 2));
  expect(firstPage.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const lastPage = (
    await tenant.builder.query(LIST_ORGS, { first: 2, after: firstPage.pageInfo.endCursor })
  ).orgs;
  expect(listIds(lastPage.nodes)).toEqual(orgIds.slice(2));
  expect(lastPage.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  const previousPage = (
    await tenant.builder.query(LIST_ORGS, { last: 1, before: lastPage.pageInfo.startCursor })
  ).orgs;
  expect(listIds(previousPage.nodes)).toEqual(orgIds.slice(1, 2));
  expect(previousPage.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
});

test('lists only the org of its project to an API key', async () => {
  const tenant = await app.createTenant();
  await addOrg(tenant, 'another');
  expect(listIds((await tenant.query(LIST_ORGS)).orgs.nodes)).toEqual([tenant.orgId]);
});

test("returns equal pages for a cursor with another org's id and with an unknown id", async () => {
  const { orgId } = await app.createTenant();
  const token = await app.app.verifier.mint?.({ sub: crypto.randomUUID() });
  const otherTenant = app.createClient({ authorization: `Bearer ${token}` });
  for (const id of [orgId, newId('org')]) {
    const after = encodeCursor({ name: 'Query.orgs' }, id);
    expect((await otherTenant.query(LIST_ORGS, { after })).orgs).toMatchObject({
      nodes: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false },
    });
  }
});

test("lists an org's members newest first, in both directions", async () => {
  const tenant = await app.createTenant();
  const id = tenant.orgId;
  const members = [
    tenant,
    await addMember(app, tenant, 'MEMBER'),
    await addMember(app, tenant, 'MEMBER'),
  ].reverse();
  const nodes = members.map((member) => ({
    builder: { id: member.builderId, primaryEmail: member.builderEmail },
  }));
  const page = (await tenant.query(LIST_MEMBERS, { id })).org.members;
  expect(page).toMatchObject({ nodes, totalCount: 3 });
  const firstPage = (await tenant.query(LIST_MEMBERS, { id, first: 2 })).org.members;
  expect(firstPage).toMatchObject({ nodes: nodes.slice(0, 2), pageInfo: { hasNextPage: true } });
  const after = firstPage.pageInfo.endCursor;
  expect((await tenant.query(LIST_MEMBERS, { id, first: 2, after })).org.members).toMatchObject({
    nodes: nodes.slice(2),
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  });
  expect((await tenant.query(LIST_MEMBERS, { id, last: 1 })).org.members.nodes).toEqual(
    nodes.slice(2),
  );
});

test('returns the org, its members and its billing account by id to members only', async () => {
  const tenant = await app.createTenant();
  const member = await addMember(app, tenant, 'MEMBER');
  const otherTenant = await app.createTenant();
  const billing = 'query GetBillingAccount($id: ID!) { org(id: $id) { billingAccount { id } } }';
  const { org } = await tenant.query(billing, { id: tenant.orgId });
  for (const id of [tenant.orgId, tenant.builderId, org.billingAccount.id]) {
    expect(await member.builder.query(FIND_NODE, { id })).toMatchObject({ node: { id } });
    expect(await tenant.query(FIND_NODE, { id })).toMatchObject({ node: { id } });
    expect(await otherTenant.builder.query(FIND_NODE, { id })).toEqual({ node: null });
    expect(await otherTenant.query(FIND_NODE, { id })).toEqual({ node: null });
  }
});
