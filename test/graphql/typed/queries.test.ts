/** Queries of a project's typed API. */
import {
  buildClientSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  validateSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import { newId } from '../../../src/kernel/ids.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import { CREATE_REVISION, toRevision } from '../../support/fixtures/integrations.ts';
import {
  createPeopleTenant,
  createTypedClient,
  installPeople,
  startTypedApi,
} from '../../support/fixtures/typed-api.ts';

const app = await startTypedApi();
app.sandbox.seed('contacts', 3);
app.zoho.store.create({ Last_Name: 'Liskov', Company: 'Globex' }, new Date());
const tenant = await createPeopleTenant(app);
const client = createTypedClient(app, tenant);

const LIST_ACME = '{ people(group: "acme") { nodes { id } } }';
const LIST_PEOPLE = `fragment Person on PeopleRecord { id lastName score Company }
  query Both {
    acme: people(group: "acme", first: 2) {
      nodes { ...Person emailAddress _installation { group integration provider } }
      pageInfo { hasNextPage endCursor }
    }
    globex: people(group: "globex") { nodes { ...Person } pageInfo { hasNextPage } }
  }`;

test('reads the records of two customers at two providers in one query', async () => {
  const { acme, globex } = await client.query(LIST_PEOPLE);
  expect(acme.nodes).toMatchObject([
    { lastName: 'Dijkstra', emailAddress: 'contact-1@example.test', score: 1, Company: null },
    {
      lastName: 'Hopper',
      _installation: { group: 'acme', integration: 'crm', provider: 'sandbox' },
    },
  ]);
  expect(acme.pageInfo).toEqual({ hasNextPage: true, endCursor: expect.any(String) });
  expect(globex.nodes).toMatchObject([{ lastName: 'Liskov', Company: 'Globex', score: null }]);
  expect(globex.pageInfo).toEqual({ hasNextPage: false });
});

test('continues after a cursor', async () => {
  const { acme } = await client.query(LIST_PEOPLE);
  const query = `query GetPeople($after: String!) {
    people(group: "acme", after: $after) { edges { cursor node { lastName } } }
  }`;
  const { people } = await client.query(query, { after: acme.pageInfo.endCursor });
  expect(people.edges).toEqual([{ cursor: expect.any(String), node: { lastName: 'Liskov' } }]);
});

test('finds records that meet all conditions', async () => {
  const query = `query GetPeople($where: PeopleWhere) {
    people(group: "acme", where: $where) { nodes { id } }
  }`;
  const countRecords = async (where: object) =>
    (await client.query(query, { where })).people.nodes.length;
  expect(await countRecords({ emailAddress: 'contact-2@example.test' })).toBe(1);
  expect(await countRecords({ emailAddress: 'contact-2@example.test', lastName: 'Liskov' })).toBe(
    0,
  );
  expect(await countRecords({})).toBe(3);
});

test('reads several records of an account by id', async () => {
  const { acme } = await client.query(LIST_PEOPLE);
  const [personA, personB] = acme.nodes;
  const query = `query GetPeopleById($a: ID!, $b: ID!) {
    a: peopleById(group: "acme", id: $a) { id lastName _raw }
    b: peopleById(group: "acme", id: $b) { id lastName _extras }
    none: peopleById(group: "acme", id: "no-such-record") { id }
  }`;
  const data = await client.query(query, { a: personA.id, b: personB.id });
  expect(data).toEqual({
    a: {
      id: personA.id,
      lastName: personA.lastName,
      _raw: expect.objectContaining({ id: personA.id }),
    },
    b: {
      id: personB.id,
      lastName: personB.lastName,
      _extras: { lastname: personB.lastName, email: expect.any(String) },
    },
    none: null,
  });
});

test('returns the records of one group if another fails', async () => {
  const query = `{ acme: people(group: "acme") { nodes { id } } none: people(group: "none") { nodes { id } } }`;
  const { data, errors } = await client.request(query);
  expect(data).toMatchObject({ acme: { nodes: [{}, {}, {}] }, none: null });
  expect(errors).toMatchObject([
    { path: ['none'], message: 'Group "none" was not found.', extensions: { code: 'NOT_FOUND' } },
  ]);
});

test.each([
  ['without a group', '{ people { nodes { id } } }', 'BAD_USER_INPUT', /`group` is required/],
  [
    'with a page that is too large',
    '{ people(group: "acme", first: 1001) { nodes { id } } }',
    'BAD_USER_INPUT',
    /`first` /,
  ],
  [
    'with a condition without a value',
    '{ people(group: "acme", where: { lastName: null }) { nodes { id } } }',
    'BAD_USER_INPUT',
    /`where\.lastName` must be a text, a number or a boolean/,
  ],
  [
    'with a condition on a field without a mapping',
    '{ people(group: "acme", where: { tier: "gold" }) { nodes { id } } }',
    'BAD_USER_INPUT',
    /`where\.tier` is not mapped for the group acme: map a field of its account to people\.tier/,
  ],
  [
    'with a text that cannot be stored',
    String.raw`{ people(group: "acme\u0000") { nodes { id } } }`,
    'BAD_USER_INPUT',
    /`group` must be well-formed Unicode/,
  ],
])('refuses a query %s', async (_what, query, code, detail) => {
  const refusal = await client.expectRefusal(query);
  expect(refusal).toMatchObject({ code, problem: { detail: expect.stringMatching(detail) } });
});

test('reports both installations of a group if both read the object', async () => {
  const ownTenant = await app.createTenant();
  const crmId = await installPeople(app, ownTenant, {
    integration: 'crm',
    provider: 'sandbox',
    groupRef: 'acme',
  });
  const leadsId = await installPeople(app, ownTenant, {
    integration: 'leads',
    provider: 'zoho',
    groupRef: 'acme',
  });
  const { code, problem } = await createTypedClient(app, ownTenant).expectRefusal(LIST_ACME);
  expect(code).toBe('UNPROCESSABLE');
  expect(problem.detail).toContain(`crm (${crmId})`);
  expect(problem.detail).toContain(`leads (${leadsId})`);
});

test('refuses an object that the installation of the group does not read', async () => {
  const ownTenant = await app.createTenant();
  const config = { read: [], write: [] };
  await installPeople(app, ownTenant, {
    integration: 'crm',
    provider: 'sandbox',
    groupRef: 'acme',
    config,
  });
  const refusal = await createTypedClient(app, ownTenant).expectRefusal(LIST_ACME);
  expect(refusal.problem.detail).toMatch(
    /The group acme's installation of crm .* neither reads nor writes people: add/,
  );
});

test('counts requests to providers in the cost, and refuses an expensive query before the first', async () => {
  const { extensions } = await client.request(LIST_PEOPLE);
  const providerCallsCost = 2 * 100;
  const acmeCost = 2 * 2;
  const globexCost = 50;
  expect(extensions).toEqual({
    cost: { cost: providerCallsCost + acmeCost + globexCost, providerCalls: 2, limit: 50_000 },
  });
  const pages = Array.from(
    { length: 9 },
    (_, index) => `
      globex${index}: people(group: "globex", first: 1000) {
        edges { node { id _installation { id } _raw } cursor }
      }
      acme${index}: people(group: "acme", first: 1000) {
        nodes { _installation { id } } edges { node { _installation { id } } }
      }`,
  );
  const expensiveQuery = `{ ${pages.join('')} }`;
  const requests = app.zoho.requests.length;
  expect(await client.expectRefusal(expensiveQuery)).toMatchObject({
    code: 'QUERY_LIMIT_EXCEEDED',
    problem: { limit: 'cost', maximum: 50_000 },
  });
  expect(app.zoho.requests.length).toBe(requests);
});

test('serves a new revision with the next query', async () => {
  const ownTenant = await app.createTenant();
  await installPeople(app, ownTenant, {
    integration: 'crm',
    provider: 'sandbox',
    groupRef: 'acme',
  });
  const typed = createTypedClient(app, ownTenant);
  expect((await typed.request('{ persons(group: "acme") { nodes { id } } }')).errors).toHaveLength(
    1,
  );
  const content = {
    name: 'crm',
    provider: 'sandbox',
    read: {
      objects: [
        {
          objectName: 'contacts',
          mapToName: 'persons',
          destination: 'records',
          requiredFields: [{ fieldName: 'email' }],
        },
      ],
    },
  };
  await ownTenant.query(CREATE_REVISION, {
    input: {
      projectIdOrName: ownTenant.projectId,
      integrationIdOrName: 'crm',
      revision: toRevision(content),
    },
  });
  const { persons } = await typed.query('{ persons(group: "acme") { nodes { email } } }');
  expect(persons.nodes).toHaveLength(3);
});

test('serves a valid schema to introspection', async () => {
  const introspected = await client.query(getIntrospectionQuery());
  const schema = buildClientSchema(introspected as IntrospectionQuery);
  expect(validateSchema(schema)).toEqual([]);
  expect(Object.keys(schema.getQueryType()?.getFields() ?? {})).toEqual([
    '_contract',
    'peopleById',
    'people',
  ]);
  const { project } = await tenant.query(
    `{ project(idOrName: "${tenant.projectId}") { contract { hash } } }`,
  );
  expect(await client.query('{ _contract }')).toEqual({ _contract: project.contract.hash });
});

test("reads the records of an end user's own group by default", async () => {
  const user = await createEndUser(app, tenant, { permissions: ['READ'] });
  const typed = createTypedClient(app, tenant, user.headers);
  const { people } = await typed.query('{ people { nodes { id } } }');
  expect(people.nodes).toHaveLength(3);
  for (const group of ['globex', 'none']) {
    const { errors } = await typed.request(`{ people(group: "${group}") { nodes { id } } }`);
    expect(errors).toMatchObject([{ message: `Group "${group}" was not found.` }]);
  }
});

test('serves an end user the objects of the integrations in its token', async () => {
  const { project } = await tenant.query(
    `{ project(idOrName: "${tenant.projectId}") { integrations { nodes { id name } } } }`,
  );
  const getIntegrationId = (name: string) =>
    project.integrations.nodes.find((node: { name: string }) => node.name === name).id;
  const listFieldNames = async (integrations: string[]) => {
    const user = await createEndUser(app, tenant, { permissions: ['READ'], integrations });
    const typed = createTypedClient(app, tenant, user.headers);
    const { __type } = await typed.query('{ __type(name: "PeopleRecord") { fields { name } } }');
    return __type?.fields.map(({ name }: { name: string }) => name);
  };
  expect(await listFieldNames([getIntegrationId('leads')])).not.toContain('emailAddress');
  expect(await listFieldNames([getIntegrationId('crm')])).toContain('emailAddress');
  expect(await listFieldNames([])).toBeUndefined();
});

test.each([
  ['without credentials', {}, 'UNAUTHENTICATED'],
  ['of another project', { 'x-api-key': (await app.createTenant()).apiKey }, 'NOT_FOUND'],
  [
    'without a scope for records',
    { 'x-api-key': await tenant.createKey('keys:write') },
    'FORBIDDEN',
  ],
])('hides the schema from a caller %s', async (_who, headers: Record<string, string>, code) => {
  const typed = createTypedClient(app, tenant, headers);
  const missingProjectClient = createTypedClient(
    app,
    { ...tenant, projectId: newId('prj') },
    headers,
  );
  for (const query of [LIST_ACME, '{ nope }', getIntrospectionQuery()]) {
    expect(await typed.expectRefusal(query)).toMatchObject({ code });
    if (code === 'NOT_FOUND')
      expect(await missingProjectClient.expectRefusal(query)).toMatchObject({ code });
  }
});

test('returns FORBIDDEN for records to a key without a scope for reads', async () => {
  const headers = { 'x-api-key': await tenant.createKey('records:write') };
  const { errors } = await createTypedClient(app, tenant, headers).request(LIST_ACME);
  expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
});

test('responds to a GET, and serves GraphiQL to browsers', async () => {
  const path = `/graphql/projects/${tenant.projectName}`;
  const query = encodeURIComponent('{ people(group: "acme", first: 1) { nodes { lastName } } }');
  const headers = { 'x-api-key': tenant.apiKey };
  const response = await app.fetch(`${path}?query=${query}`, { headers });
  expect(await response.json()).toMatchObject({
    data: { people: { nodes: [{ lastName: 'Dijkstra' }] } },
  });
  const page = await app.fetch(path, { headers: { accept: 'text/html' } });
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
});

test('validates the same operation against the schema of the project that sends it', async () => {
  const ownTenant = await app.createTenant();
  await installPeople(app, ownTenant, { integration: 'leads', provider: 'zoho', groupRef: 'acme' });
  const text = '{ people(group: "acme", first: 1) { nodes { emailAddress } } }';
  const clients = [
    createTypedClient(app, tenant),
    createTypedClient(app, ownTenant),
    app.createClient({ 'x-api-key': ownTenant.apiKey }),
  ];
  for (let round = 0; round < 5; round += 1) {
    const results = await Promise.all(clients.map((client) => client.request(text)));
    expect(
      results.map(({ errors = [] }) => errors.map(({ extensions }) => extensions.code)),
    ).toEqual([[], ['GRAPHQL_VALIDATION_FAILED'], ['GRAPHQL_VALIDATION_FAILED']]);
  }
});
