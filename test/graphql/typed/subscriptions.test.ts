/** Subscriptions of a project's typed API: the changes of customers' objects. */
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { inTransaction } from '../../../src/database/transactions/transaction.ts';
import { enqueueMessages } from '../../../src/events/enqueue-messages.ts';
import type { Tenant } from '../../support/app.ts';
import { openEventStream, type StreamMessage } from '../../support/event-stream.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import { startReadJobs, TRIGGER_READ } from '../../support/fixtures/reads.ts';
import { createStream, type TestStream } from '../../support/fixtures/streams.ts';
import {
  createPeopleTenant,
  createTypedClient,
  installPeople,
  startTypedApi,
} from '../../support/fixtures/typed-api.ts';
import { openSocket } from '../../support/socket.ts';

const app = await startTypedApi();
app.sandbox.seed('contacts', 2);
const { services } = app.app;
const { database } = services;

const SUBSCRIBE_TO_PEOPLE = `subscription PeopleChanged($group: ID, $after: String) {
  peopleChanged(group: $group, after: $after) {
    cursor
    installation { id group integration provider }
    changes { kind id record { id lastName emailAddress score _installation { integration } } fieldsUpdated }
  }
}`;

const createPath = ({ projectId }: Tenant) => `/graphql/projects/${projectId}`;

async function subscribe(
  tenant: Tenant,
  variables: object = {},
  headers: Record<string, string> = {},
) {
  const stream = await openEventStream(app.fetch, {
    query: SUBSCRIBE_TO_PEOPLE,
    variables: variables as Record<string, unknown>,
    headers: { 'x-api-key': tenant.apiKey, ...headers },
    path: createPath(tenant),
  });
  onTestFinished(() => stream.close());
  return stream;
}

async function createStreamTenant() {
  const tenant = await app.createTenant();
  const stream = await createStream(database, { projectId: tenant.projectId });
  const id = await installPeople(app, tenant, {
    integration: 'crm',
    provider: 'sandbox',
    groupRef: 'acme',
  });
  await installPeople(app, tenant, { integration: 'leads', provider: 'zoho', groupRef: 'globex' });
  return { tenant, stream, id };
}

/** Appends messages in one transaction. */
async function appendMessages(stream: TestStream, messages: readonly object[]): Promise<void> {
  const target = { projectId: stream.projectId, id: stream.destinationId, type: 'STREAM' } as const;
  const bodies = messages.map((message) => ({ body: JSON.stringify(message) }));
  await inTransaction(database, (tx) =>
    enqueueMessages(tx, target, { messages: bodies, subject: null }),
  );
}

const createMessage = (id: string, members: object = {}) => ({
  action: 'read',
  mappedObjectName: 'people',
  provider: 'sandbox',
  groupRef: 'acme',
  installationId: 'ins_01h455vb4pex5vsknk084sn02q',
  result: [
    {
      id,
      fields: { lastname: `name ${id}` },
      mappedFields: { lastName: `name ${id}` },
      raw: { id },
    },
  ],
  ...members,
});

const listIds = ({ data }: StreamMessage) =>
  data.data.peopleChanged.changes.map(({ id }: { id: string }) => id);

test('delivers the records of a read over server-sent events', async () => {
  const { tenant, id } = await createStreamTenant();
  await using _jobs = await startReadJobs(app);
  const stream = await subscribe(tenant, { group: 'acme' });
  const trigger = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
  };
  await tenant.query(TRIGGER_READ, { input: { ...trigger, objectName: 'people' } });
  const message = await stream.next();
  const { peopleChanged } = message?.data.data ?? {};
  expect(message?.id).toBe(peopleChanged.cursor);
  expect(peopleChanged.installation).toEqual({
    id,
    group: 'acme',
    integration: 'crm',
    provider: 'sandbox',
  });
  expect(peopleChanged.changes).toMatchObject([
    {
      kind: 'READ',
      id: '1',
      record: { id: '1', lastName: 'Dijkstra', score: 1, _installation: { integration: 'crm' } },
      fieldsUpdated: null,
    },
    { kind: 'READ', id: '2', record: { lastName: 'Hopper' } },
  ]);
});

test('resumes over a WebSocket after a cursor from an event stream', async () => {
  const { tenant, stream } = await createStreamTenant();
  const { url } = await app.app.start();
  const socket = await openSocket(url, { path: createPath(tenant) });
  onTestFinished(() => socket.socket.close());
  socket.send({ type: 'connection_init', payload: { 'x-api-key': tenant.apiKey } });
  expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
  socket.send({
    id: 'q',
    type: 'subscribe',
    payload: { query: '{ people(group: "acme") { nodes { id } } }' },
  });
  expect(await socket.next()).toMatchObject({
    id: 'q',
    type: 'next',
    payload: { data: { people: { nodes: [{}, {}] } } },
  });
  expect(await socket.next()).toMatchObject({ id: 'q', type: 'complete' });
  const eventStream = await subscribe(tenant);
  await appendMessages(stream, [createMessage('6'), createMessage('7')]);
  const after = (await eventStream.next())?.id;
  socket.send({
    id: '1',
    type: 'subscribe',
    payload: { query: SUBSCRIBE_TO_PEOPLE, variables: { after } },
  });
  expect(await socket.next()).toMatchObject({
    id: '1',
    payload: {
      data: { peopleChanged: { changes: [{ id: '7', record: { lastName: 'name 7' } }] } },
    },
  });
});

test('delivers events of the provider with their kinds', async () => {
  const { tenant, stream } = await createStreamTenant();
  const subscription = await subscribe(tenant);
  const raw = { id: '1' };
  await appendMessages(stream, [
    createMessage('1', {
      action: 'subscribe',
      result: [
        {
          subscribeEventType: 'update',
          id: '1',
          fields: {},
          mappedFields: { lastName: 'Byron' },
          raw,
          fieldsUpdated: ['lastname'],
        },
        { subscribeEventType: 'associationUpdate', id: '1' },
        { subscribeEventType: 'delete', id: '1' },
        { subscribeEventType: 'other' },
      ],
    }),
  ]);
  expect((await subscription.next())?.data.data.peopleChanged).toMatchObject({
    // The installation was deleted.
    installation: { integration: null, group: 'acme' },
    changes: [
      { kind: 'UPDATE', record: { lastName: 'Byron' }, fieldsUpdated: ['lastname'] },
      { kind: 'ASSOCIATION_UPDATE', id: '1', record: null },
      { kind: 'DELETE', id: '1', record: null },
      { kind: 'OTHER', id: null, record: null },
    ],
  });
});

const otherMessage = fc.constantFrom(
  { action: 'schema.watch' },
  { mappedObjectName: 'companies' },
  { groupRef: 'globex' },
  { action: undefined, notificationType: 'connection.created', result: undefined },
);

test('resumes an interrupted stream without a lost or repeated message', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(otherMessage), { minLength: 5, maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (kinds, cuts, byHeader) => {
        const { tenant, stream } = await createStreamTenant();
        const messages = kinds.map((kind, index) => createMessage(`${index}`, kind ?? {}));
        const expectedIds = kinds.flatMap((kind, index) => (kind ? [] : `${index}`));
        // The first subscription begins before the messages, to have a cursor.
        let subscription = await subscribe(tenant, { group: 'acme' });
        const halfLength = messages.length >> 1;
        await appendMessages(stream, messages.slice(0, halfLength));
        const receivedNames: string[] = [];
        let cursor: string | undefined;
        let appended = halfLength;
        const remainingCuts = [...cuts];
        while (receivedNames.length < expectedIds.length) {
          if (
            appended < messages.length &&
            receivedNames.length >= expectedIds.filter((id) => Number(id) < appended).length
          ) {
            await appendMessages(stream, messages.slice(appended, appended + 3));
            appended += 3;
            continue;
          }
          const message = (await subscription.next()) as StreamMessage;
          receivedNames.push(...listIds(message));
          cursor = message.id;
          if (
            remainingCuts.length > 0 &&
            receivedNames.length % (remainingCuts[0] as number) === 0
          ) {
            remainingCuts.shift();
            subscription.close();
            subscription = byHeader
              ? await subscribe(tenant, { group: 'acme' }, { 'last-event-id': cursor as string })
              : await subscribe(tenant, { group: 'acme', after: cursor });
          }
        }
        expect(receivedNames).toEqual(expectedIds);
        subscription.close();
      },
    ),
    { numRuns: 10 },
  );
});

test('delivers the changes of all groups if no group is named', async () => {
  const { tenant, stream } = await createStreamTenant();
  const subscription = await subscribe(tenant);
  await appendMessages(stream, [createMessage('1', { groupRef: 'globex' }), createMessage('2')]);
  expect(listIds((await subscription.next()) as StreamMessage)).toEqual(['1']);
  expect(listIds((await subscription.next()) as StreamMessage)).toEqual(['2']);
});

test('refuses an object whose messages go to no stream', async () => {
  const tenant = await createPeopleTenant(app);
  for (const variables of [{}, { group: 'acme' }]) {
    const refusal = await (await subscribe(tenant, variables)).next();
    expect(refusal?.data.errors).toMatchObject([
      {
        message: expect.stringMatching(
          /No stream receives the records of people\. Create a destination/,
        ),
      },
    ]);
  }
});

test('refuses an object with two streams, unless the group determines one', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  await createStream(database, { projectId });
  const lake = await createStream(database, { projectId, name: 'lake' });
  await installPeople(app, tenant, { integration: 'crm', provider: 'sandbox', groupRef: 'acme' });
  await installPeople(app, tenant, {
    integration: 'leads',
    provider: 'zoho',
    groupRef: 'globex',
    read: { destination: 'lake' },
  });
  const refusal = await (await subscribe(tenant)).next();
  expect(refusal?.data.errors).toMatchObject([
    {
      message: expect.stringMatching(
        /The streams (records and lake|lake and records) receive records of people\. Pass/,
      ),
    },
  ]);
  const subscription = await subscribe(tenant, { group: 'globex' });
  await appendMessages(lake, [createMessage('1', { groupRef: 'globex' })]);
  expect(listIds((await subscription.next()) as StreamMessage)).toEqual(['1']);
});

test('requires the scope for streams, and refuses end users', async () => {
  const { tenant } = await createStreamTenant();
  const reader = await tenant.createKey('records:read', 'records:write');
  const user = await createEndUser(app, tenant, { permissions: ['READ', 'WRITE_RECORDS'] });
  for (const headers of [{ 'x-api-key': reader }, user.headers]) {
    const query = 'subscription FollowPeopleChanged { peopleChanged(group: "acme") { cursor } }';
    const stream = await openEventStream(app.fetch, {
      query,
      variables: {},
      headers,
      path: createPath(tenant),
    });
    expect((await stream.next())?.data.errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN' } },
    ]);
  }
});

test('refuses a cursor of another stream', async () => {
  const { tenant, stream } = await createStreamTenant();
  const subscription = await subscribe(tenant);
  await appendMessages(stream, [createMessage('1')]);
  const cursor = (await subscription.next())?.id;
  const { tenant: otherTenant } = await createStreamTenant();
  const refusal = await (await subscribe(otherTenant, { after: cursor })).next();
  expect(refusal?.data.errors).toMatchObject([
    { message: expect.stringMatching(/`after` is not a cursor/) },
  ]);
});

test('returns NOT_FOUND to a client of another project', async () => {
  const { tenant } = await createStreamTenant();
  const otherTenant = await app.createTenant();
  const refusal = await (await subscribe(tenant, {}, { 'x-api-key': otherTenant.apiKey })).next();
  expect(refusal?.data.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
  expect(
    await createTypedClient(app, tenant, { 'x-api-key': otherTenant.apiKey }).expectRefusal(
      '{ _contract }',
    ),
  ).toMatchObject({ code: 'NOT_FOUND' });
});
