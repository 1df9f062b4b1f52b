import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection, PROVIDERS } from '../../support/fixtures/connections.ts';

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
