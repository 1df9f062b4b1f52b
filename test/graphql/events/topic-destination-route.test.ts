import { expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { createDestination } from '../../support/fixtures/integrations.ts';

const app = await getSharedApp();

const CREATE_ROUTE = `mutation CreateTopicDestinationRoute($input: CreateTopicDestinationRouteInput!) {
  createTopicDestinationRoute(input: $input) {
    topicDestinationRoute { id topic { id } destination { id name } project { id } }
  }
}`;
const DELETE_ROUTE = `mutation DeleteTopicDestinationRoute($input: DeleteTopicDestinationRouteInput!) {
  deleteTopicDestinationRoute(input: $input) { deletedId }
}`;

async function createTopic(tenant: Tenant, name: string): Promise<string> {
  const input = { projectIdOrName: tenant.projectId, name };
  const mutation = `mutation CreateTopic($input: CreateTopicInput!) {
    createTopic(input: $input) { topic { id } }
  }`;
  return (await tenant.query(mutation, { input })).createTopic.topic.id;
}

async function createRoute(
  tenant: Tenant,
  topicId: string,
  destinationId: string,
): Promise<string> {
  const input = { projectIdOrName: tenant.projectId, topicId, destinationId };
  const { createTopicDestinationRoute } = await tenant.query(CREATE_ROUTE, { input });
  return createTopicDestinationRoute.topicDestinationRoute.id;
}

test('creates and deletes a route, and returns CONFLICT for a repeated one', async () => {
  const tenant = await app.createTenant();
  const topicId = await createTopic(tenant, 'alerts');
  const destinationId = await createDestination(tenant, 'crm');
  const projectIdOrName = tenant.projectName;
  const input = { projectIdOrName, topicId, destinationId };
  const creation = await tenant.query(CREATE_ROUTE, { input });
  const { topicDestinationRoute } = creation.createTopicDestinationRoute;
  expect(topicDestinationRoute).toEqual({
    id: expect.stringMatching(/^tdr_/),
    topic: { id: topicId },
    destination: { id: destinationId, name: 'crm' },
    project: { id: tenant.projectId },
  });
  expect(await tenant.expectRefusal(CREATE_ROUTE, { input })).toMatchObject({ code: 'CONFLICT' });

  const deletion = { input: { projectIdOrName, routeId: topicDestinationRoute.id } };
  expect(await tenant.query(DELETE_ROUTE, deletion)).toEqual({
    deleteTopicDestinationRoute: { deletedId: topicDestinationRoute.id },
  });
  expect(await tenant.expectRefusal(DELETE_ROUTE, deletion)).toMatchObject({ code: 'NOT_FOUND' });
});

test('lists routes by topic, by destination, by both, and on the topic', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const [topicA, topicB] = [await createTopic(tenant, 'a'), await createTopic(tenant, 'b')];
  const [destinationX, destinationY] = [
    await createDestination(tenant, 'x'),
    await createDestination(tenant, 'y'),
  ];
  const routeAX = await createRoute(tenant, topicA, destinationX);
  const routeBX = await createRoute(tenant, topicB, destinationX);
  const routeBY = await createRoute(tenant, topicB, destinationY);
  const query = `query ListTopicDestinationRoutes($id: String!, $topicId: ID, $destinationId: ID, $last: Int) {
    project(idOrName: $id) {
      topicDestinationRoutes(topicId: $topicId, destinationId: $destinationId, last: $last) {
        nodes { id }
      }
    }
  }`;
  const listIds = ({ nodes }: { nodes: { id: string }[] }) => nodes.map(({ id }) => id);
  const listRouteIds = async (filters: Record<string, unknown>, client = tenant) => {
    const { project } = await client.query(query, { id: client.projectId, ...filters });
    return listIds(project.topicDestinationRoutes);
  };
  expect(await listRouteIds({})).toEqual([routeBY, routeBX, routeAX]);
  expect(await listRouteIds({ last: 1 })).toEqual([routeAX]);
  expect(await listRouteIds({ topicId: topicB })).toEqual([routeBY, routeBX]);
  expect(await listRouteIds({ destinationId: destinationX })).toEqual([routeBX, routeAX]);
  expect(await listRouteIds({ topicId: topicB, destinationId: destinationX })).toEqual([routeBX]);
  expect(await listRouteIds({ topicId: topicA, destinationId: destinationY })).toEqual([]);
  expect(await listRouteIds({ topicId: topicA }, otherTenant)).toEqual([]);

  const topicQuery = `query GetTopic($id: ID!) {
    node(id: $id) { ... on Topic { topicDestinationRoutes { nodes { id } } } }
  }`;
  const { node } = await tenant.query(topicQuery, { id: topicB });
  expect(listIds(node.topicDestinationRoutes)).toEqual([routeBY, routeBX]);
});

test('reports a topic or destination of another project', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const foreignIds = {
    topicId: await createTopic(tenant, 't'),
    destinationId: await createDestination(tenant, 'd'),
  };
  const ownIds = {
    topicId: await createTopic(otherTenant, 't'),
    destinationId: await createDestination(otherTenant, 'd'),
  };
  const listIssues = async (ids: Record<string, string>) => {
    const input = { projectIdOrName: otherTenant.projectId, ...ids };
    const { problem } = await otherTenant.expectRefusal(CREATE_ROUTE, { input });
    return problem.issues?.map(({ name, detail }) => `${name} ${detail}`);
  };
  const noTopic = 'input.topicId does not exist.';
  const noDestination = 'input.destinationId does not exist.';
  expect(await listIssues(foreignIds)).toEqual([noTopic, noDestination]);
  expect(await listIssues({ ...ownIds, topicId: foreignIds.topicId })).toEqual([noTopic]);
  expect(await listIssues({ ...ownIds, destinationId: foreignIds.destinationId })).toEqual([
    noDestination,
  ]);
  expect(await listIssues({ topicId: 'x', destinationId: 'y' })).toEqual([noTopic, noDestination]);
});

test("returns NOT_FOUND for another tenant's route", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const id = await createRoute(
    tenant,
    await createTopic(tenant, 't'),
    await createDestination(tenant, 'd'),
  );
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
  const [topicId, destinationId] = [
    await createTopic(tenant, 't'),
    await createDestination(tenant, 'd'),
  ];
  const routeId = await createRoute(tenant, topicId, destinationId);
  const projectIdOrName = tenant.projectId;
  const creation = { input: { projectIdOrName, topicId, destinationId } };
  expect(await reader.expectRefusal(CREATE_ROUTE, creation)).toMatchObject({ code: 'FORBIDDEN' });
  const deletion = { input: { projectIdOrName, routeId } };
  expect(await reader.expectRefusal(DELETE_ROUTE, deletion)).toMatchObject({ code: 'FORBIDDEN' });
});
