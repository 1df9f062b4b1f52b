import { expect, test } from 'vitest';
import { NotificationEventType } from '../../../src/database/generated/enums.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';

const app = await getSharedApp();

const CREATE_ROUTE = `mutation CreateEventTopicRoute($input: CreateEventTopicRouteInput!) {
  createEventTopicRoute(input: $input) {
    eventTopicRoute { id eventType topic { id name } project { id } updateTime }
  }
}`;
const DELETE_ROUTE = `mutation DeleteEventTopicRoute($input: DeleteEventTopicRouteInput!) {
  deleteEventTopicRoute(input: $input) { deletedId }
}`;

async function createTopic(tenant: Tenant, name: string): Promise<string> {
  const input = { projectIdOrName: tenant.projectId, name };
  const mutation = `mutation CreateTopic($input: CreateTopicInput!) {
    createTopic(input: $input) { topic { id } }
  }`;
  return (await tenant.query(mutation, { input })).createTopic.topic.id;
}

async function createRoute(tenant: Tenant, topicId: string, eventType: string): Promise<string> {
  const input = { projectIdOrName: tenant.projectId, topicId, eventType };
  return (await tenant.query(CREATE_ROUTE, { input })).createEventTopicRoute.eventTopicRoute.id;
}

test('creates a route for each event type, and deletes it', async () => {
  const tenant = await app.createTenant();
  const topicId = await createTopic(tenant, 'alerts');
  const projectIdOrName = tenant.projectName;
  const eventTypes = Object.keys(NotificationEventType);
  expect(eventTypes).toHaveLength(24);
  for (const eventType of eventTypes) {
    const input = { projectIdOrName, topicId, eventType };
    expect(
      (await tenant.query(CREATE_ROUTE, { input })).createEventTopicRoute.eventTopicRoute,
    ).toEqual({
      id: expect.stringMatching(/^etr_/),
      eventType,
      topic: { id: topicId, name: 'alerts' },
      project: { id: tenant.projectId },
      updateTime: null,
    });
  }
  const query = `query GetTopic($id: ID!) {
    node(id: $id) { ... on Topic { eventTopicRoutes { nodes { id eventType } totalCount } } }
  }`;
  const { nodes, totalCount } = (await tenant.query(query, { id: topicId })).node.eventTopicRoutes;
  expect(totalCount).toBe(24);
  expect(nodes.map((node: { eventType: string }) => node.eventType)).toEqual(eventTypes.reverse());

  const input = { projectIdOrName, routeId: nodes[0].id };
  expect(await tenant.query(DELETE_ROUTE, { input })).toEqual({
    deleteEventTopicRoute: { deletedId: nodes[0].id },
  });
  expect(await tenant.expectRefusal(DELETE_ROUTE, { input })).toMatchObject({ code: 'NOT_FOUND' });
});

test('lists routes by topic, by event type, and by both', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const [a, b] = [await createTopic(tenant, 'a'), await createTopic(tenant, 'b')];
  const createdToA = await createRoute(tenant, a, 'CONNECTION_CREATED');
  const createdToB = await createRoute(tenant, b, 'CONNECTION_CREATED');
  const errorToB = await createRoute(tenant, b, 'CONNECTION_ERROR');
  const query = `query ListEventTopicRoutes($id: String!, $topicId: ID, $eventType: NotificationEventType, $last: Int) {
    project(idOrName: $id) {
      eventTopicRoutes(topicId: $topicId, eventType: $eventType, last: $last) { nodes { id } }
    }
  }`;
  const listRouteIds = async (filters: Record<string, unknown>, client = tenant) => {
    const { project } = await client.query(query, { id: client.projectId, ...filters });
    return project.eventTopicRoutes.nodes.map(({ id }: { id: string }) => id);
  };
  expect(await listRouteIds({})).toEqual([errorToB, createdToB, createdToA]);
  expect(await listRouteIds({ last: 2 })).toEqual([createdToB, createdToA]);
  expect(await listRouteIds({ topicId: b })).toEqual([errorToB, createdToB]);
  expect(await listRouteIds({ eventType: 'CONNECTION_CREATED' })).toEqual([createdToB, createdToA]);
  expect(await listRouteIds({ topicId: b, eventType: 'CONNECTION_ERROR' })).toEqual([errorToB]);
  expect(await listRouteIds({ topicId: a, eventType: 'CONNECTION_ERROR' })).toEqual([]);
  expect(await listRouteIds({ topicId: 'nonsense' })).toEqual([]);
  expect(await listRouteIds({ topicId: a }, otherTenant)).toEqual([]);
});

test('returns CONFLICT for a repeated route', async () => {
  const tenant = await app.createTenant();
  const topicId = await createTopic(tenant, 'alerts');
  await createRoute(tenant, topicId, 'WRITE_ASYNC_DONE');
  const input = { projectIdOrName: tenant.projectId, topicId, eventType: 'WRITE_ASYNC_DONE' };
  expect(await tenant.expectRefusal(CREATE_ROUTE, { input })).toMatchObject({ code: 'CONFLICT' });
});

test("refuses an unknown topic, and another tenant's", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const foreign = await createTopic(tenant, 'alerts');
  for (const topicId of [foreign, 'nonsense']) {
    const input = {
      projectIdOrName: otherTenant.projectId,
      topicId,
      eventType: 'CONNECTION_CREATED',
    };
    expect(await otherTenant.expectRefusal(CREATE_ROUTE, { input })).toMatchObject({
      code: 'BAD_USER_INPUT',
      problem: {
        issues: [{ in: 'body', name: 'input.topicId', detail: 'does not exist.', value: topicId }],
      },
    });
  }
});

test("returns NOT_FOUND for another tenant's route", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const topicId = await createTopic(tenant, 'alerts');
  const id = await createRoute(tenant, topicId, 'CONNECTION_CREATED');
  const node = 'query GetNode($id: ID!) { node(id: $id) { id } }';
  for (const projectIdOrName of [tenant.projectId, otherTenant.projectId]) {
    const input = { projectIdOrName, routeId: id };
    expect(await otherTenant.expectRefusal(DELETE_ROUTE, { input })).toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  expect(await otherTenant.query(node, { id })).toEqual({ node: null });
  expect(await tenant.query(node, { id })).toEqual({ node: { id } });
});

test('returns FORBIDDEN for a key without the scope', async () => {
  const tenant = await app.createTenant();
  const reader = await tenant.withScopes('read');
  const topicId = await createTopic(tenant, 'alerts');
  const routeId = await createRoute(tenant, topicId, 'CONNECTION_CREATED');
  const projectIdOrName = tenant.projectId;
  const creation = { input: { projectIdOrName, topicId, eventType: 'CONNECTION_ERROR' } };
  expect(await reader.expectRefusal(CREATE_ROUTE, creation)).toMatchObject({ code: 'FORBIDDEN' });
  const deletion = { input: { projectIdOrName, routeId } };
  expect(await reader.expectRefusal(DELETE_ROUTE, deletion)).toMatchObject({ code: 'FORBIDDEN' });
});
