/** Creates a tenant with a pending delivery, and with texts that are hard to copy. */
import type { Database } from '../../../src/database/database.ts';
import { Prisma } from '../../../src/database/generated/client.ts';
import { newId } from '../../../src/ids.ts';
import type { Tenant, TestApp } from '../app.ts';
import { connectionVariables, GENERATE } from '../fixtures/connections.ts';
import { CREATE_DESTINATION } from '../fixtures/integrations.ts';
import type { Receiver } from '../receiver.ts';

const CREATE_TOPIC = `mutation ($input: CreateTopicInput!) { createTopic(input: $input) { topic { id } } }`;
const ROUTE_EVENT = `mutation ($input: CreateEventTopicRouteInput!) {
  createEventTopicRoute(input: $input) { eventTopicRoute { id } }
}`;
const ROUTE_TOPIC = `mutation ($input: CreateTopicDestinationRouteInput!) {
  createTopicDestinationRoute(input: $input) { topicDestinationRoute { id } }
}`;
export const EVENTS = `query ($project: String!, $after: String) {
  project(idOrName: $project) { notificationEvents(first: 50, after: $after) { edges { cursor node { id } } } }
}`;
export const DELIVERIES = `query ($id: ID!) {
  node(id: $id) { ... on Destination { deliveries(first: 10) { nodes { id status failureReason } } } }
}`;

/** A destination's sealed values, and their masked form for readers without `credentials:read`. */
export const SEALED_TARGET = {
  url: 'https://hooks.example.test/?token=***',
  headers: { 'X-Key': '***' },
  urlWithValues: 'https://hooks.example.test/?token=in-the-query',
  headerValues: { 'X-Key': 'in-a-header' },
};
export const SEALED_VALUES = `query ($project: String!) {
  project(idOrName: $project) {
    destinations(first: 10) { nodes { name url headers urlWithValues headerValues } }
  }
}`;

/** Contains every character that a text format may need to escape. */
const NAME_TO_ESCAPE = "a\"b\\c,(d)\n{null}\t'e' NULL é 🦊 \\N";

/** Creates a destination that responds with 500, and waits for the first delivery attempt of one event. */
export async function createPendingDelivery(app: TestApp, receiver: Receiver) {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const inProject = { projectIdOrName: projectId };
  receiver.setBehavior(projectId, { status: 500 });
  const url = receiver.url(projectId);
  const created = await tenant.query(CREATE_DESTINATION, {
    input: { ...inProject, name: 'hooks', type: 'WEBHOOK', url },
  });
  const { destination, signingSecret } = created.createDestination;
  const { urlWithValues, headerValues } = SEALED_TARGET;
  await tenant.query(CREATE_DESTINATION, {
    input: {
      ...inProject,
      ...{ name: 'sealed', type: 'WEBHOOK', url: urlWithValues, headers: headerValues },
    },
  });
  const { createTopic } = await tenant.query(CREATE_TOPIC, {
    input: { ...inProject, name: 'all' },
  });
  const topicId = createTopic.topic.id;
  await tenant.query(ROUTE_EVENT, {
    input: { ...inProject, topicId, eventType: 'CONNECTION_CREATED' },
  });
  await tenant.query(ROUTE_TOPIC, {
    input: { ...inProject, topicId, destinationId: destination.id },
  });
  await connectGroup(tenant, 'first');
  await receiver.waitForMessages(projectId, 1);
  await addOddRows(app, projectId);
  return {
    tenant,
    destinationId: destination.id as string,
    signingSecret: signingSecret as string,
  };
}

/** Connects an account for the group, which records a `connection.created` event. */
export function connectGroup(tenant: Tenant, groupRef: string) {
  return tenant.query(GENERATE, connectionVariables(tenant, { apiKey: 'sandbox-key', groupRef }));
}

async function addOddRows({ app }: TestApp, projectId: string): Promise<void> {
  const { prisma } = app.services.database;
  const group = { projectId, groupRef: NAME_TO_ESCAPE, groupName: NAME_TO_ESCAPE };
  await prisma.group.create({ data: { ...group, id: newId('grp') } });
  const operation = { projectId, integrationId: 'i', installationId: 'i', configId: 'c' } as const;
  const readFields = { actionType: 'READ', status: 'SUCCESS', result: NAME_TO_ESCAPE } as const;
  for (const metadata of [
    Prisma.JsonNull,
    { [NAME_TO_ESCAPE]: [NAME_TO_ESCAPE, null, 1e300, 2 ** 53, {}] },
  ]) {
    const data = { id: newId('opr'), ...operation, ...readFields, metadata };
    await prisma.operation.create({ data });
  }
}

/** Creates a group whose erasure has started and has lost its job. */
export async function insertLostErasure({ prisma }: Database, projectId: string): Promise<void> {
  const key = { projectId, id: newId('grp') };
  await prisma.group.create({ data: { ...key, groupRef: 'gone', groupName: 'gone' } });
  await prisma.erasure.create({ data: key });
}
