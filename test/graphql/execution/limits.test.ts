import { getIntrospectionQuery } from 'graphql';
import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';

const app = await getSharedApp();
const tenant = await app.createTenant();

const nestSelection = (levels: number): string =>
  levels === 0 ? 'id' : `org { projects { nodes { ${nestSelection(levels - 1)} } } }`;

const repeatField = (count: number, field: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => field(index)).join(' ');

test.each([
  ['depth', `{ project(idOrName: "x") { ${nestSelection(4)} } }`, 14, 12],
  ['aliases', `{ ${repeatField(31, (index) => `a${index}: __typename`)} }`, 31, 30],
  ['root fields', `{ ${repeatField(31, () => '__typename')} }`, 31, 30],
  ['directives', `{ viewer { ${repeatField(21, () => 'kind @include(if: true)')} } }`, 21, 20],
  [
    'root fields',
    `mutation CreateOrgs { ${repeatField(11, (index) => `a${index}: createOrg(input: { label: "x" }) { org { id } }`)} }`,
    11,
    10,
  ],
  ['tokens', `{ viewer { ${repeatField(2000, () => 'kind')} } }`, 2001, 2000],
  ['document bytes', `{ viewer { kind } } #${'x'.repeat(70_000)}`, 70_021, 65_536],
  [
    'cost',
    '{ projects(first: 1000) { nodes { connections(first: 50) { nodes { id } } } } }',
    51_000,
    50_000,
  ],
])('refuses an operation over the limit of %s before it runs', async (limit, query, value, maximum) => {
  const { status, data, errors } = await tenant.request(query);
  expect(status).toBe(200);
  expect(data ?? null).toBeNull();
  expect(errors?.map((error) => error.extensions)).toContainEqual({
    code: 'QUERY_LIMIT_EXCEEDED',
    problem: expect.objectContaining({ limit, value, maximum, status: 400 }),
  });
});

test('accepts the maximum number of root fields and aliases, and the maximum cost', async () => {
  await tenant.query(`{ ${repeatField(30, () => '__typename')} }`);
  await tenant.query(`{ ${repeatField(30, (index) => `a${index}: __typename`)} }`);
  await tenant.query('{ projects(first: 1000) { nodes { topics(first: 49) { nodes { id } } } } }');
});

test('computes the cost from page sizes in variables, and from the default page size', async () => {
  const query = `query ListProjects($first: Int) {
    projects(first: 100) { nodes { topics(first: $first) { nodes { id } } } }
  }`;
  const queryCost = async (variables: Record<string, unknown>) => {
    const client = app.createClient({ 'x-api-key': tenant.apiKey, 'x-query-cost': '1' });
    return (await client.request(query, variables)).extensions?.cost;
  };
  expect(await queryCost({ first: 10 })).toEqual({ cost: 1100, providerCalls: 0, limit: 50_000 });
  expect(await queryCost({})).toEqual({ cost: 5_100, providerCalls: 0, limit: 50_000 });
  expect((await tenant.request(query, { first: 10 })).extensions).toBeUndefined();
});

test('counts requests to providers for each item of a page', async () => {
  const query = `{ viewer { project { installations(first: 3) {
    nodes { records(objectName: "contacts", first: 2) { nodes { id } } }
  } } } }`;
  const client = app.createClient({ 'x-api-key': tenant.apiKey, 'x-query-cost': '1' });
  const { extensions } = await client.request(query);
  expect(extensions).toMatchObject({ cost: { providerCalls: 3 } });
});

test('computes the cost from default values of omitted variables', async () => {
  const pages = `query ListProjects($first: Int = 1000) {
    projects(first: $first) { nodes { topics(first: $first) { nodes { id } } } }
  }`;
  expect(await tenant.expectRefusal(pages)).toMatchObject({
    problem: { limit: 'cost', value: 1_001_000 },
  });
  expect(await tenant.query(pages, { first: 1 })).toHaveProperty('projects');
  const ids = `query GetNodes($ids: [ID!]! = ["a", "b", "c"]) { nodes(ids: $ids) { id } }`;
  const client = app.createClient({ 'x-api-key': tenant.apiKey, 'x-query-cost': '1' });
  expect((await client.request(ids)).extensions).toMatchObject({ cost: { cost: 3 } });
});

test('counts fragments wherever they are spread, also in the depth', async () => {
  const deep = `query { project(idOrName: "x") { ...A } }
    fragment A on Project { org { projects(first: 1) { nodes { ...B } } } }
    fragment B on Project {
      org { projects(first: 1) { nodes { org { projects(first: 1) { nodes { org { billingAccount { id } } } } } } } }
    }`;
  expect(await tenant.expectRefusal(deep)).toMatchObject({ problem: { limit: 'depth' } });
  const circle = 'query { viewer { ...A } } fragment A on Viewer { project { id } ...A }';
  expect(await tenant.expectRefusal(circle)).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
});

test('refuses a fragment bomb without expanding it', async () => {
  const levels = 25;
  const bomb = `query { viewer { ...F0 } } ${repeatField(
    levels,
    (index) => `fragment F${index} on Viewer { a: kind ...F${index + 1} b: kind ...F${index + 1} }`,
  )} fragment F${levels} on Viewer { kind }`;
  expect(await tenant.expectRefusal(bomb)).toMatchObject({ problem: { limit: 'aliases' } });
});

test('accepts the standard introspection query, and refuses a deeper one', async () => {
  const anonymous = app.createClient();
  expect(await anonymous.query(getIntrospectionQuery())).toHaveProperty('__schema.types');
  const nestOfType = (levels: number): string =>
    levels === 0 ? 'name' : `ofType { ${nestOfType(levels - 1)} }`;
  const query = `{ __schema { types { fields { type { ${nestOfType(20)} } } } } }`;
  const { errors } = await anonymous.request(query);
  expect(errors?.[0]?.extensions.code).toBe('QUERY_LIMIT_EXCEEDED');
});

test('refuses batches', async () => {
  const response = await app.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': tenant.apiKey },
    body: JSON.stringify([{ query: '{ __typename }' }, { query: '{ __typename }' }]),
  });
  expect(response.status).toBe(400);
});
