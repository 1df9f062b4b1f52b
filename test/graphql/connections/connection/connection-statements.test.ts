/** The statements of new connections, and the rows of concurrent ones. */
import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { recordStatements } from '../../../support/database/statements.ts';
import {
  generateConnection,
  PROVIDERS,
  recordEvents,
} from '../../../support/fixtures/connections.ts';
import { createProviderApp } from '../../../support/providers/oauth.ts';

const app = await getSharedApp({ providers: PROVIDERS });
const { services } = app.app;
const { prisma } = services.database;

test('creates a connection with its group, consumer and event in one statement', async () => {
  const tenant = await app.createTenant();
  await generateConnection(tenant, { apiKey: 'sandbox-key', groupRef: 'other' });
  const { statements } = await recordStatements(() =>
    generateConnection(tenant, { apiKey: 'sandbox-key' }),
  );
  const changes = statements.filter(({ text }) => !/^\s*select/i.test(text));
  expect(changes.map(({ text }) => text.trim().slice(0, 10))).toEqual(['with input']);
});

test('replaces the credentials of a connection with its event in a second statement', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const tokens = { accessToken: { token: 'at' }, refreshToken: { token: 'rt' } };
  await createProviderApp(tenant, { provider: 'hubspot' });
  const input = { provider: 'hubspot', oauth2AuthorizationCode: tokens };
  const createdConnection = await generateConnection(tenant, input);
  const names = { groupName: 'Acme', consumerName: 'Ann' };
  const { result, statements } = await recordStatements(() =>
    generateConnection(tenant, { ...input, ...names }),
  );
  const changes = statements.filter(({ text }) => !/^\s*select/i.test(text));
  expect(changes.map(({ text }) => text.trim().slice(0, 10))).toEqual(['with input', 'with input']);
  expect(result).toMatchObject({
    id: createdConnection.id,
    providerApp: createdConnection.providerApp,
  });
  expect(result).toMatchObject({ group: { groupName: 'Acme' }, consumer: { consumerName: 'Ann' } });
  expect(await listEvents()).toMatchObject([
    { eventType: 'CONNECTION_CREATED', data: { consumerName: 'ann' } },
    {
      eventType: 'CONNECTION_UPDATED',
      connectionId: createdConnection.id,
      data: { consumerName: 'Ann' },
    },
  ]);
});

test('checks the key of a new connection without reading it again', async () => {
  const tenant = await app.createTenant();
  const { statements } = await recordStatements(() =>
    generateConnection(tenant, { apiKey: 'sandbox-key' }),
  );
  const credentials = statements.filter(({ text }) => /^select .*"credentialsSealed"/i.test(text));
  expect(credentials).toEqual([]);
});

test('shares groups, consumers and statements among concurrent connections', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const inputs = Array.from({ length: 24 }, (_, number) => ({
    apiKey: `k${number}`,
    groupRef: `group-${number % 3}`,
    consumerRef: `consumer-${number % 8}`,
    ...(number === 9 && { groupName: 'The first group', consumerName: 'The second consumer' }),
  }));
  const connections = await Promise.all(inputs.map((input) => generateConnection(tenant, input)));
  expect(new Set(connections.map(({ id }) => id)).size).toBe(24);
  const where = { projectId: tenant.projectId };
  expect(await prisma.group.count({ where })).toBe(3);
  expect(await prisma.consumer.count({ where })).toBe(8);
  const findName = async (groupRef: string) =>
    (await prisma.group.findFirstOrThrow({ where: { ...where, groupRef } })).groupName;
  expect([await findName('group-0'), await findName('group-1')]).toEqual([
    'The first group',
    'group-1',
  ]);
  const recordedEvents = await listEvents();
  expect(recordedEvents.map(({ eventType }) => eventType)).toEqual(
    Array(24).fill('CONNECTION_CREATED'),
  );
  expect(new Set(recordedEvents.map(({ connectionId }) => connectionId)).size).toBe(24);
  for (const { connectionId, data } of recordedEvents) {
    const row = await prisma.connection.findFirstOrThrow({
      where: { id: connectionId ?? '' },
      include: { group: true, consumer: true },
    });
    expect(data).toMatchObject({
      groupRef: row.group.groupRef,
      consumerRef: row.consumer.consumerRef,
    });
  }
});

test('creates one connection for concurrent calls, with the credentials of one of them', async () => {
  const tenant = await app.createTenant();
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const connections = await Promise.all(
    keys.map((apiKey) => generateConnection(tenant, { apiKey })),
  );
  expect(new Set(connections.map(({ id }) => id)).size).toBe(1);
  const where = { projectId: tenant.projectId };
  expect(await prisma.connection.count({ where })).toBe(1);
});

test('keeps the name of an existing consumer, also in the event', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    groupRef: 'first',
    consumerName: 'Ann',
  });
  const { consumer } = await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    groupRef: 'second',
  });
  expect(consumer.consumerName).toBe('Ann');
  const recordedData = (await listEvents()).map(({ data }) => data);
  expect(recordedData).toMatchObject([{ consumerName: 'Ann' }, { consumerName: 'Ann' }]);
});
