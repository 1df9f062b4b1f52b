import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection, PROVIDERS } from '../../support/fixtures/connections.ts';

const app = await getSharedApp({ providers: PROVIDERS });

const READ_PAGE = `query ($first: Int, $last: Int, $before: String) {
  viewer { project { consumers(first: $first, last: $last, before: $before) {
    totalCount
    nodes { id consumerRef consumerName createTime updateTime project { id } }
    pageInfo { hasNextPage hasPreviousPage startCursor }
  } } }
}`;
const LIST = `query ($projectId: String!) {
  project(idOrName: $projectId) { consumers { nodes { id } } }
}`;

test('lists consumers newest first, from both ends', async () => {
  const tenant = await app.tenant();
  for (const consumerRef of ['one', 'two', 'three', 'two']) {
    await generateConnection(tenant, {
      apiKey: 'sandbox-key',
      consumerRef,
      consumerName: consumerRef.toUpperCase(),
    });
  }
  const page = async (args: Record<string, unknown> = {}) =>
    (await tenant.query(READ_PAGE, args)).viewer.project.consumers;
  const all = await page();
  expect(all).toMatchObject({
    totalCount: 3,
    nodes: ['three', 'two', 'one'].map((ref) => ({
      consumerRef: ref,
      consumerName: ref.toUpperCase(),
      updateTime: null,
      project: { id: tenant.projectId },
    })),
    pageInfo: { hasNextPage: false, hasPreviousPage: false },
  });
  const last = await page({ last: 1 });
  expect(last.nodes).toEqual([all.nodes[2]]);
  expect(last.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  const before = await page({ last: 1, before: last.pageInfo.startCursor });
  expect(before.nodes).toEqual([all.nodes[1]]);
  expect(before.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
});

test("returns null for another tenant's consumer", async () => {
  const [a, b] = [await app.tenant(), await app.tenant()];
  const { consumer } = await generateConnection(a);
  const node = 'query ($id: ID!) { node(id: $id) { ... on Consumer { consumerRef } } }';
  expect(await a.query(node, { id: consumer.id })).toEqual({
    node: { consumerRef: consumer.consumerRef },
  });
  expect(await b.query(node, { id: consumer.id })).toEqual({ node: null });
  const { projectId } = a;
  expect(await (await a.withScopes('org:read')).getRefusal(LIST, { projectId })).toMatchObject({
    code: 'FORBIDDEN',
  });
  expect(await b.query(LIST, { projectId })).toEqual({ project: null });
});
