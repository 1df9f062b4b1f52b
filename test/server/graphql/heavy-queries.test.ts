import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { openSocket } from '../../support/socket.ts';

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

test('returns the same result of a heavy query over each transport', async () => {
  const tenant = await app.createTenant();
  // The results are sent in several parts.
  const result = 'ä'.repeat(1_000);
  await insertRows(app).operations(
    Array.from({ length: 200 }, () => ({ projectId: tenant.projectId, result })),
  );
  const query = `{ viewer { project { operations(first: 200) { nodes { id result } } } } }`;
  const headers = { 'x-api-key': tenant.apiKey, 'x-query-cost': '1' };
  const posted = await app.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });
  const postedResult = await posted.json();
  expect(postedResult.data.viewer.project.operations.nodes).toHaveLength(200);
  expect(postedResult.extensions).toMatchObject({ cost: { cost: expect.any(Number) } });

  const got = await app.fetch(`/graphql?${new URLSearchParams({ query })}`, {
    headers: { accept: 'application/json', ...headers },
  });
  expect(await got.json()).toEqual(postedResult);

  const stream = await openEventStream(app.fetch, { query, variables: {}, headers });
  expect(await stream.next()).toMatchObject({ event: 'next', data: postedResult });
  expect(await stream.next()).toMatchObject({ event: 'complete' });

  const { url } = await app.app.start();
  const socket = await openSocket(url);
  socket.send({ type: 'connection_init', payload: headers });
  await socket.next();
  const ids = ['1', '2', '3'];
  for (const id of ids) socket.send({ id, type: 'subscribe', payload: { query } });
  const messages = await Array.fromAsync({ length: 2 * ids.length }, () => socket.next());
  const { data } = postedResult;
  for (const id of ids) {
    expect(messages.filter((message) => message.id === id)).toEqual([
      { id, type: 'next', payload: { data } },
      { id, type: 'complete' },
    ]);
  }
  socket.socket.close();
});
