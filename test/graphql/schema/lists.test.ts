/** Filters of lists: by time, by parent and by words, in either order. */
import { expect, test } from 'vitest';
import { newId } from '../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { generateConnection as generateWith } from '../../support/fixtures/connections.ts';

const app = await getSharedApp();
const insert = insertRows(app);
const { prisma } = app.app.services.database;

const connect = (tenant: Tenant, overrides: object) =>
  generateWith(tenant, { apiKey: 'sandbox-key', ...overrides });

async function listItems(tenant: Tenant, field: string, item = 'id'): Promise<string[]> {
  const query = `{ project(idOrName: "${tenant.projectId}") { list: ${field} {
    nodes { ${item} } totalCount } } }`;
  const { nodes, totalCount } = (await tenant.query(query)).project.list;
  expect(totalCount).toBe(nodes.length);
  return nodes.map((node: Record<string, string>) => node[item]);
}

test('includes the start of a time range and excludes its end, in either order', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const operations = [];
  for (let index = 0; index < 5; index += 1) operations.push(await insert.operation({ projectId }));
  const ids = operations.map(({ id }) => id);
  // Simulates another process, whose ids were created 20 seconds before.
  const times = operations.map(
    ({ createTime }, index) => new Date(createTime.getTime() + 20_000 + index),
  );
  for (const [index, id] of ids.entries()) {
    await prisma.operation.updateMany({
      where: { id },
      data: { createTime: times[index] as Date },
    });
  }
  const formatRange = (from: number, until: number) =>
    `createTime: { from: "${times[from]?.toISOString()}", until: "${times[until]?.toISOString()}" }`;
  expect(await listItems(tenant, `operations(${formatRange(1, 3)}, order: OLDEST_FIRST)`)).toEqual(
    ids.slice(1, 3),
  );
  expect(await listItems(tenant, `operations(${formatRange(1, 3)})`)).toEqual(
    ids.slice(1, 3).reverse(),
  );
  const since = `createTime: { from: "${times[3]?.toISOString()}", until: null }`;
  expect(await listItems(tenant, `operations(${since}, status: SUCCEEDED)`)).toEqual(
    ids.slice(3).reverse(),
  );
  const until = `createTime: { until: "${times[1]?.toISOString()}" }`;
  expect(await listItems(tenant, `operations(${until})`)).toEqual(ids.slice(0, 1));
});

test('pages through a time range in both directions', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const ids: string[] = [];
  for (let index = 0; index < 7; index += 1) ids.push((await insert.operation({ projectId })).id);
  const from = new Date(Date.now() - 60_000).toISOString();
  const fetchPage = async (args: string) => {
    const query = `{ project(idOrName: "${projectId}") {
      operations(createTime: { from: "${from}" }, order: OLDEST_FIRST, ${args}) {
        nodes { id } pageInfo { endCursor hasNextPage hasPreviousPage } } } }`;
    return (await tenant.query(query)).project.operations;
  };
  const firstPage = await fetchPage('first: 4');
  expect(firstPage.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const secondPage = await fetchPage(`first: 4, after: "${firstPage.pageInfo.endCursor}"`);
  expect(secondPage.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  const listedIds = [...firstPage.nodes, ...secondPage.nodes].map(({ id }: { id: string }) => id);
  expect(listedIds).toEqual(ids);
});

test('filters events by time range, also of a topic', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const topic = await prisma.topic.create({ data: { id: newId('top'), projectId, name: 'a' } });
  const events = [];
  for (let index = 0; index < 4; index += 1)
    events.push(await insert.event({ projectId, topicIds: [topic.id] }));
  const [, startTime, , endTime] = events.map(({ createTime }) => createTime.toISOString());
  for (const { id, createTime } of events) {
    await prisma.notificationEventTopic.updateMany({
      where: { eventId: id },
      data: { createTime },
    });
  }
  const expectedEvents = events
    .filter((event) => event.createTime.toISOString() >= String(startTime))
    .filter((event) => event.createTime.toISOString() < String(endTime))
    .map(({ id }) => id);
  const range = `createTime: { from: "${startTime}", until: "${endTime}" }`;
  for (const filter of [range, `${range}, topicId: "${topic.id}"`]) {
    expect(await listItems(tenant, `notificationEvents(${filter})`)).toEqual(expectedEvents);
    expect(await listItems(tenant, `notificationEvents(${filter}, order: NEWEST_FIRST)`)).toEqual(
      expectedEvents.toReversed(),
    );
  }
});

test('filters operations by integration, installation and group, with their other filters', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const [integrationId, installationId] = [newId('int'), newId('ins')];
  const name = 'crm';
  await prisma.integration.create({
    data: { id: integrationId, projectId, name, provider: 'sandbox', latestRevisionId: 'rev' },
  });
  const groupId = newId('grp');
  await prisma.group.create({ data: { id: groupId, projectId, groupRef: 'a', groupName: 'A' } });
  const targetIds = { integrationId, installationId, groupId };
  const writeOperation = await insert.operation({ projectId, ...targetIds, actionType: 'WRITE' });
  const failedRead = await insert.operation({ projectId, ...targetIds, status: 'FAILURE' });
  await insert.operation({ projectId });
  for (const filter of [
    `integrationIdOrName: "${name}"`,
    `integrationIdOrName: "${integrationId}"`,
    `installationId: "${installationId}"`,
    'groupRef: "a"',
  ]) {
    expect(await listItems(tenant, `operations(${filter})`)).toEqual([
      failedRead.id,
      writeOperation.id,
    ]);
    expect(await listItems(tenant, `operations(${filter}, status: FAILED)`)).toEqual([
      failedRead.id,
    ]);
    expect(await listItems(tenant, `operations(${filter}, actionType: WRITE)`)).toEqual([
      writeOperation.id,
    ]);
    expect(
      await listItems(tenant, `operations(${filter}, order: OLDEST_FIRST, status: SUCCEEDED)`),
    ).toEqual([writeOperation.id]);
  }
  const otherTenant = await app.createTenant();
  expect(await listItems(otherTenant, `operations(installationId: "${installationId}")`)).toEqual(
    [],
  );
  for (const filter of ['integrationIdOrName: "none"', 'groupRef: "none"', 'installationId: "x"']) {
    expect(await listItems(tenant, `operations(${filter})`)).toEqual([]);
  }
});

test("filters the project's deliveries by type, destination and status", async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const destinationId = newId('dst');
  const failedDelivery = await insert.delivery({ projectId, destinationId, status: 'FAILED' });
  const createdDelivery = await insert.delivery({ projectId, eventType: 'CONNECTION_CREATED' });
  expect(await listItems(tenant, 'deliveries')).toEqual([createdDelivery.id, failedDelivery.id]);
  expect(await listItems(tenant, 'deliveries(order: OLDEST_FIRST)')).toEqual([
    failedDelivery.id,
    createdDelivery.id,
  ]);
  expect(await listItems(tenant, 'deliveries(status: FAILED)')).toEqual([failedDelivery.id]);
  expect(await listItems(tenant, `deliveries(destinationId: "${destinationId}")`)).toEqual([
    failedDelivery.id,
  ]);
  expect(await listItems(tenant, 'deliveries(eventType: CONNECTION_CREATED)')).toEqual([
    createdDelivery.id,
  ]);
  expect(
    await listItems(tenant, 'deliveries(eventType: CONNECTION_CREATED, status: FAILED)'),
  ).toEqual([]);
  const otherTenant = await app.createTenant();
  expect(await listItems(otherTenant, `deliveries(destinationId: "${destinationId}")`)).toEqual([]);
});

test('returns connections and installations of groups, consumers and connections', async () => {
  const tenant = await app.createTenant();
  const { id } = (await connect(tenant, { groupRef: 'acme', consumerRef: 'ada' })) as never;
  const query = `{ project(idOrName: "${tenant.projectId}") {
    groups(first: 9) { nodes { connections(first: 9) { nodes { id } totalCount } installations(first: 9) { nodes { id } } } }
    consumers(first: 9) { nodes { connections(first: 9) { nodes { id } } } }
    connections(first: 9) { nodes { installations(first: 9) { nodes { id } totalCount } } } } }`;
  const { project } = await tenant.query(query);
  expect(project.groups.nodes).toEqual([
    { connections: { nodes: [{ id }], totalCount: 1 }, installations: { nodes: [] } },
  ]);
  expect(project.consumers.nodes).toEqual([{ connections: { nodes: [{ id }] } }]);
  expect(project.connections.nodes).toEqual([{ installations: { nodes: [], totalCount: 0 } }]);
});

test('finds the beginnings of words, and returns each row once in the order of the words', async () => {
  const tenant = await app.createTenant();
  const otherTenant = await app.createTenant();
  await connect(tenant, {
    groupRef: 'grp-17',
    groupName: 'Acme Corp acme',
    consumerRef: 'ada@mail.example',
  });
  await connect(tenant, { groupRef: 'g2', groupName: 'The ACME 100%_\\ Co', consumerRef: 'Bob' });
  await connect(tenant, { groupRef: 'g3', groupName: 'Ölmühle', consumerRef: 'ada2' });
  await connect(otherTenant, { groupRef: 'acme', consumerRef: 'ada' });
  const searchGroups = (search: string) =>
    listItems(tenant, `groups(search: ${JSON.stringify(search)})`, 'groupRef');
  expect(await searchGroups('acme')).toEqual(['g2', 'grp-17']);
  expect(await searchGroups('  ACME CO ')).toEqual(['grp-17']);
  expect(await searchGroups('17')).toEqual(['grp-17']);
  expect(await searchGroups('grp-1')).toEqual(['grp-17']);
  expect(await searchGroups('100%_\\')).toEqual(['g2']);
  expect(await searchGroups('cme')).toEqual([]);
  expect(await searchGroups('%')).toEqual([]);
  expect(await searchGroups('Ölm')).toEqual(['g3']);
  expect(await searchGroups('hle')).toEqual([]);
  expect((await searchGroups(' ')).length).toBe(3);
  expect(await listItems(tenant, 'consumers(search: "mail")', 'consumerRef')).toEqual([
    'ada@mail.example',
  ]);
  expect((await listItems(tenant, 'connections(search: "ada")')).length).toBe(2);
  expect((await listItems(tenant, 'connections(search: "corp")')).length).toBe(1);
});

test('finds rows by changed names, and pages through all matches', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  for (const name of ['alerts', 'data-alerts', 'alpha']) {
    const data = { id: newId('top'), projectId, name };
    await prisma.topic.create({ data });
  }
  const searchTopics = async (args: string) => {
    const query = `{ project(idOrName: "${projectId}") { topics(${args}) {
      nodes { name } totalCount pageInfo { endCursor hasNextPage } } } }`;
    return (await tenant.query(query)).project.topics;
  };
  const firstPage = await searchTopics('search: "al", first: 2');
  expect(firstPage).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
  const after = firstPage.pageInfo.endCursor;
  const secondPage = await searchTopics(`search: "al", first: 2, after: "${after}"`);
  const names = [...firstPage.nodes, ...secondPage.nodes].map(({ name }: { name: string }) => name);
  expect(names).toEqual(['alerts', 'data-alerts', 'alpha']);
  expect(
    await tenant.expectRefusal(`{ project(idOrName: "${projectId}") {
    topics(after: "${after}") { nodes { id } } } }`),
  ).toMatchObject({ code: 'BAD_USER_INPUT' });

  await prisma.topic.updateMany({ where: { projectId, name: 'alpha' }, data: { name: 'beta' } });
  await prisma.topic.deleteMany({ where: { projectId, name: 'alerts' } });
  expect((await searchTopics('search: "al"')).nodes).toEqual([{ name: 'data-alerts' }]);
  expect((await searchTopics('search: "bet"')).nodes).toEqual([{ name: 'beta' }]);
});

test('searches connections by the present name of their group', async () => {
  const tenant = await app.createTenant();
  await connect(tenant, { groupRef: 'g', groupName: 'Before', consumerRef: 'ada' });
  await connect(tenant, { groupRef: 'g', groupName: 'After', consumerRef: 'bob' });
  expect((await listItems(tenant, 'connections(search: "after")')).length).toBe(2);
  expect(await listItems(tenant, 'connections(search: "before")')).toEqual([]);
});

test.each([
  'operations(groupRef: "a", installationId: "b") { totalCount }',
  'operations(groupRef: null, integrationIdOrName: "b") { totalCount }',
  'connections(search: "a", provider: "b") { totalCount }',
  'connections(search: "a", order: OLDEST_FIRST) { totalCount }',
  'integrations(search: "a", provider: "b") { totalCount }',
  'deliveries(destinationId: "a", eventType: CONNECTION_CREATED) { totalCount }',
])('refuses filters that no index serves together: %s', async (field) => {
  const tenant = await app.createTenant();
  const query = `{ project(idOrName: "${tenant.projectId}") { ${field} } }`;
  expect(await tenant.expectRefusal(query)).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
});
