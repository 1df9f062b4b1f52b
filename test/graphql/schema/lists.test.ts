/** Filters of lists: by time, by parent and by words, in either order. */
import { expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
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
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const operations = [];
  for (let n = 0; n < 5; n += 1) operations.push(await insert.operation({ projectId }));
  const ids = operations.map(({ id }) => id);
  // Simulates another process, whose ids were created 20 seconds before.
  const times = operations.map(({ createTime }, n) => new Date(createTime.getTime() + 20_000 + n));
  for (const [n, id] of ids.entries()) {
    await prisma.operation.updateMany({ where: { id }, data: { createTime: times[n] as Date } });
  }
  const range = (from: number, until: number) =>
    `createTime: { from: "${times[from]?.toISOString()}", until: "${times[until]?.toISOString()}" }`;
  expect(await listItems(tenant, `operations(${range(1, 3)}, order: OLDEST_FIRST)`)).toEqual(
    ids.slice(1, 3),
  );
  expect(await listItems(tenant, `operations(${range(1, 3)})`)).toEqual(ids.slice(1, 3).reverse());
  const since = `createTime: { from: "${times[3]?.toISOString()}", until: null }`;
  expect(await listItems(tenant, `operations(${since}, status: SUCCEEDED)`)).toEqual(
    ids.slice(3).reverse(),
  );
  const until = `createTime: { until: "${times[1]?.toISOString()}" }`;
  expect(await listItems(tenant, `operations(${until})`)).toEqual(ids.slice(0, 1));
});

test('pages through a time range in both directions', async () => {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const ids: string[] = [];
  for (let n = 0; n < 7; n += 1) ids.push((await insert.operation({ projectId })).id);
  const from = new Date(Date.now() - 60_000).toISOString();
  const page = async (args: string) => {
    const query = `{ project(idOrName: "${projectId}") {
      operations(createTime: { from: "${from}" }, order: OLDEST_FIRST, ${args}) {
        nodes { id } pageInfo { endCursor hasNextPage hasPreviousPage } } } }`;
    return (await tenant.query(query)).project.operations;
  };
  const first = await page('first: 4');
  expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const second = await page(`first: 4, after: "${first.pageInfo.endCursor}"`);
  expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  const listedIds = [...first.nodes, ...second.nodes].map(({ id }: { id: string }) => id);
  expect(listedIds).toEqual(ids);
});

test('filters events by time range, also of a topic', async () => {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const topic = await prisma.topic.create({ data: { id: newId('top'), projectId, name: 'a' } });
  const events = [];
  for (let n = 0; n < 4; n += 1)
    events.push(await insert.event({ projectId, topicIds: [topic.id] }));
  const [, second, , last] = events.map(({ createTime }) => createTime.toISOString());
  for (const { id, createTime } of events) {
    await prisma.notificationEventTopic.updateMany({
      where: { eventId: id },
      data: { createTime },
    });
  }
  const expected = events
    .filter((event) => event.createTime.toISOString() >= String(second))
    .filter((event) => event.createTime.toISOString() < String(last))
    .map(({ id }) => id);
  const range = `createTime: { from: "${second}", until: "${last}" }`;
  for (const filter of [range, `${range}, topicId: "${topic.id}"`]) {
    expect(await listItems(tenant, `notificationEvents(${filter})`)).toEqual(expected);
    expect(await listItems(tenant, `notificationEvents(${filter}, order: NEWEST_FIRST)`)).toEqual(
      expected.toReversed(),
    );
  }
});

test('filters operations by integration, installation and group, with their other filters', async () => {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const [integrationId, installationId] = [newId('int'), newId('ins')];
  const name = 'crm';
  await prisma.integration.create({
    data: { id: integrationId, projectId, name, provider: 'sandbox', latestRevisionId: 'rev' },
  });
  const groupId = newId('grp');
  await prisma.group.create({ data: { id: groupId, projectId, groupRef: 'a', groupName: 'A' } });
  const targetIds = { integrationId, installationId, groupId };
  const wrote = await insert.operation({ projectId, ...targetIds, actionType: 'WRITE' });
  const failed = await insert.operation({ projectId, ...targetIds, status: 'FAILURE' });
  await insert.operation({ projectId });
  for (const filter of [
    `integrationIdOrName: "${name}"`,
    `integrationIdOrName: "${integrationId}"`,
    `installationId: "${installationId}"`,
    'groupRef: "a"',
  ]) {
    expect(await listItems(tenant, `operations(${filter})`)).toEqual([failed.id, wrote.id]);
    expect(await listItems(tenant, `operations(${filter}, status: FAILED)`)).toEqual([failed.id]);
    expect(await listItems(tenant, `operations(${filter}, actionType: WRITE)`)).toEqual([wrote.id]);
    expect(
      await listItems(tenant, `operations(${filter}, order: OLDEST_FIRST, status: SUCCEEDED)`),
    ).toEqual([wrote.id]);
  }
  const other = await app.tenant();
  expect(await listItems(other, `operations(installationId: "${installationId}")`)).toEqual([]);
  for (const filter of ['integrationIdOrName: "none"', 'groupRef: "none"', 'installationId: "x"']) {
    expect(await listItems(tenant, `operations(${filter})`)).toEqual([]);
  }
});

test("filters the project's deliveries by type, destination and status", async () => {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const destinationId = newId('dst');
  const first = await insert.delivery({ projectId, destinationId, status: 'FAILED' });
  const second = await insert.delivery({ projectId, eventType: 'CONNECTION_CREATED' });
  expect(await listItems(tenant, 'deliveries')).toEqual([second.id, first.id]);
  expect(await listItems(tenant, 'deliveries(order: OLDEST_FIRST)')).toEqual([first.id, second.id]);
  expect(await listItems(tenant, 'deliveries(status: FAILED)')).toEqual([first.id]);
  expect(await listItems(tenant, `deliveries(destinationId: "${destinationId}")`)).toEqual([
    first.id,
  ]);
  expect(await listItems(tenant, 'deliveries(eventType: CONNECTION_CREATED)')).toEqual([second.id]);
  expect(
    await listItems(tenant, 'deliveries(eventType: CONNECTION_CREATED, status: FAILED)'),
  ).toEqual([]);
  const other = await app.tenant();
  expect(await listItems(other, `deliveries(destinationId: "${destinationId}")`)).toEqual([]);
});

test('returns connections and installations of groups, consumers and connections', async () => {
  const tenant = await app.tenant();
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
  const tenant = await app.tenant();
  const other = await app.tenant();
  await connect(tenant, {
    groupRef: 'grp-17',
    groupName: 'Acme Corp acme',
    consumerRef: 'ada@mail.example',
  });
  await connect(tenant, { groupRef: 'g2', groupName: 'The ACME 100%_\\ Co', consumerRef: 'Bob' });
  await connect(tenant, { groupRef: 'g3', groupName: 'Ölmühle', consumerRef: 'ada2' });
  await connect(other, { groupRef: 'acme', consumerRef: 'ada' });
  const groups = (search: string) =>
    listItems(tenant, `groups(search: ${JSON.stringify(search)})`, 'groupRef');
  expect(await groups('acme')).toEqual(['g2', 'grp-17']);
  expect(await groups('  ACME CO ')).toEqual(['grp-17']);
  expect(await groups('17')).toEqual(['grp-17']);
  expect(await groups('grp-1')).toEqual(['grp-17']);
  expect(await groups('100%_\\')).toEqual(['g2']);
  expect(await groups('cme')).toEqual([]);
  expect(await groups('%')).toEqual([]);
  expect(await groups('Ölm')).toEqual(['g3']);
  expect(await groups('hle')).toEqual([]);
  expect((await groups(' ')).length).toBe(3);
  expect(await listItems(tenant, 'consumers(search: "mail")', 'consumerRef')).toEqual([
    'ada@mail.example',
  ]);
  expect((await listItems(tenant, 'connections(search: "ada")')).length).toBe(2);
  expect((await listItems(tenant, 'connections(search: "corp")')).length).toBe(1);
});

test('finds changed names, and pages through all matches', async () => {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  for (const name of ['alerts', 'data-alerts', 'alpha']) {
    const data = { id: newId('top'), projectId, name };
    await prisma.topic.create({ data });
  }
  const search = async (args: string) => {
    const query = `{ project(idOrName: "${projectId}") { topics(${args}) {
      nodes { name } totalCount pageInfo { endCursor hasNextPage } } } }`;
    return (await tenant.query(query)).project.topics;
  };
  const first = await search('search: "al", first: 2');
  expect(first).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
  const after = first.pageInfo.endCursor;
  const second = await search(`search: "al", first: 2, after: "${after}"`);
  const names = [...first.nodes, ...second.nodes].map(({ name }: { name: string }) => name);
  expect(names).toEqual(['alerts', 'data-alerts', 'alpha']);
  expect(
    await tenant.getRefusal(`{ project(idOrName: "${projectId}") {
    topics(after: "${after}") { nodes { id } } } }`),
  ).toMatchObject({ code: 'BAD_USER_INPUT' });

  await prisma.topic.updateMany({ where: { projectId, name: 'alpha' }, data: { name: 'beta' } });
  await prisma.topic.deleteMany({ where: { projectId, name: 'alerts' } });
  expect((await search('search: "al"')).nodes).toEqual([{ name: 'data-alerts' }]);
  expect((await search('search: "bet"')).nodes).toEqual([{ name: 'beta' }]);
});

test('searches connections by the present name of their group', async () => {
  const tenant = await app.tenant();
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
  const tenant = await app.tenant();
  const query = `{ project(idOrName: "${tenant.projectId}") { ${field} } }`;
  expect(await tenant.getRefusal(query)).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
});
