import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/database/transactions/transaction.ts';
import { EVENTS } from '../../../src/events/event-types.ts';
import { recordEvent } from '../../../src/events/record.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';

const app = await getSharedApp();
const insert = insertRows(app);
const { database } = app.app.services;

async function createTopic({ projectId }: Tenant, name: string): Promise<string> {
  const { id } = await database.prisma.topic.create({
    data: { id: newId('top'), projectId, name },
  });
  return id;
}

const LIST_EVENTS = `query ListNotificationEvents($id: String!, $topicId: ID, $eventTypes: [NotificationEventType!],
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

async function fetchPage(tenant: Tenant, args: Record<string, unknown> = {}) {
  const { project } = await tenant.query(LIST_EVENTS, { id: tenant.projectId, ...args });
  const { nodes, ...rest } = project.notificationEvents;
  return { ...rest, ids: nodes.map(({ id }: { id: string }) => id) };
}

test('returns an event as recorded, with its topics and its objects', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const [a, b, deleted] = [
    await createTopic(tenant, 'a'),
    await createTopic(tenant, 'b'),
    await createTopic(tenant, 'gone'),
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

  const fields = `query GetNotificationEvent($id: ID!) { node(id: $id) { ... on NotificationEvent {
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
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const [a, b] = [await createTopic(tenant, 'a'), await createTopic(tenant, 'b')];
  const createdEvent = await insert.event({ projectId, topicIds: [a] });
  const errorEvent = await insert.event({
    projectId,
    eventType: 'CONNECTION_ERROR',
    topicIds: [a, b],
  });
  const createdLater = await insert.event({ projectId, topicIds: [b] });
  const deletedEvent = await insert.event({
    projectId,
    eventType: 'CONNECTION_DELETED',
    topicIds: [b],
  });
  const listIds = async (filters: Record<string, unknown>) => {
    const forwards = await fetchPage(tenant, filters);
    const backwards = await fetchPage(tenant, { ...filters, last: 1000 });
    expect(backwards.ids).toEqual(forwards.ids);
    expect(forwards.totalCount).toBe(forwards.ids.length);
    return forwards.ids;
  };
  expect(await listIds({})).toEqual([
    createdEvent.id,
    errorEvent.id,
    createdLater.id,
    deletedEvent.id,
  ]);
  expect(await listIds({ topicId: a })).toEqual([createdEvent.id, errorEvent.id]);
  expect(await listIds({ topicId: b })).toEqual([errorEvent.id, createdLater.id, deletedEvent.id]);
  expect(await listIds({ eventTypes: ['CONNECTION_CREATED'] })).toEqual([
    createdEvent.id,
    createdLater.id,
  ]);
  const twoTypes = ['CONNECTION_DELETED', 'CONNECTION_CREATED', 'CONNECTION_DELETED'];
  expect(await listIds({ eventTypes: twoTypes })).toEqual([
    createdEvent.id,
    createdLater.id,
    deletedEvent.id,
  ]);
  expect(await listIds({ eventTypes: twoTypes, topicId: b })).toEqual([
    createdLater.id,
    deletedEvent.id,
  ]);
  expect(await listIds({ eventTypes: Object.keys(EVENTS), topicId: a })).toEqual([
    createdEvent.id,
    errorEvent.id,
  ]);
  expect(await listIds({ eventTypes: ['READ_BACKFILL_DONE'] })).toEqual([]);
  expect(await listIds({ topicId: 'nonsense' })).toEqual([]);
  expect(await listIds({ topicId: null, eventTypes: null })).toHaveLength(4);
});

test('returns full pages of several types, and accepts a cursor with any filter', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const topicId = await createTopic(tenant, 'a');
  const types = ['CONNECTION_CREATED', 'CONNECTION_ERROR', 'CONNECTION_DELETED'] as const;
  const ids: string[] = [];
  for (let index = 0; index < 12; index += 1) {
    const eventType = types[index % 3];
    ids.push((await insert.event({ projectId, eventType, topicIds: [topicId] })).id);
  }
  const matchingIds = ids.filter((_id, index) => index % 3 !== 2);
  const eventTypes = [types[1], types[0]];
  for (const filters of [{ eventTypes }, { eventTypes, topicId }]) {
    const firstPage = await fetchPage(tenant, { ...filters, first: 3 });
    expect(firstPage).toMatchObject({
      ids: matchingIds.slice(0, 3),
      totalCount: 8,
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    });
    const after = firstPage.pageInfo.endCursor;
    const secondPage = await fetchPage(tenant, { ...filters, first: 3, after });
    expect(secondPage).toMatchObject({
      ids: matchingIds.slice(3, 6),
      pageInfo: { hasNextPage: true, hasPreviousPage: true },
    });
    const before = secondPage.pageInfo.startCursor;
    expect(await fetchPage(tenant, { ...filters, last: 2, before })).toMatchObject({
      ids: matchingIds.slice(1, 3),
      pageInfo: { hasNextPage: true, hasPreviousPage: true },
    });
    // The third listed event is the fourth of all events, so the next events follow it with any filter.
    expect((await fetchPage(tenant, { first: 2, after })).ids).toEqual(ids.slice(4, 6));
    expect((await fetchPage(tenant, { first: 2, after, topicId })).ids).toEqual(ids.slice(4, 6));
  }
});

test('refuses an empty list of types', async () => {
  const tenant = await app.createTenant();
  const refusal = await tenant.expectRefusal(LIST_EVENTS, { id: tenant.projectId, eventTypes: [] });
  expect(refusal).toMatchObject({
    code: 'BAD_USER_INPUT',
    problem: { issues: [{ in: 'body', name: 'eventTypes' }] },
  });
});

test("returns no events for another tenant's topic, and null for its events", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const topicId = await createTopic(tenant, 'a');
  const { id } = await insert.event({ projectId: tenant.projectId, topicIds: [topicId] });
  expect((await fetchPage(otherTenant, { topicId })).ids).toEqual([]);
  expect((await fetchPage(tenant, { topicId })).ids).toEqual([id]);
  expect(
    await otherTenant.query('query GetNode($id: ID!) { node(id: $id) { id } }', { id }),
  ).toEqual({
    node: null,
  });
});

test('lists a recorded event under its topics and its type', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const [routed, silent] = [
    await createTopic(tenant, 'routed'),
    await createTopic(tenant, 'silent'),
  ];
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
  expect((await fetchPage(tenant, { ...filters, topicId: routed })).ids).toHaveLength(1);
  expect((await fetchPage(tenant, { ...filters, topicId: silent })).ids).toEqual([]);
  expect((await fetchPage(tenant, filters)).ids).toHaveLength(1);
});

test('omits an event that is deleted while its page is read', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const topicId = await createTopic(tenant, 'a');
  const deletedEvent = await insert.event({ projectId, topicIds: [topicId] });
  const recentEvent = await insert.event({ projectId, topicIds: [topicId] });
  const { reads } = database;
  const { find } = reads;
  // Simulates retention between the two statements of a page.
  reads.find = async (table, where) => {
    if (table === 'NotificationEvent') {
      await database.prisma.notificationEvent.deleteMany({ where: { id: deletedEvent.id } });
    }
    return find(table, where);
  };
  try {
    expect((await fetchPage(tenant, { topicId })).ids).toEqual([recentEvent.id]);
  } finally {
    reads.find = find;
  }
});
