import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';

const app = await getSharedApp({ env: { LIMIT_HEAVY_COST: '100' } });

const HEAVY_QUERY = `query Pages($size: Int!) {
  newest: viewer { project { operations(first: $size) { edges { cursor node { id } } } } }
  oldest: viewer { project { operations(last: $size) { edges { cursor node { id } } } } }
}`;

interface Pages {
  data: Record<
    'newest' | 'oldest',
    { project: { operations: { edges: { cursor: string; node: { id: string } }[] } } }
  >;
}

/** Queries are compiled after some repetitions. */
const REPETITION_COUNT = 5;

test('returns the pages of a heavy query completely and in order', async () => {
  const tenant = await app.createTenant();
  const rows = Array.from({ length: 450 }, (_, index) => ({
    id: `op_${String(index).padStart(4, '0')}`,
    projectId: tenant.projectId,
  }));
  await insertRows(app).operations(rows);
  const newestIds = rows.map(({ id }) => id).reverse();
  for (let repetition = 1; repetition <= REPETITION_COUNT; repetition += 1) {
    const response = await app.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': tenant.apiKey },
      body: JSON.stringify({ query: HEAVY_QUERY, variables: { size: 350 } }),
    });
    const body = await response.text();
    expect(response.headers.get('content-length')).toBe(`${Buffer.byteLength(body)}`);
    const { data }: Pages = JSON.parse(body);
    const listIds = (page: keyof typeof data) =>
      data[page].project.operations.edges.map(({ node }) => node.id);
    expect(listIds('newest')).toEqual(newestIds.slice(0, 350));
    expect(listIds('oldest')).toEqual(newestIds.slice(-350));
  }
});
