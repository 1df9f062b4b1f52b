import { expect, test } from 'vitest';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp } from '../../support/app.ts';
import { routeEvents } from '../../support/event-log.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createDestination } from '../../support/fixtures/integrations.ts';
import { createStream } from '../../support/fixtures/streams.ts';

const app = await getSharedApp();
const { database } = app.app.services;

const SEND_TEST_MESSAGE = `mutation SendTestMessage($input: SendTestMessageInput!) {
  sendTestMessage(input: $input) { delivery { group { groupRef } } }
}`;
const LIST_GROUPS = `query ListGroups($project: String!, $streamId: ID!) {
  project(idOrName: $project) {
    notificationEvents { nodes { group { groupRef groupName } } }
    deliveries { nodes { group { groupRef groupName } } }
  }
  node(id: $streamId) { ... on Destination {
    messages { nodes { group { groupRef groupName } } }
  } }
}`;

test('returns the group that an event, its delivery and its stream message concern', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const { createdTopicId } = await routeEvents(database.prisma, projectId);
  const stream = await createStream(database, { projectId, topicId: createdTopicId });
  const destinationId = await createDestination(tenant);
  await database.prisma.topicDestinationRoute.create({
    data: { id: newId('tdr'), projectId, topicId: createdTopicId, destinationId },
  });

  await generateConnection(tenant, { groupName: 'Acme Inc.', apiKey: 'sandbox-key' });

  const variables = { project: projectId, streamId: stream.destinationId };
  const { project, node } = await tenant.query(LIST_GROUPS, variables);
  const nodes = [{ group: { groupRef: 'acme', groupName: 'Acme Inc.' } }];
  expect(project.notificationEvents.nodes).toEqual(nodes);
  expect(project.deliveries.nodes).toEqual(nodes);
  expect(node.messages.nodes).toEqual(nodes);
});

test('returns no group for a test message', async () => {
  const tenant = await app.createTenant();
  const destinationId = await createDestination(tenant);

  const { sendTestMessage } = await tenant.query(SEND_TEST_MESSAGE, {
    input: { projectIdOrName: tenant.projectId, destinationId },
  });

  expect(sendTestMessage.delivery.group).toBeNull();
});
