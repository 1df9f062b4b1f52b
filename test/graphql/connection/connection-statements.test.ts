/** How few statements a connection takes, and what connections of the same moment leave behind. */
import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { recordStatements } from '../../support/database/statements.ts';
import { createProviderApp } from '../../support/providers/oauth.ts';
import { generate, keepEvents, PROVIDERS } from '../../support/scenes/connections.ts';

const app = await sharedApp({ providers: PROVIDERS });
const { services } = app.app;
const { prisma } = services.database;

test('a new connection is one statement, with its group, its consumer and its event', async () => {
  const tenant = await app.tenant();
  await generate(tenant, { apiKey: 'sandbox-key', groupRef: 'other' });
  const { statements } = await recordStatements(() => generate(tenant, { apiKey: 'sandbox-key' }));
  const changes = statements.filter(({ text }) => !/^\s*select/i.test(text));
  expect(changes.map(({ text }) => text.trim().slice(0, 10))).toEqual(['with given']);
});

test('other credentials of a connection are two statements: the second replaces them, with its event', async () => {
  const tenant = await app.tenant();
  const events = await keepEvents(app, tenant);
  const tokens = { accessToken: { token: 'at' }, refreshToken: { token: 'rt' } };
  await createProviderApp(tenant, { provider: 'hubspot' });
  const given = { provider: 'hubspot', oauth2AuthorizationCode: tokens };
  const first = await generate(tenant, given);
  const names = { groupName: 'Acme', consumerName: 'Ann' };
  const { result, statements } = await recordStatements(() =>
    generate(tenant, { ...given, ...names }),
  );
  const changes = statements.filter(({ text }) => !/^\s*select/i.test(text));
  expect(changes.map(({ text }) => text.trim().slice(0, 10))).toEqual(['with given', 'with given']);
  expect(result).toMatchObject({ id: first.id, providerApp: first.providerApp });
  expect(result).toMatchObject({ group: { groupName: 'Acme' }, consumer: { consumerName: 'Ann' } });
  expect(await events()).toMatchObject([
    { eventType: 'CONNECTION_CREATED', data: { consumerName: 'ann' } },
    { eventType: 'CONNECTION_UPDATED', connectionId: first.id, data: { consumerName: 'Ann' } },
  ]);
});

test('the key of a new connection is tried with what was just stored', async () => {
  const tenant = await app.tenant();
  const { statements } = await recordStatements(() => generate(tenant, { apiKey: 'sandbox-key' }));
  const credentials = statements.filter(({ text }) => /^select .*"credentialsSealed"/i.test(text));
  expect(credentials).toEqual([]);
});

test('connections of the same moment share groups, consumers and statements', async () => {
  const tenant = await app.tenant();
  const events = await keepEvents(app, tenant);
  const given = Array.from({ length: 24 }, (_, number) => ({
    apiKey: `k${number}`,
    groupRef: `group-${number % 3}`,
    consumerRef: `consumer-${number % 8}`,
    ...(number === 9 && { groupName: 'The first group', consumerName: 'The second consumer' }),
  }));
  const connections = await Promise.all(given.map((one) => generate(tenant, one)));
  expect(new Set(connections.map(({ id }) => id)).size).toBe(24);
  const where = { projectId: tenant.projectId };
  expect(await prisma.group.count({ where })).toBe(3);
  expect(await prisma.consumer.count({ where })).toBe(8);
  const nameOf = async (groupRef: string) =>
    (await prisma.group.findFirstOrThrow({ where: { ...where, groupRef } })).groupName;
  expect([await nameOf('group-0'), await nameOf('group-1')]).toEqual([
    'The first group',
    'group-1',
  ]);
  const recorded = await events();
  expect(recorded.map(({ eventType }) => eventType)).toEqual(Array(24).fill('CONNECTION_CREATED'));
  expect(new Set(recorded.map(({ connectionId }) => connectionId)).size).toBe(24);
  for (const { connectionId, data } of recorded) {
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

test('the same connection many times at once is one, with the credentials of one of them', async () => {
  const tenant = await app.tenant();
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const connections = await Promise.all(keys.map((apiKey) => generate(tenant, { apiKey })));
  expect(new Set(connections.map(({ id }) => id)).size).toBe(1);
  const where = { projectId: tenant.projectId };
  expect(await prisma.connection.count({ where })).toBe(1);
});

test('a consumer that exists keeps its name, in the event too', async () => {
  const tenant = await app.tenant();
  const events = await keepEvents(app, tenant);
  await generate(tenant, { apiKey: 'sandbox-key', groupRef: 'first', consumerName: 'Ann' });
  const { consumer } = await generate(tenant, { apiKey: 'sandbox-key', groupRef: 'second' });
  expect(consumer.consumerName).toBe('Ann');
  const recorded = (await events()).map(({ data }) => data);
  expect(recorded).toMatchObject([{ consumerName: 'Ann' }, { consumerName: 'Ann' }]);
});
