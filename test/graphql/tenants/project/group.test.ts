import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection, PROVIDERS } from '../../../support/fixtures/connections.ts';

const app = await getSharedApp({ providers: PROVIDERS });

const READ_PAGE = `query ReadGroups($first: Int, $last: Int, $before: String) {
  viewer { project { groups(first: $first, last: $last, before: $before) {
    totalCount
    nodes { id groupRef groupName createTime updateTime project { id } }
    pageInfo { hasNextPage hasPreviousPage startCursor }
  } } }
}`;
const LIST_GROUPS = `query ListGroups($projectId: String!) {
  project(idOrName: $projectId) { groups { nodes { id } } }
}`;

test('lists groups newest first, from both ends', async () => {
  const tenant = await app.createTenant();
  for (const groupRef of ['one', 'two', 'three', 'two']) {
    await generateConnection(tenant, {
      apiKey: 'sandbox-key',
      groupRef,
      groupName: groupRef.toUpperCase(),
    });
  }
  const fetchPage = async (args: Record<string, unknown> = {}) =>
    (await tenant.query(READ_PAGE, args)).viewer.project.groups;
  const wholePage = await fetchPage();
  expect(wholePage).toMatchObject({
    totalCount: 3,
    nodes: ['three', 'two', 'one'].map((ref) => ({
      groupRef: ref,
      groupName: ref.toUpperCase(),
      updateTime: null,
      project: { id: tenant.projectId },
    })),
    pageInfo: { hasNextPage: false, hasPreviousPage: false },
  });
  const lastPage = await fetchPage({ last: 1 });
  expect(lastPage.nodes).toEqual([wholePage.nodes[2]]);
  expect(lastPage.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  const previousPage = await fetchPage({ last: 1, before: lastPage.pageInfo.startCursor });
  expect(previousPage.nodes).toEqual([wholePage.nodes[1]]);
  expect(previousPage.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
});

test("returns null for another tenant's group", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { group } = await generateConnection(tenant);
  const node = 'query GetGroup($id: ID!) { node(id: $id) { ... on Group { groupRef } } }';
  expect(await tenant.query(node, { id: group.id })).toEqual({
    node: { groupRef: group.groupRef },
  });
  expect(await otherTenant.query(node, { id: group.id })).toEqual({ node: null });
  const { projectId } = tenant;
  expect(
    await (await tenant.withScopes('org:read')).expectRefusal(LIST_GROUPS, { projectId }),
  ).toMatchObject({ code: 'FORBIDDEN' });
  expect(await otherTenant.query(LIST_GROUPS, { projectId })).toEqual({ project: null });
});

const UPDATE = `mutation UpdateGroup($input: UpdateGroupInput!) {
  updateGroup(input: $input) { group { id groupRef groupName updateTime } }
}`;

test('renames a group, also in the search of connections', async () => {
  const tenant = await app.createTenant();
  await generateConnection(tenant, { apiKey: 'sandbox-key', groupRef: 'acme' });
  const input = { projectIdOrName: tenant.projectId, groupRef: 'acme', groupName: 'Renamed' };
  for (let repetition = 0; repetition < 2; repetition += 1) {
    const { group } = (await tenant.query(UPDATE, { input })).updateGroup;
    expect(group).toMatchObject({ groupRef: 'acme', groupName: 'Renamed' });
    expect(group.updateTime).not.toBeNull();
  }
  const search = '{ project { connections(search: "renamed") { totalCount } } }';
  expect((await tenant.query(search)).project.connections.totalCount).toBe(1);
});

test('refuses to rename an unknown group, and one of another tenant', async () => {
  const [tenant, other] = [await app.createTenant(), await app.createTenant()];
  await generateConnection(other, { apiKey: 'sandbox-key', groupRef: 'acme' });
  const input = { groupRef: 'acme', groupName: 'Renamed' };
  for (const projectIdOrName of [tenant.projectId, other.projectId]) {
    const variables = { input: { ...input, projectIdOrName } };
    expect(await tenant.expectRefusal(UPDATE, variables)).toMatchObject({ code: 'NOT_FOUND' });
  }
  const reader = await other.withScopes('read');
  expect(await reader.expectRefusal(UPDATE, { input })).toMatchObject({ code: 'FORBIDDEN' });
  const { problem } = await other.expectRefusal(UPDATE, { input: { groupRef: '', groupName: '' } });
  expect(problem.issues?.map(({ name }) => name)).toEqual(['input.groupRef', 'input.groupName']);
});
