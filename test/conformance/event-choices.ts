/** Choices that the reference API leaves open about events: their content, routes and delivery. */
import { expect } from 'vitest';
import type { Fixture } from '../support/conformance/fixture.ts';
import type { Choice, Section } from '../support/conformance/rule.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { createClock, createWorker } from '../support/fixtures/deliveries.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
} from '../support/fixtures/integrations.ts';
import { startReceiver } from '../support/receiver.ts';

const CREATE_TOPIC = `mutation CreateTopic($input: CreateTopicInput!) {
  createTopic(input: $input) { topic { id name } }
}`;
const CREATE_DESTINATION = `mutation CreateDestination($input: CreateDestinationInput!) {
  createDestination(input: $input) { destination { id name type url } }
}`;

/** Creates a destination, and `topicCount` topics that route the event type to it. */
async function createRoutedDestination(
  { post, base, createUniqueName }: Fixture,
  eventType: string,
  topicCount = 1,
) {
  const metadata = { url: 'https://receiver.test/hook' };
  const destination = { name: createUniqueName('destination'), type: 'webhook', metadata };
  const { id: destinationId } = await post(`${base}/destinations`, destination);
  for (let count = 0; count < topicCount; count += 1) {
    const { id: topicId } = await post(`${base}/topics`, { name: createUniqueName('topic') });
    await post(`${base}/notification-event-topic-routes`, { eventType, topicId });
    await post(`${base}/topic-destination-routes`, { topicId, destinationId });
  }
  return destinationId as string;
}

/** Returns the bodies of the destination's deliveries. */
async function listMessages({ services }: Fixture, destinationId: string) {
  const rows = await services.database.prisma.delivery.findMany({ where: { destinationId } });
  return rows.map(({ id, body }) => ({ id, ...JSON.parse(body) }));
}

async function createConnection({ tenant, createUniqueName }: Fixture) {
  const groupRef = createUniqueName('group');
  const consumerRef = createUniqueName('consumer');
  const connection = await generateConnection(tenant, {
    groupRef,
    consumerRef,
    apiKey: 'sandbox-key',
  });
  return { id: connection.id as string, groupRef, consumerRef };
}

const payloadChoices: Choice[] = [
  {
    open: 'Payload of notification events',
    title:
      'An event has `notificationType` and `data`. The data of a connection event are `projectId`, `connectionId`, `provider`, `groupRef`, `consumerRef` and `consumerName`.',
    rest: async (fixture) => {
      const destinationId = await createRoutedDestination(fixture, 'connection.created');
      const { id: connectionId, groupRef, consumerRef } = await createConnection(fixture);
      const [message, ...otherMessages] = await listMessages(fixture, destinationId);
      expect(otherMessages).toEqual([]);
      const parties = { groupRef, consumerRef, consumerName: consumerRef };
      const data = {
        projectId: fixture.tenant.projectId,
        connectionId,
        provider: 'sandbox',
        ...parties,
      };
      expect(message).toMatchObject({ notificationType: 'connection.created' });
      expect(message?.data).toEqual(data);
    },
    graphql: async (fixture) => {
      await createRoutedDestination(fixture, 'connection.created');
      const { id } = await createConnection(fixture);
      const { viewer } =
        await fixture.tenant.query(`query ListNotificationEvents { viewer { project {
        notificationEvents(last: 1) { nodes { eventType data connection { id } } }
      } } }`);
      expect(viewer.project.notificationEvents.nodes).toMatchObject([
        { eventType: 'CONNECTION_CREATED', data: { connectionId: id }, connection: { id } },
      ]);
    },
  },
  {
    open: 'Payload of notification events',
    title:
      'The data of an installation event are the ids and names of project, integration, installation, group, connection and consumer, and the `config`.',
    rest: async (fixture) => {
      const { tenant, createUniqueName, app } = fixture;
      const destinationId = await createRoutedDestination(fixture, 'installation.created');
      const integration = await createIntegration(
        app,
        tenant,
        createIntegrationContent(createUniqueName('crm')),
      );
      const groupRef = createUniqueName('group');
      await generateConnection(tenant, { groupRef, apiKey: 'sandbox-key' });
      const { id: installationId } = await connectAndInstall(tenant, integration, { groupRef });
      const [message] = await listMessages(fixture, destinationId);
      expect(message?.data).toMatchObject({
        projectId: tenant.projectId,
        provider: 'sandbox',
        integrationId: integration.id,
        integrationName: expect.any(String),
        installationId,
        groupRef,
        groupName: groupRef,
        connectionId: expect.any(String),
        consumerRef: 'ann',
        consumerName: expect.any(String),
        config: expect.any(Object),
      });
    },
  },
];

const creationChoice: Choice = {
  open: 'Creation of topics and destinations',
  title:
    'A topic has a name. A destination has a name, a type and a URL. Names are unique in the project.',
  rest: async ({ post, expectRefusal, base, createUniqueName }) => {
    const topic = { name: createUniqueName('topic') };
    expect(await post(`${base}/topics`, topic)).toMatchObject(topic);
    expect(await expectRefusal('POST', `${base}/topics`, topic)).toMatchObject({ status: 409 });
    const metadata = { url: 'https://receiver.test/hook' };
    const destination = { name: createUniqueName('destination'), type: 'webhook', metadata };
    expect(await post(`${base}/destinations`, destination)).toMatchObject(destination);
    expect(await expectRefusal('POST', `${base}/destinations`, destination)).toMatchObject({
      status: 409,
    });
  },
  graphql: async ({ tenant, createUniqueName }) => {
    const { projectName: projectIdOrName } = tenant;
    const topic = { input: { projectIdOrName, name: createUniqueName('topic') } };
    const { createTopic } = await tenant.query(CREATE_TOPIC, topic);
    expect(createTopic.topic.name).toBe(topic.input.name);
    expect(await tenant.expectRefusal(CREATE_TOPIC, topic)).toMatchObject({ code: 'CONFLICT' });
    const url = 'https://receiver.test/hook';
    const input = { projectIdOrName, name: createUniqueName('destination'), type: 'WEBHOOK', url };
    const { createDestination } = await tenant.query(CREATE_DESTINATION, { input });
    const { projectIdOrName: _project, ...response } = input;
    expect(createDestination.destination).toMatchObject(response);
    expect(await tenant.expectRefusal(CREATE_DESTINATION, { input })).toMatchObject({
      code: 'CONFLICT',
    });
  },
};

const SECRET_TARGET = {
  url: 'https://receiver.test/hook?token=s3cret',
  headers: { 'X-Key': 's3cret' },
};
const MASKED_TARGET = { url: 'https://receiver.test/hook?token=***', headers: { 'X-Key': '***' } };
const GET_VALUES = `query GetDestinationValues($id: ID!) {
  node(id: $id) { ... on Destination { url headers urlWithValues headerValues } }
}`;
const UPDATE_DESTINATION = `mutation UpdateDestination($input: UpdateDestinationInput!) {
  updateDestination(input: $input) { destination { id } }
}`;

const maskChoice: Choice = {
  open: 'Creation of topics and destinations',
  title:
    "Values of a destination's headers and of its URL's query are returned as `***`. With the scope `credentials:read`, `secrets` (GraphQL: `urlWithValues`, `headerValues`) has the values. `***` is refused as a value. `keepHeaders` of an update names headers that keep their values.",
  rest: async ({ get, post, patch, expectRefusal, base, createUniqueName }) => {
    const destination = {
      name: createUniqueName('destination'),
      type: 'webhook',
      metadata: SECRET_TARGET,
    };
    const { id, metadata } = await post(`${base}/destinations`, destination);
    expect(metadata).toEqual(MASKED_TARGET);
    const path = `${base}/destinations/${id}`;
    const createChange = (overrides: object) => ({
      updateMask: Object.keys(overrides).map((name) => `metadata.${name}`),
      destination: { metadata: overrides },
    });
    expect(await expectRefusal('PATCH', path, createChange(MASKED_TARGET))).toMatchObject({
      status: 400,
    });
    await patch(path, createChange({ headers: { 'X-B': 'b' }, keepHeaders: ['X-Key'] }));
    const { secrets } = await get(`${path}?includeSecrets=true`);
    expect(secrets).toMatchObject({
      ...SECRET_TARGET,
      headers: { ...SECRET_TARGET.headers, 'X-B': 'b' },
    });
  },
  graphql: async ({ tenant, createUniqueName }) => {
    const { projectName: projectIdOrName } = tenant;
    const input = {
      projectIdOrName,
      name: createUniqueName('destination'),
      type: 'WEBHOOK',
      ...SECRET_TARGET,
    };
    const { createDestination } = await tenant.query(CREATE_DESTINATION, { input });
    const { id: destinationId } = createDestination.destination;
    const { url, headers } = SECRET_TARGET;
    const response = { ...MASKED_TARGET, urlWithValues: url, headerValues: headers };
    expect((await tenant.query(GET_VALUES, { id: destinationId })).node).toEqual(response);
    const change = { projectIdOrName, destinationId };
    const maskedChange = { input: { ...change, ...MASKED_TARGET } };
    expect(await tenant.expectRefusal(UPDATE_DESTINATION, maskedChange)).toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    const keptHeaderChange = {
      input: { ...change, headers: { 'X-B': 'b' }, keepHeaders: ['X-Key'] },
    };
    await tenant.query(UPDATE_DESTINATION, keptHeaderChange);
    const { node } = await tenant.query(GET_VALUES, { id: destinationId });
    expect(node.headerValues).toEqual({ ...headers, 'X-B': 'b' });
  },
};

const DELIVERY_SECTION = 'Delivery guarantees, retries and ordering of events';

const deliveryChoices: Choice[] = [
  {
    open: DELIVERY_SECTION,
    title: 'An event is one message to a destination, however many topics route it there.',
    rest: async (fixture) => {
      const destinationId = await createRoutedDestination(fixture, 'connection.created', 3);
      await createConnection(fixture);
      expect(await listMessages(fixture, destinationId)).toHaveLength(1);
    },
  },
  {
    open: DELIVERY_SECTION,
    title:
      'Delivery is at least once. A failed message is retried with its `webhook-id`, first after about 5 seconds. Messages have no defined order.',
    rest: async (fixture) => {
      await using receiver = await startReceiver();
      const { database, vault } = fixture.services;
      const destinationId = await createRoutedDestination(fixture, 'connection.created');
      const url = receiver.getUrl('hook');
      await database.prisma.destination.updateMany({ where: { id: destinationId }, data: { url } });
      await createConnection(fixture);
      const [message] = await listMessages(fixture, destinationId);
      receiver.setBehavior('hook', { status: 500 });
      const clock = createClock(new Date(Date.now() + 1_000).toISOString());
      await using sender = createWorker(database, { vault, now: clock.now, random: () => 0.5 });
      await sender.worker.drain();
      const where = { id: message?.id };
      const { nextAttemptTime } = await database.prisma.delivery.findFirstOrThrow({ where });
      expect(Number(nextAttemptTime) - clock.now().getTime()).toBe(5_000);
      receiver.setBehavior('hook', { status: 200 });
      clock.advance(5_000);
      await sender.worker.drain();
      expect(receiver.listMessages('hook').map(({ id }) => id)).toEqual([message?.id, message?.id]);
      const { status } = await database.prisma.delivery.findFirstOrThrow({ where });
      expect(status).toBe('SUCCEEDED');
    },
  },
];

export const eventChoices: Section = {
  title: 'Events',
  rules: [],
  choices: [...payloadChoices, creationChoice, maskChoice, ...deliveryChoices],
};
