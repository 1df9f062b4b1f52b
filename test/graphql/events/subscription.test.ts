import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/database/transactions/transaction.ts';
import { notifyOperation } from '../../../src/events/channel.ts';
import { createTestApp, getSharedApp, type Tenant } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import {
  createNames,
  recordNamedEvent,
  recordNamedEvents,
  routeEvents,
} from '../../support/event-log.ts';
import { type EventStream, openEventStream } from '../../support/event-stream.ts';

const app = await getSharedApp();
const insert = insertRows(app);
const { database } = app.app.services;

const SUBSCRIBE_TO_EVENTS = `subscription SubscribeToEvents(
  $project: String!, $topicId: ID, $eventTypes: [NotificationEventType!], $after: String
) {
  notificationEvents(
    projectIdOrName: $project, topicId: $topicId, eventTypes: $eventTypes, after: $after
  ) {
    cursor node { eventType data topics { name } project { name appName } }
  }
}`;
const LIST_EVENTS = `query ListEvents($project: String!) {
  project(idOrName: $project) { notificationEvents { edges { cursor node { data } } } }
}`;

const subscribe = (
  headers: Record<string, string>,
  { query = SUBSCRIBE_TO_EVENTS, ...variables }: Record<string, unknown> & { query?: string },
) => openEventStream(app.fetch, { query, variables, headers });

const createHeaders = ({ apiKey }: Tenant) => ({ 'x-api-key': apiKey });

async function createTenantWithRoutes() {
  const tenant = await app.createTenant();
  return { ...tenant, ...(await routeEvents(database.prisma, tenant.projectId)) };
}

async function takeEdges(stream: EventStream, count: number) {
  const edges = [];
  while (edges.length < count) edges.push((await stream.next())?.data.data.notificationEvents);
  return edges;
}

async function expectRefusal(stream: EventStream) {
  const message = await stream.next();
  expect(message?.data.data ?? null).toBeNull();
  expect(message?.data.errors).toHaveLength(1);
  expect(await stream.next()).toMatchObject({ event: 'complete' });
  return message?.data.errors[0].extensions;
}

test('delivers new events as edges of the list', async () => {
  const tenant = await createTenantWithRoutes();
  const { projectId, projectName: project } = tenant;
  await recordNamedEvents(database, tenant, ['old']);
  const stream = await subscribe(createHeaders(tenant), { project });
  expect([stream.status, stream.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  await recordNamedEvent(database, { projectId, name: 'one' });
  await recordNamedEvent(database, { projectId, name: 'two', eventType: 'CONNECTION_DELETED' });
  const [createdEdge, deletedEdge] = await takeEdges(stream, 2);
  expect(createdEdge.node).toMatchObject({
    eventType: 'CONNECTION_CREATED',
    data: { connectionId: 'one' },
    topics: [{ name: 'created' }],
    project: { name: project },
  });
  const { edges } = (await tenant.query(LIST_EVENTS, { project })).project.notificationEvents;
  expect([createdEdge.cursor, deletedEdge.cursor]).toEqual(
    edges.slice(1).map((edge: { cursor: string }) => edge.cursor),
  );
  stream.close();
});

test('resumes a stream after a cursor, by argument and by Last-Event-ID', async () => {
  const tenant = await createTenantWithRoutes();
  const project = tenant.projectId;
  await recordNamedEvents(database, tenant, createNames('e', 3));
  const { edges } = (await tenant.query(LIST_EVENTS, { project })).project.notificationEvents;
  const [{ cursor: after }, { cursor: secondCursor }, { cursor: thirdCursor }] = edges;
  for (const stream of [
    await subscribe(createHeaders(tenant), { project, after }),
    await subscribe({ ...createHeaders(tenant), 'last-event-id': after }, { project }),
    await subscribe(
      { ...createHeaders(tenant), 'last-event-id': after },
      { project, after: thirdCursor },
    ),
  ]) {
    const messages = [await stream.next(), await stream.next()];
    expect(messages.map((message) => [message?.event, message?.id])).toEqual([
      ['next', secondCursor],
      ['next', thirdCursor],
    ]);
    stream.close();
  }
});

test('reads each event again, so that a change between two events is visible', async () => {
  const tenant = await createTenantWithRoutes();
  const { projectId } = tenant;
  const stream = await subscribe(createHeaders(tenant), { project: projectId });
  await recordNamedEvent(database, { projectId, name: 'one' });
  const [edgeBeforeRename] = await takeEdges(stream, 1);
  await database.prisma.project.update({ where: { id: projectId }, data: { appName: 'renamed' } });
  await recordNamedEvent(database, { projectId, name: 'two' });
  const [edgeAfterRename] = await takeEdges(stream, 1);
  expect([edgeBeforeRename, edgeAfterRename].map(({ node }) => node.project.appName)).toEqual([
    tenant.projectName,
    'renamed',
  ]);
  stream.close();
});

test('filters a stream by topic and by type', async () => {
  const tenant = await createTenantWithRoutes();
  const { projectId: project, deletedTopicId: topicId } = tenant;
  const streams = [
    await subscribe(createHeaders(tenant), { project, topicId }),
    await subscribe(createHeaders(tenant), { project, eventTypes: ['CONNECTION_DELETED'] }),
  ];
  await recordNamedEvent(database, { projectId: project, name: 'made' });
  await recordNamedEvent(database, {
    projectId: project,
    name: 'gone',
    eventType: 'CONNECTION_DELETED',
  });
  for (const stream of streams) {
    const [edge] = await takeEdges(stream, 1);
    expect(edge.node.data.connectionId).toBe('gone');
    stream.close();
  }
});

test("returns NOT_FOUND for another tenant's project, topic and operation", async () => {
  const [tenant, otherTenant] = [await createTenantWithRoutes(), await createTenantWithRoutes()];
  const { id } = await insert.operation({ projectId: tenant.projectId });
  const operation = 'subscription FollowOperation($id: ID!) { operation(id: $id) { id } }';
  for (const variables of [
    { project: tenant.projectId },
    { project: tenant.projectName },
    { project: otherTenant.projectId, topicId: tenant.createdTopicId },
    { query: operation, id },
  ]) {
    const stream = await subscribe(createHeaders(otherTenant), variables);
    expect(await expectRefusal(stream)).toMatchObject({ code: 'NOT_FOUND' });
  }
});

test('refuses a damaged, foreign or future cursor, and an empty list of types', async () => {
  const [tenant, otherTenant] = [await createTenantWithRoutes(), await createTenantWithRoutes()];
  const project = tenant.projectId;
  await recordNamedEvents(database, otherTenant, createNames('e', 3));
  await recordNamedEvents(database, tenant, createNames('e', 3));
  const queryCursor = async ({ query, projectId }: Tenant) => {
    const data = await query(LIST_EVENTS, { project: projectId });
    return data.project.notificationEvents.edges[2].cursor;
  };
  const [ownCursor, foreignCursor] = [await queryCursor(tenant), await queryCursor(otherTenant)];
  await database.prisma.eventLog.update({
    where: { projectId: project },
    data: { lastPosition: 2 },
  });
  const damaged = `${ownCursor.slice(0, -2)}xx`;
  for (const after of [damaged, foreignCursor, ownCursor, '']) {
    const refusal = await expectRefusal(await subscribe(createHeaders(tenant), { project, after }));
    expect(refusal).toMatchObject({
      code: 'BAD_USER_INPUT',
      problem: { issues: [{ name: 'after' }] },
    });
  }
  const stream = await subscribe(createHeaders(tenant), { project, eventTypes: [] });
  expect((await expectRefusal(stream)).problem.issues).toMatchObject([{ name: 'eventTypes' }]);
});

test('refuses a cursor older than the retained events, and accepts the oldest without a gap', async () => {
  const tenant = await createTenantWithRoutes();
  const project = tenant.projectId;
  await recordNamedEvents(database, tenant, createNames('e', 4));
  const { edges } = (await tenant.query(LIST_EVENTS, { project })).project.notificationEvents;
  const [removedCursor, oldestCursor] = edges.map((edge: { cursor: string }) => edge.cursor);
  await database.prisma.notificationEvent.deleteMany({
    where: { projectId: project, position: { lte: 2 } },
  });
  const refusal = await expectRefusal(
    await subscribe(createHeaders(tenant), { project, after: removedCursor }),
  );
  expect(refusal.problem.issues).toMatchObject([
    { name: 'after', detail: expect.stringContaining('too old') },
  ]);
  const stream = await subscribe(createHeaders(tenant), { project, after: oldestCursor });
  const keptEdges = await takeEdges(stream, 2);
  expect(keptEdges.map(({ node }) => node.data.connectionId)).toEqual(['e3', 'e4']);
  stream.close();
});

test('accepts a cursor before an erased event', async () => {
  const tenant = await createTenantWithRoutes();
  const project = tenant.projectId;
  await recordNamedEvents(database, tenant, createNames('e', 4));
  const { edges } = (await tenant.query(LIST_EVENTS, { project })).project.notificationEvents;
  const [, secondCursor] = edges.map((edge: { cursor: string }) => edge.cursor);
  await database.prisma.notificationEvent.deleteMany({
    where: { projectId: project, position: 3 },
  });
  const stream = await subscribe(createHeaders(tenant), { project, after: secondCursor });
  const keptEdges = await takeEdges(stream, 1);
  expect(keptEdges.map(({ node }) => node.data.connectionId)).toEqual(['e4']);
  stream.close();
});

test('requires credentials and the scope read', async () => {
  const tenant = await createTenantWithRoutes();
  const variables = { project: tenant.projectId };
  const anonymous = await subscribe({}, variables);
  expect(anonymous.status).toBe(401);
  expect(await expectRefusal(anonymous)).toMatchObject({ code: 'UNAUTHENTICATED' });
  const writer = await tenant.withScopes('events:write');
  const response = await writer.request(SUBSCRIBE_TO_EVENTS, variables);
  expect(response.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
});

test('ends a stream if its key is deleted, deactivated or loses scopes', async () => {
  for (const change of ['delete', 'deactivate', 'reduce']) {
    const tenant = await createTenantWithRoutes();
    const { apiKeyId: id, projectId } = tenant;
    const stream = await subscribe(createHeaders(tenant), { project: projectId });
    await recordNamedEvent(database, { projectId, name: 'before' });
    await takeEdges(stream, 1);
    const { apiKey } = database.prisma;
    if (change === 'delete') await apiKey.deleteMany({ where: { id } });
    else if (change === 'deactivate')
      await apiKey.updateMany({ where: { id }, data: { active: false } });
    else await apiKey.updateMany({ where: { id }, data: { scopes: ['records:write'] } });
    expect(await expectRefusal(stream)).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await stream.next()).toBeNull();
  }
});

test("ends a builder's stream if the builder leaves the org", async () => {
  const tenant = await createTenantWithRoutes();
  const stream = await subscribe(
    { authorization: `Bearer ${tenant.token}` },
    { project: tenant.projectId },
  );
  await database.prisma.orgMember.deleteMany({ where: { builderId: tenant.builderId } });
  expect(await expectRefusal(stream)).toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('sends an operation after each change until it ends', async () => {
  const tenant = await app.createTenant();
  const { id } = await insert.operation({ projectId: tenant.projectId, status: 'IN_PROGRESS' });
  const query = `subscription FollowOperation($id: ID!) {
    operation(id: $id) { id status result metadata { progress { recordsProcessed } } }
  }`;
  const stream = await subscribe(createHeaders(tenant), { query, id });
  const readNext = async () => {
    const message = await stream.next();
    expect(message?.id).toBeUndefined();
    return message?.data?.data.operation;
  };
  expect(await readNext()).toMatchObject({
    id,
    status: 'IN_PROGRESS',
    metadata: { progress: null },
  });
  const updateOperation = (data: object) =>
    inTransaction(database, async (tx) => {
      await tx.operation.updateMany({ where: { id }, data });
      notifyOperation(tx, id);
    });
  const progress = { objectName: 'contact', recordsProcessed: 3 };
  await updateOperation({ metadata: { objects: ['contact'], progress } });
  expect(await readNext()).toMatchObject({ metadata: { progress: { recordsProcessed: 3 } } });
  await updateOperation({ status: 'SUCCESS', result: 'Read 3 records.', updateTime: new Date() });
  expect(await readNext()).toMatchObject({ status: 'SUCCEEDED', result: 'Read 3 records.' });
  expect(await stream.next()).toEqual({ event: 'complete', data: null });
  expect(await stream.next()).toBeNull();
});

test('limits the subscriptions of a caller', async () => {
  await using small = await createTestApp({ env: { LIMIT_SUBSCRIPTIONS: '2' } });
  const tenant = await small.createTenant();
  const headers = createHeaders(tenant);
  const variables = { project: tenant.projectId };
  const openStream = () =>
    openEventStream(small.fetch, { query: SUBSCRIBE_TO_EVENTS, variables, headers });
  const [firstStream] = [await openStream(), await openStream()];
  const refusedStream = await openStream();
  expect([refusedStream.status, refusedStream.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await expectRefusal(refusedStream)).toMatchObject({ code: 'RATE_LIMITED' });
  firstStream.close();
  expect((await openStream()).status).toBe(200);
});
