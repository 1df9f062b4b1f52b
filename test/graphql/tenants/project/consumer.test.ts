import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection, PROVIDERS } from '../../../support/fixtures/connections.ts';

const app = await getSharedApp({ providers: PROVIDERS });

const READ_PAGE = `query ReadConsumers($first: Int, $last: Int, $before: String) {
  viewer { project { consumers(first: $first, last: $last, before: $before) {
    totalCount
    nodes { id consumerRef consumerName createTime updateTime project { id } }
    pageInfo { hasNextPage hasPreviousPage startCursor }
  } } }
}`;
const LIST_CONSUMERS = `query ListConsumers($projectId: String!) {
  project(idOrName: $projectId) { consumers { nodes { id } } }
}`;

test('lists consumers newest first, from both ends', async () => {
  const tenant = await app.createTenant();
  for (const consumerRef of ['one', 'two', 'three', 'two']) {
    await generateConnection(tenant, {
      apiKey: 'sandbox-key',
      consumerRef,
      consumerName: consumerRef.toUpperCase(),
    });
  }
  const fetchPage = async (args: Record<string, unknown> = {}) =>
    (await tenant.query(READ_PAGE, args)).viewer.project.consumers;
  const wholePage = await fetchPage();
  expect(wholePage).toMatchObject({
    totalCount: 3,
    nodes: ['three', 'two', 'one'].map((ref) => ({
      consumerRef: ref,
      consumerName: ref.toUpperCase(),
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

test("returns null for another tenant's consumer", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { consumer } = await generateConnection(tenant);
  const node = 'query GetConsumer($id: ID!) { node(id: $id) { ... on Consumer { consumerRef } } }';
  expect(await tenant.query(node, { id: consumer.id })).toEqual({
    node: { consumerRef: consumer.consumerRef },
  });
  expect(await otherTenant.query(node, { id: consumer.id })).toEqual({ node: null });
  const { projectId } = tenant;
  expect(
    await (await tenant.withScopes('org:read')).expectRefusal(LIST_CONSUMERS, { projectId }),
  ).toMatchObject({ code: 'FORBIDDEN' });
  expect(await otherTenant.query(LIST_CONSUMERS, { projectId })).toEqual({ project: null });
});

const UPDATE = `mutation UpdateConsumer($input: UpdateConsumerInput!) {
  updateConsumer(input: $input) { consumer { id consumerRef consumerName updateTime } }
}`;

test('renames a consumer, also in the search of connections', async () => {
  const tenant = await app.createTenant();
  await generateConnection(tenant, { apiKey: 'sandbox-key', consumerRef: 'ann' });
  const input = { projectIdOrName: tenant.projectId, consumerRef: 'ann', consumerName: 'Renamed' };
  for (let repetition = 0; repetition < 2; repetition += 1) {
    const { consumer } = (await tenant.query(UPDATE, { input })).updateConsumer;
    expect(consumer).toMatchObject({ consumerRef: 'ann', consumerName: 'Renamed' });
    expect(consumer.updateTime).not.toBeNull();
  }
  const search = '{ project { connections(search: "renamed") { totalCount } } }';
  expect((await tenant.query(search)).project.connections.totalCount).toBe(1);
});

test('refuses to rename an unknown consumer, and one of another tenant', async () => {
  const [tenant, other] = [await app.createTenant(), await app.createTenant()];
  await generateConnection(other, { apiKey: 'sandbox-key', consumerRef: 'ann' });
  const input = { consumerRef: 'ann', consumerName: 'Renamed' };
  for (const projectIdOrName of [tenant.projectId, other.projectId]) {
    const variables = { input: { ...input, projectIdOrName } };
    expect(await tenant.expectRefusal(UPDATE, variables)).toMatchObject({ code: 'NOT_FOUND' });
  }
  const reader = await other.withScopes('read');
  expect(await reader.expectRefusal(UPDATE, { input })).toMatchObject({ code: 'FORBIDDEN' });
  const { problem } = await other.expectRefusal(UPDATE, {
    input: { consumerRef: '', consumerName: '' },
  });
  expect(problem.issues?.map(({ name }) => name)).toEqual([
    'input.consumerRef',
    'input.consumerName',
  ]);
});
