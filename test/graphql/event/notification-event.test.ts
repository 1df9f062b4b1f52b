import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/database/transaction.ts';
import { EVENTS } from '../../../src/events/event-types.ts';
import { recordEvent } from '../../../src/events/record.ts';
import { newId } from '../../../src/ids.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';

const app = await getSharedApp();
const insert = insertRows(app);
const { database } = app.app.services;

async function topic({ projectId }: Tenant, name: string): Promise<string> {
  const { id } = await database.prisma.topic.create({
    data: { id: newId('top'), projectId, name },
  });
  return id;
}

const query = `query ($id: String!, $topicId: ID, $eventTypes: [NotificationEventType!],
                      $first: Int, $after: String, $last: Int, $before: String) {
  project(idOrName: $id) {
    notificationEvents(topicId: $topicId, eventTypes: $eventTypes,
                       first: $first, after: $after, last: $last, before: $before) {
      nodes { id }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      totalCount
    }
  }
}`;

async function page(tenant: Tenant, args: Record<string, unknown> = {}) {
  const { project } = await tenant.query(query, { id: tenant.projectId, ...args });
  const { nodes, ...rest } = project.notificationEvents;
  return { ...rest, ids: nodes.map(({ id }: { id: string }) => id) };
}

test('returns an event as recorded, with its topics and its objects', async () => {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const [a, b, deleted] = [
    await topic(tenant, 'a'),
    await topic(tenant, 'b'),
    await topic(tenant, 'gone'),
  ];
  const operation = await insert.operation({ projectId });
  const data = { projectId, nested: { list: [1, 'two', null] }, text: 'ü' };
  const event = await insert.event({
    projectId,
    eventType: 'WRITE_ASYNC_DONE',
    data,
    topicIds: [a, b, deleted],
    operationId: operation.id,
    installationId: newId('ins'),
  });
  const delivery = await insert.delivery({ projectId, eventId: event.id });
  await database.prisma.topic.deleteMany({ where: { id: deleted } });

  const fields = `query ($id: ID!) { node(id: $id) { ... on NotificationEvent {
    id eventType data createTime project { id } topics { id name }
    connection { id } installation { id } operation { id } destination { id }
    deliveries { nodes { id } totalCount }
  } } }`;
  expect((await tenant.query(fields, { id: event.id })).node).toEqual({
    id: event.id,
    eventType: 'WRITE_ASYNC_DONE',
    data,
    createTime: event.createTime.toISOString(),
    project: { id: projectId },
    topics: [
      { id: a, name: 'a' },
      { id: b, name: 'b' },
    ],
    connection: null,
    installation: null,
    operation: { id: operation.id },
    destination: null,
    deliveries: { nodes: [{ id: delivery.id }], totalCount: 1 },
  });
});

test('lists events oldest first, by topic, by types, and by both', async () => {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const [a, b] = [await topic(tenant, 'a'), await topic(tenant, 'b')];
  const created = await insert.event({ projectId, topicIds: [a] });
  const failed = await insert.event({
    projectId,
    eventType: 'CONNECTION_ERROR',
    topicIds: [a, b],
  });
  const again = await insert.event({ projectId, topicIds: [b] });
  const deleted = await insert.event({
    projectId,
    eventType: 'CONNECTION_DELETED',
    topicIds: [b],
  });
  const listed = async (filters: Record<string, unknown>) => {
    const forwards = await page(tenant, filters);
    const backwards = await page(tenant, { ...filters, last: 1000 });
    expect(backwards.ids).toEqual(forwards.ids);
    expect(forwards.totalCount).toBe(forwards.ids.length);
    return forwards.ids;
  };
  expect(await listed({})).toEqual([created.id, failed.id, again.id, deleted.id]);
  expect(await listed({ topicId: a })).toEqual([created.id, failed.id]);
  expect(await listed({ topicId: b })).toEqual([failed.id, again.id, deleted.id]);
  expect(await listed({ eventTypes: ['CONNECTION_CREATED'] })).toEqual([created.id, again.id]);
  const two = ['CONNECTION_DELETED', 'CONNECTION_CREATED', 'CONNECTION_DELETED'];
  expect(await listed({ eventTypes: two })).toEqual([created.id, again.id, deleted.id]);
  expect(await listed({ eventTypes: two, topicId: b })).toEqual([again.id, deleted.id]);
  expect(await listed({ eventTypes: Object.keys(EVENTS), topicId: a })).toEqual([
    created.id,
    failed.id,
  ]);
  expect(await listed({ eventTypes: ['READ_BACKFILL_DONE'] })).toEqual([]);
  expect(await listed({ topicId: 'nonsense' })).toEqual([]);
  expect(await listed({ topicId: null, eventTypes: null })).toHaveLength(4);
});

test('returns full pages of several types, and accepts a cursor with any filter', async () => {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const topicId = await topic(tenant, 'a');
  const types = ['CONNECTION_CREATED', 'CONNECTION_ERROR', 'CONNECTION_DELETED'] as const;
  const ids: string[] = [];
  for (let index = 0; index < 12; index += 1) {
    const eventType = types[index % 3];
    ids.push((await insert.event({ projectId, eventType, topicIds: [topicId] })).id);
  }
  const wanted = ids.filter((_id, index) => index % 3 !== 2);
  const eventTypes = [types[1], types[0]];
  for (const filters of [{ eventTypes }, { eventTypes, topicId }]) {
    const first = await page(tenant, { ...filters, first: 3 });
    expect(first).toMatchObject({
      ids: wanted.slice(0, 3),
      totalCount: 8,
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    });
    const after = first.pageInfo.endCursor;
    const second = await page(tenant, { ...filters, first: 3, after });
    expect(second).toMatchObject({
      ids: wanted.slice(3, 6),
      pageInfo: { hasNextPage: true, hasPreviousPage: true },
    });
    const before = second.pageInfo.startCursor;
    expect(await page(tenant, { ...filters, last: 2, before })).toMatchObject({
      ids: wanted.slice(1, 3),
      pageInfo: { hasNextPage: true, hasPreviousPage: true },
    });
    // The third listed event is the fourth of all, so the next ones follow it with any filter.
    expect((await page(tenant, { first: 2, after })).ids).toEqual(ids.slice(4, 6));
    expect((await page(tenant, { first: 2, after, topicId })).ids).toEqual(ids.slice(4, 6));
  }
});

test('refuses an empty list of types', async () => {
  const tenant = await app.tenant();
  const refused = await tenant.getRefusal(query, { id: tenant.projectId, eventTypes: [] });
  expect(refused).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: { issues: [{ in: 'body', name: 'eventTypes' }] },
  });
});

test("returns no events for another tenant's topic, and null for its events", async () => {
  const [a, b] = [await app.tenant(), await app.tenant()];
  const topicId = await topic(a, 'a');
  const { id } = await insert.event({ projectId: a.projectId, topicIds: [topicId] });
  expect((await page(b, { topicId })).ids).toEqual([]);
  expect((await page(a, { topicId })).ids).toEqual([id]);
  expect(await b.query('query ($id: ID!) { node(id: $id) { id } }', { id })).toEqual({
    node: null,
  });
});

test('lists a recorded event under its topics and its type', async () => {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const [routed, silent] = [await topic(tenant, 'routed'), await topic(tenant, 'silent')];
  await database.prisma.eventTopicRoute.create({
    data: { id: newId('etr'), projectId, eventType: 'CONNECTION_ERROR', topicId: routed },
  });
  const connection = {
    projectId,
    connectionId: newId('con'),
    provider: 'sandbox',
    groupRef: 'acme',
    consumerRef: 'ann',
    consumerName: 'Ann',
  };
  await inTransaction(database, (tx) =>
    recordEvent(tx, {
      projectId,
      eventType: 'CONNECTION_ERROR',
      data: { ...connection, errors: ['The key was refused.'] },
      subject: null,
    }),
  );
  const filters = { eventTypes: ['CONNECTION_ERROR'] };
  expect((await page(tenant, { ...filters, topicId: routed })).ids).toHaveLength(1);
  expect((await page(tenant, { ...filters, topicId: silent })).ids).toEqual([]);
  expect((await page(tenant, filters)).ids).toHaveLength(1);
});

test('omits an event that is deleted while its page is read', async () => {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const topicId = await topic(tenant, 'a');
  const deleted = await insert.event({ projectId, topicIds: [topicId] });
  const recentEvent = await insert.event({ projectId, topicIds: [topicId] });
  const { rows } = database;
  const find = rows.find.bind(rows);
  // Simulates retention between the two statements of a page.
  rows.find = async (table, where) => {
    if (table === 'NotificationEvent') {
      await database.prisma.notificationEvent.deleteMany({ where: { id: deleted.id } });
    }
    return find(table, where);
  };
  try {
    expect((await page(tenant, { topicId })).ids).toEqual([recentEvent.id]);
  } finally {
    rows.find = find;
  }
});
