import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';

const app = await getSharedApp();
const insert = insertRows(app);

const LIST_PAYLOADS = `query ListPayloads($ids: [ID!]!) { nodes(ids: $ids) { ... on Delivery {
  body bodyBytes attempts { attemptNumber responseBody } } } }`;

async function createDelivery() {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const body = JSON.stringify({
    notificationType: 'connection.created',
    data: { name: 'Ölmühle' },
  });
  const { id } = await insert.delivery({ projectId, body });
  const response = { projectId, deliveryId: id, attemptNumber: 1, responseBody: 'no such hook' };
  await insert.attempt(response);
  return { tenant, projectId, id, body };
}

test('returns bodies of requests and responses only with payloads:read, which full implies', async () => {
  const { tenant, id, body } = await createDelivery();
  const expectedNode = {
    body: JSON.parse(body),
    bodyBytes: Buffer.byteLength(body),
    attempts: [{ attemptNumber: 1, responseBody: 'no such hook' }],
  };
  for (const scopes of [['full'], ['read', 'payloads:read']] as const) {
    const key = await tenant.withScopes(...scopes);
    expect(await key.query(LIST_PAYLOADS, { ids: [id] })).toEqual({ nodes: [expectedNode] });
  }
  const reader = await tenant.withScopes('read');
  const { data, errors } = await reader.request(LIST_PAYLOADS, { ids: [id] });
  expect(data.nodes).toEqual([
    { ...expectedNode, body: null, attempts: [{ attemptNumber: 1, responseBody: null }] },
  ]);
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN', 'FORBIDDEN']);
});

test('returns bodies over REST on request, and only with payloads:read', async () => {
  const { tenant, projectId, id, body } = await createDelivery();
  const path = `/v1/projects/${projectId}/deliveries/${id}`;
  const fetchDelivery = async (scopes: string[], query = '') => {
    const key = await tenant.createKey(...(scopes as never[]));
    const response = await app.fetch(path + query, { headers: { 'x-api-key': key } });
    return { status: response.status, body: await response.json() };
  };
  const withoutPayload = await fetchDelivery(['full']);
  expect(withoutPayload.body).toMatchObject({ bodyBytes: Buffer.byteLength(body) });
  expect(withoutPayload.body).not.toHaveProperty('body');
  expect(withoutPayload.body.attempts[0]).not.toHaveProperty('responseBody');
  expect((await fetchDelivery(['full'], '?includePayload=true')).body).toMatchObject({
    body: JSON.parse(body),
    attempts: [{ responseBody: 'no such hook' }],
  });
  expect((await fetchDelivery(['read'], '?includePayload=true')).status).toBe(403);
});

test(
  'refuses bodies over the total size limit, and returns their sizes',
  { tags: ['all/rows'] },
  async () => {
    const { tenant, projectId } = await createDelivery();
    const fittingDelivery = await insert.delivery({ projectId });
    const excessDelivery = await insert.delivery({ projectId });
    // The database creates large bodies much faster than it receives them.
    const { prisma } = app.app.services.database;
    const textLength = 9 * 1024 * 1024;
    await prisma.$executeRaw`
      update "Delivery" set "body" = json_build_object('text', repeat('x', ${textLength}::int))::text
      where "projectId" = ${projectId} and "id" in (${fittingDelivery.id}, ${excessDelivery.id})`;
    const query = `query GetDeliveries($ids: [ID!]!) {
      nodes(ids: $ids) { ... on Delivery { id body bodyBytes } }
    }`;
    const { data, errors } = await tenant.request(query, {
      ids: [fittingDelivery.id, excessDelivery.id],
    });
    expect(data.nodes.map((node: { body: object | null }) => node.body === null)).toEqual([
      false,
      true,
    ]);
    expect(data.nodes[0].body.text).toHaveLength(textLength);
    expect(data.nodes[1].bodyBytes).toBeGreaterThan(textLength);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['QUERY_LIMIT_EXCEEDED']);
  },
);

test('distinguishes messages about changes from tests and events, and names their object', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const createBody = (action: string) =>
    JSON.stringify({ action, objectName: 'a "b"', result: [{ raw: { text: 'a\u0000b' } }] });
  const bodies = [
    createBody('subscribe'),
    createBody('schema.watch'),
    JSON.stringify({ notificationType: 'test.message', data: { objectName: 'no' } }),
  ];
  const ids: string[] = [];
  for (const body of bodies) ids.push((await insert.delivery({ projectId, body })).id);
  const eventBody = JSON.stringify({ notificationType: 'read.backfill.done', objectName: 'no' });
  ids.push((await insert.delivery({ projectId, eventId: 'evt_1', body: eventBody })).id);
  ids.push(
    (await insert.delivery({ projectId, operationId: 'opr_1', body: createBody('read') })).id,
  );
  const query =
    'query ListKinds($ids: [ID!]!) { nodes(ids: $ids) { ... on Delivery { kind objectName } } }';
  expect((await tenant.query(query, { ids })).nodes).toEqual([
    { kind: 'CHANGES', objectName: 'a "b"' },
    { kind: 'FIELD_CHANGES', objectName: 'a "b"' },
    { kind: 'TEST', objectName: null },
    { kind: 'EVENT', objectName: null },
    { kind: 'RECORDS', objectName: null },
  ]);
});
