/** The GraphQL types of events, whose fields are the members of the declared data. */
import type { GraphQLObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { inTransaction } from '../../../src/database/transactions/transaction.ts';
import { encodeCursor } from '../../../src/domain/access/paging/list-cursor.ts';
import { createEventList } from '../../../src/domain/events/notification-event.ts';
import { EVENTS } from '../../../src/events/event-types.ts';
import { type EventToRecord, recordEvent } from '../../../src/events/record.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { getEventTypeName } from '../../../src/graphql/schema/schema-builder.ts';
import { unwrapSchema } from '../../../src/kernel/unwrap-schema.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { generateConnection, recordEvents } from '../../support/fixtures/connections.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
} from '../../support/fixtures/integrations.ts';
import { openSocket } from '../../support/socket.ts';

const app = await getSharedApp();
const { database } = app.app.services;
const types = Object.keys(EVENTS) as (keyof typeof EVENTS)[];

/** Members that are nullable in these types only, so a query of both needs aliases. */
const NULLABLE_FIELDS: Record<string, readonly string[]> = {
  DeliveryFailed: ['operationId'],
  SetupFailed: ['groupRef', 'consumerRef'],
};
const ALIAS_PREFIX = 'nullable_';
const TYPED_FIELDS = types
  .map((type) => {
    const name = getEventTypeName(type);
    const { shape } = EVENTS[type].data;
    const members = Object.keys(shape).map((member) =>
      NULLABLE_FIELDS[name]?.includes(member)
        ? `${ALIAS_PREFIX}${member}: ${member}`
        : toField(member, shape),
    );
    return `... on ${name} { ${members.join(' ')} }`;
  })
  .join(' ');
const EVENT_FIELDS = `__typename id eventType data ${TYPED_FIELDS}`;
const SUBSCRIBE_TO_EVENTS = `subscription SubscribeToEvents($after: String!) {
  notificationEvents(after: $after) { cursor node { ${EVENT_FIELDS} } }
}`;
const LIST_EVENTS = `{ project { notificationEvents(first: 100) { nodes { ${EVENT_FIELDS} } } } }`;

interface Node extends Record<string, unknown> {
  __typename: string;
  id: string;
  eventType: string;
  data: object;
}

/** Returns the members of an event that are fields of its type. */
function listMembers({ __typename, id, eventType, data, ...members }: Node) {
  const present = Object.entries(members).filter(([, value]) => value != null);
  return Object.fromEntries(
    present.map(([name, value]) => [name.replace(ALIAS_PREFIX, ''), value]),
  );
}

function expectTyped(node: Node, type: string): void {
  expect([node.eventType, node.__typename]).toEqual([type, getEventTypeName(type)]);
  const declaredShape = z.strictObject(EVENTS[type as keyof typeof EVENTS].data.shape);
  expect(declaredShape.safeParse(node.data)).toMatchObject({ success: true });
  expect([type, listMembers(node)]).toEqual([type, toGraphql(declaredShape, node.data)]);
}

/** Returns the data under the names of GraphQL. */
function toGraphql({ shape }: z.ZodObject, data: object) {
  const members = Object.entries(data).map(([member, value]) => [toField(member, shape), value]);
  return Object.fromEntries(members);
}

function toField(member: string, shape: z.ZodRawShape): string {
  return ((shape[member] as z.ZodType).meta()?.field as string | undefined) ?? member;
}

function createSample(member: string, schema: z.ZodType): unknown {
  const { inner } = unwrapSchema(schema);
  if (inner instanceof z.ZodRecord) return { [member]: 1 };
  if (inner instanceof z.ZodBoolean) return true;
  if (inner instanceof z.ZodNumber) return 3;
  if (inner instanceof z.ZodArray) return [member];
  return schema.safeParse(member).success ? member : '2026-01-31T12:00:00.000Z';
}

async function recordAll({ projectId }: Tenant) {
  for (const eventType of types) {
    const shape = Object.entries<z.ZodType>(EVENTS[eventType].data.shape);
    const data = Object.fromEntries(
      shape.map(([name, member]) => [name, createSample(name, member)]),
    );
    const event = { projectId, eventType, data, subject: null } as EventToRecord;
    await inTransaction(database, (tx) => recordEvent(tx, event));
  }
}

test('declares a type for every type of event', () => {
  const NotificationEvent = schema.getType('NotificationEvent');
  const names = types.map(getEventTypeName).toSorted();
  expect(names.map((name) => schema.getType(name))).not.toContain(undefined);
  for (const name of names) {
    const interfaces = (schema.getType(name) as GraphQLObjectType).getInterfaces();
    expect(interfaces).toContain(NotificationEvent);
  }
});

test('returns typed members in lists, nodes and streams over each transport', async () => {
  const tenant = await app.createTenant();
  await recordEvents(app, tenant);
  const headers = { 'x-api-key': tenant.apiKey };
  // Without a position, a stream that opens late would miss the first events.
  const operation = {
    query: SUBSCRIBE_TO_EVENTS,
    variables: { after: encodeCursor(createEventList(tenant.projectId), 0n) },
  };
  const events = await openEventStream(app.fetch, { ...operation, headers });
  const { url } = await app.app.start();
  const socket = await openSocket(url);
  socket.send({ type: 'connection_init', payload: headers });
  expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
  socket.send({ type: 'subscribe', id: '1', payload: operation });
  const eventStream = await openParts(operation, headers);

  await recordAll(tenant);
  const { project } = await tenant.query(LIST_EVENTS);
  expect(project.notificationEvents.nodes).toHaveLength(types.length);
  for (const [index, type] of types.entries()) {
    const listedEvent = project.notificationEvents.nodes[index];
    expectTyped(listedEvent, type);
    const { node } = await tenant.query(
      `query GetNotificationEvent($id: ID!) { node(id: $id) { id ... on NotificationEvent { ${EVENT_FIELDS} } } }`,
      { id: listedEvent.id },
    );
    expect(node).toEqual(listedEvent);
    expect((await events.next())?.data.data.notificationEvents.node).toEqual(listedEvent);
    expect((await socket.next()).payload.data.notificationEvents.node).toEqual(listedEvent);
    expect((await eventStream.next()).data.notificationEvents.node).toEqual(listedEvent);
  }
  events.close();
  socket.socket.close();
  eventStream.leave();
});

/** Opens a multipart response. `next` returns the next payload. */
async function openParts(operation: object, headers: Record<string, string>) {
  const leaving = new AbortController();
  const accept = 'multipart/mixed;subscriptionSpec=1.0, application/json';
  const { body } = await app.fetch('/graphql', {
    method: 'POST',
    headers: { ...headers, accept, 'content-type': 'application/json' },
    body: JSON.stringify(operation),
    signal: leaving.signal,
  });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    leave: () => leaving.abort(),
    async next() {
      for (;;) {
        const match = /\{"payload":(.*)\}\r\n/.exec(text);
        if (match) {
          text = text.slice(match.index + match[0].length);
          return JSON.parse(match[1] as string);
        }
        const { done, value } = await reader.read();
        if (done) throw new Error('The stream has ended.');
        text += decoder.decode(value, { stream: true });
      }
    },
  };
}

test('returns the objects of events, and null for deleted ones', async () => {
  const tenant = await app.createTenant();
  await recordEvents(app, tenant);
  // Without objects to read, no backfill adds an event.
  const content = createIntegrationContent('crm', { read: undefined, proxy: { enabled: true } });
  const integration = await createIntegration(app, tenant, content);
  const { id: installationId, connection } = await connectAndInstall(tenant, integration);
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const query = `{ project { notificationEvents { nodes {
    __typename data
    ... on ConnectionCreated { groupRef connection { id } }
    ... on InstallationCreated { integrationName integration { id } installation { id } }
  } } } }`;
  const listNodes = async () => (await tenant.query(query)).project.notificationEvents.nodes;
  expect(await listNodes()).toMatchObject([
    { __typename: 'ConnectionCreated', groupRef: 'acme', connection: { id: connection.id } },
    {
      __typename: 'InstallationCreated',
      integration: { id: integration.id },
      installation: { id: installationId },
    },
    { __typename: 'ConnectionUpdated' },
  ]);
  await tenant.query(
    'mutation DeleteInstallation($input: DeleteInstallationInput!) { deleteInstallation(input: $input) { deletedId } }',
    { input: { installationId } },
  );
  await tenant.query(
    'mutation DeleteConnection($input: DeleteConnectionInput!) { deleteConnection(input: $input) { deletedId } }',
    { input: { connectionId: connection.id } },
  );
  const [createdEvent, installedEvent, ...otherEvents] = await listNodes();
  expect(createdEvent.connection).toBeNull();
  expect(installedEvent).toMatchObject({ integration: { id: integration.id }, installation: null });
  expect(otherEvents.map(({ __typename }: Node) => __typename)).toEqual([
    'ConnectionUpdated',
    'InstallationDeleted',
    'ConnectionDeleted',
  ]);
  for (const node of (await tenant.query(LIST_EVENTS)).project.notificationEvents.nodes) {
    expectTyped(node, node.eventType);
  }
});
