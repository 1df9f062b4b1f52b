import { expect, test } from 'vitest';
import { removeSurplus } from '../../../src/domain/events/stream/stream-removal.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { createNames, routeEvents } from '../../support/event-log.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { installReads, startReadJobs, TRIGGER_READ } from '../../support/fixtures/reads.ts';
import { appendMessages, createStream } from '../../support/fixtures/streams.ts';
import { openSocket } from '../../support/socket.ts';

const app = await getSharedApp();
const { services, sandbox } = app.app;
const { database } = services;
sandbox.seed('contacts', 3);

const CREATE_DESTINATION = `mutation CreateDestination($input: CreateDestinationInput!) {
  createDestination(input: $input) {
    signingSecret
    destination { id name type url headers status disabledReason signingSecret }
  }
}`;
const LIST_STREAM_MESSAGES = `query ListStreamMessages($project: String!, $first: Int, $after: String, $last: Int) {
  project(idOrName: $project) { destinations { nodes {
    id type messages(first: $first, after: $after, last: $last) {
      totalCount pageInfo { hasNextPage hasPreviousPage } edges { cursor node { id createTime body } } } } } }
}`;
const FOLLOW_STREAM_MESSAGES = `subscription FollowStreamMessages($destinationId: ID!, $after: String) {
  streamMessages(destinationId: $destinationId, after: $after) { cursor node { id createTime body } }
}`;

const createHeaders = ({ apiKey }: Pick<Tenant, 'apiKey'>) => ({ 'x-api-key': apiKey });

function follow(headers: Record<string, string>, variables: Record<string, unknown>) {
  return openEventStream(app.fetch, { query: FOLLOW_STREAM_MESSAGES, variables, headers });
}

function addStream({ projectId }: Tenant, topicId?: string) {
  return createStream(database, { projectId, ...(topicId !== undefined && { topicId }) });
}

async function listMessages(tenant: Tenant, variables: object = {}) {
  const data = await tenant.query(LIST_STREAM_MESSAGES, {
    project: tenant.projectId,
    ...variables,
  });
  return data.project.destinations.nodes[0].messages;
}

const listBodyNames = (edges: { node: { body: { name: string } } }[]) =>
  edges.map(({ node }) => node.body.name);

test('creates a stream without a URL and secret, and refuses members of webhooks', async () => {
  const tenant = await app.createTenant();
  const project = { projectIdOrName: tenant.projectId };
  const input = { ...project, name: 'lake', type: 'STREAM' };
  const { createDestination } = await tenant.query(CREATE_DESTINATION, { input });
  const { id } = createDestination.destination;
  expect(createDestination).toEqual({
    signingSecret: null,
    destination: {
      id: expect.stringMatching(/^dst_/),
      name: 'lake',
      type: 'STREAM',
      url: null,
      headers: null,
      status: 'ENABLED',
      disabledReason: null,
      signingSecret: null,
    },
  });
  const values = { url: 'https://hooks.example.test/', headers: { a: 'b' } };
  const listIssueNames = async (query: string, refusedInput: object) =>
    (
      await tenant.expectRefusal(query, { input: { ...project, ...refusedInput } })
    ).problem.issues?.map((issue: { name: string }) => issue.name);
  expect(await listIssueNames(CREATE_DESTINATION, { ...input, name: 'other', ...values })).toEqual([
    'input.url',
    'input.headers',
  ]);
  const webhook = { name: 'hook', type: 'WEBHOOK' };
  expect(await listIssueNames(CREATE_DESTINATION, webhook)).toEqual(['input.url']);
  const update = `mutation UpdateDestination($input: UpdateDestinationInput!) {
    updateDestination(input: $input) { destination { name url } } }`;
  const changes = { destinationId: id, ...values, status: 'DISABLED' };
  expect(await listIssueNames(update, changes)).toEqual([
    'input.url',
    'input.headers',
    'input.status',
  ]);
  const rename = { ...project, destinationId: id, name: 'sea', headers: null };
  expect((await tenant.query(update, { input: rename })).updateDestination.destination).toEqual({
    name: 'sea',
    url: null,
  });
  const rotate = `mutation RotateDestinationSecret($input: RotateDestinationSecretInput!) {
    rotateDestinationSecret(input: $input) { signingSecret } }`;
  expect(await listIssueNames(rotate, { destinationId: id })).toEqual(['input.destinationId']);
  const retry = `mutation RetryDeliveries($input: RetryDeliveriesInput!) {
    retryDeliveries(input: $input) { count }
  }`;
  expect(await listIssueNames(retry, { destinationId: id })).toEqual(['input.destinationId']);
  const sendTest = `mutation SendTestMessage($input: SendTestMessageInput!) {
    sendTestMessage(input: $input) { delivery { id } }
  }`;
  expect(await listIssueNames(sendTest, { destinationId: id })).toEqual(['input.destinationId']);
  expect((await tenant.query(retry, { input: project })).retryDeliveries).toEqual({ count: 0 });
});

test('appends routed events and pages of records to a stream, without deliveries', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const { createdTopicId } = await routeEvents(database.prisma, projectId);
  const { destinationId } = await addStream(tenant, createdTopicId);
  const reading = await installReads(app, tenant);
  const live = await follow(createHeaders(tenant), { destinationId });
  await tenant.query(TRIGGER_READ, { input: { ...reading.triggerInput, objectName: 'contacts' } });
  await using _workers = await startReadJobs(app);
  const page = (await live.next())?.data.data.streamMessages;
  expect(page.node.body).toMatchObject({
    action: 'read',
    objectName: 'contacts',
    resultInfo: { numRecords: 3 },
  });
  live.close();
  const { edges } = await listMessages(tenant);
  expect(edges[0].node.body).toMatchObject({
    notificationType: 'connection.created',
    data: { groupRef: 'acme' },
  });
  expect(edges[1]).toEqual(page);
  expect(await database.prisma.delivery.count({ where: { projectId } })).toBe(0);
  const messages = await database.prisma.streamMessage.findMany({ where: { projectId } });
  const { groupId, consumerId } = await database.prisma.connection.findFirstOrThrow({
    where: { id: reading.connection.id },
  });
  // The scheduled read may also have delivered records.
  for (const message of messages) expect(message).toMatchObject({ groupId, consumerId });
});

test('pages through a stream from its beginning and from its end', async () => {
  const tenant = await app.createTenant();
  const stream = await addStream(tenant);
  await appendMessages(database, stream, { names: createNames('m', 5) });
  const firstPage = await listMessages(tenant, { first: 2 });
  expect(listBodyNames(firstPage.edges)).toEqual(['m1', 'm2']);
  expect([firstPage.totalCount, firstPage.pageInfo]).toEqual([
    5,
    { hasNextPage: true, hasPreviousPage: false },
  ]);
  const lastPage = await listMessages(tenant, { first: 3, after: firstPage.edges[1].cursor });
  expect(listBodyNames(lastPage.edges)).toEqual(['m3', 'm4', 'm5']);
  expect(lastPage.pageInfo).toEqual({ hasNextPage: false, hasPreviousPage: true });
  expect(listBodyNames((await listMessages(tenant, { last: 1 })).edges)).toEqual(['m5']);
});

test("returns the list's cursors in a subscription, and resumes by argument and by Last-Event-ID", async () => {
  const tenant = await app.createTenant();
  const stream = await addStream(tenant);
  const { destinationId } = stream;
  await appendMessages(database, stream, { names: createNames('m', 3) });
  const { edges } = await listMessages(tenant);
  const [{ cursor: after }, { cursor: secondCursor }, { cursor: thirdCursor }] = edges;
  for (const live of [
    await follow(createHeaders(tenant), { destinationId, after }),
    await follow({ ...createHeaders(tenant), 'last-event-id': after }, { destinationId }),
    await follow(
      { ...createHeaders(tenant), 'last-event-id': after },
      { destinationId, after: thirdCursor },
    ),
  ]) {
    const messages = [await live.next(), await live.next()];
    expect(messages.map((message) => message?.id)).toEqual([secondCursor, thirdCursor]);
    expect(messages.map((message) => message?.data.data.streamMessages)).toEqual(edges.slice(1));
    live.close();
  }
});

test('starts a subscription over WebSocket with new messages if it has no cursor', async () => {
  const tenant = await app.createTenant();
  const stream = await addStream(tenant);
  const { destinationId } = stream;
  await appendMessages(database, stream, { names: ['old'] });
  const { url } = await app.app.start();
  const client = await openSocket(url);
  client.send({ type: 'connection_init', payload: createHeaders(tenant) });
  await client.next();
  client.send({
    id: '1',
    type: 'subscribe',
    payload: { query: FOLLOW_STREAM_MESSAGES, variables: { destinationId } },
  });
  let response: Awaited<ReturnType<typeof client.next>> | undefined;
  void client.next().then((message) => {
    response = message;
  });
  // A subscription that is not yet open receives nothing.
  const readFirstName = async () => {
    await appendMessages(database, stream, { names: ['new'] });
    return response?.payload.data.streamMessages.node.body.name;
  };
  await expect.poll(readFirstName).toBe('new');
  client.socket.close();
});

test('refuses a cursor that is too old, and ends a subscription that falls behind', async () => {
  const tenant = await app.createTenant();
  const stream = await addStream(tenant);
  const { destinationId, projectId } = stream;
  await appendMessages(database, stream, { names: createNames('m', 3) });
  const { edges } = await listMessages(tenant);
  const data = { createTime: new Date(0) };
  await database.prisma.streamMessage.updateMany({
    where: { projectId, position: { lte: 2 } },
    data,
  });
  const before = new Date(1);
  await removeSurplus(services, { before });
  const refusedStream = await follow(createHeaders(tenant), {
    destinationId,
    after: edges[0].cursor,
  });
  const [error] = (await refusedStream.next())?.data.errors ?? [];
  expect(error.extensions.problem.issues).toMatchObject([{ name: 'after' }]);
  expect(error.message).toContain('too old');
  const keptStream = await follow(createHeaders(tenant), { destinationId, after: edges[1].cursor });
  expect((await keptStream.next())?.data.data.streamMessages).toEqual(edges[2]);
  keptStream.close();
});

test('refuses other destinations, foreign streams and callers without the scope', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { destinationId } = await addStream(tenant);
  const fetchCode = async (caller: Pick<Tenant, 'apiKey'>, variables: object) => {
    const live = await follow(createHeaders(caller), { destinationId, ...variables });
    const [error] = (await live.next())?.data.errors ?? [];
    return error?.extensions.code;
  };
  expect(await fetchCode(otherTenant, {})).toBe('NOT_FOUND');
  expect(await fetchCode(tenant, { destinationId: 'dst_none' })).toBe('NOT_FOUND');
  expect(await fetchCode(tenant, { after: 'abc' })).toBe('BAD_USER_INPUT');
  const create = { projectIdOrName: tenant.projectId, name: 'hook', type: 'WEBHOOK' };
  const input = { ...create, url: 'https://hooks.example.test/' };
  const webhook = (await tenant.query(CREATE_DESTINATION, { input })).createDestination.destination;
  expect(await fetchCode(tenant, { destinationId: webhook.id })).toBe('BAD_USER_INPUT');
  const reader = { apiKey: await tenant.createKey('read') };
  expect(await fetchCode(reader, {})).toBe('FORBIDDEN');
  const consumer = { apiKey: await tenant.createKey('payloads:read') };
  const stream = await follow(createHeaders(consumer), { destinationId });
  expect(stream.status).toBe(200);
  stream.close();
});

test('ends subscriptions of a deleted stream, and deletes its messages', async () => {
  const tenant = await app.createTenant();
  const stream = await addStream(tenant);
  const { destinationId, projectId } = stream;
  await appendMessages(database, stream, { names: createNames('m', 3) });
  const live = await follow(createHeaders(tenant), { destinationId });
  const remove = `mutation DeleteDestination($input: DeleteDestinationInput!) {
    deleteDestination(input: $input) { deletedId }
  }`;
  await tenant.query(remove, { input: { projectIdOrName: projectId, destinationId } });
  const [error] = (await live.next())?.data.errors ?? [];
  expect(error.extensions.code).toBe('NOT_FOUND');
  expect(await live.next()).toMatchObject({ event: 'complete' });
  expect(await database.prisma.streamMessage.count({ where: { projectId } })).toBe(0);
  expect(await database.prisma.streamLog.count({ where: { projectId } })).toBe(0);
});
