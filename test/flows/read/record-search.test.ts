/** Records of a customer's account, asked for while somebody waits: over GraphQL, and by the platform's search. */
import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { restTenant } from '../../support/rest/rest-client.ts';
import { endUser } from '../../support/scenes/end-users.ts';
import { installReading, RECORDS } from '../../support/scenes/reads.ts';

const app = await sharedApp();
const { sandbox } = app.app;
sandbox.seed('contacts', 250);

const people = {
  object: {
    mapToName: 'people',
    requiredFields: [{ fieldName: 'email', mapToName: 'address' }, { fieldName: 'lifecycle' }],
  },
  config: {
    read: [
      {
        objectName: 'contacts',
        valueMappings: [
          {
            fieldName: 'lifecycle',
            values: [{ deliveredValue: 'PROSPECT', providerValue: 'lead' }],
          },
        ],
      },
    ],
  },
};

const ofSandbox = (lifecycle: string) =>
  sandbox.records('contacts').filter((record) => record.lifecycle === lifecycle);

test('every record is found once, page by page, forwards', async () => {
  const tenant = await app.tenant();
  const { id } = await installReading(app, tenant, people);
  const found: string[] = [];
  let after: string | null = null;
  for (let pages = 0; pages < 10; pages += 1) {
    const asked: Record<string, unknown> = { id, objectName: 'people', first: 90, after };
    const { nodes, pageInfo } = (await tenant.query(RECORDS, asked)).node.records;
    found.push(...nodes.map((node: { id: string }) => node.id));
    expect(pageInfo.hasPreviousPage).toBe(after !== null);
    expect(pageInfo.endCursor).not.toBeNull();
    after = pageInfo.endCursor;
    if (!pageInfo.hasNextPage) break;
  }
  expect(found).toEqual(sandbox.records('contacts').map((record) => record.id));
});

test('a page begins behind the cursor of any edge, inside a page of the provider too', async () => {
  const tenant = await app.tenant();
  const { id } = await installReading(app, tenant, people);
  const ask = async (first: number, after?: string) =>
    (await tenant.query(RECORDS, { id, objectName: 'contacts', first, after })).node.records;
  const whole = await ask(10);
  const [, , third] = whole.edges;
  const rest = await ask(7, third.cursor);
  expect(rest.nodes).toEqual(whole.nodes.slice(3));
  const next = await ask(2, rest.pageInfo.endCursor);
  expect(next.nodes).toEqual((await ask(12)).nodes.slice(10));
  const [{ id: gone }] = (await ask(1)).nodes;
  await fetch(`${sandbox.url}/objects/contacts/records/${gone}`, { method: 'DELETE' });
  expect((await ask(7, third.cursor)).nodes).toEqual(rest.nodes);
});

test('conditions are given in the names and words of messages, and records come in them', async () => {
  const rest = await restTenant(app);
  const { id } = await installReading(app, rest.tenant, people);
  const filters = [{ fieldName: 'lifecycle', value: 'PROSPECT' }];
  const variables = { id, objectName: 'people', first: 200, filters };
  const { records } = (await rest.tenant.query(RECORDS, variables)).node;
  const leads = ofSandbox('lead');
  expect(leads.length).toBeGreaterThan(1);
  expect(records.nodes.map((node: { id: string }) => node.id)).toEqual(leads.map((one) => one.id));
  const [first] = leads;
  expect(records.edges[0].node).toEqual({
    id: first?.id,
    fields: { email: first?.email, lifecycle: 'PROSPECT' },
    mappedFields: { address: first?.email },
    raw: expect.objectContaining({ email: first?.email, lifecycle: 'lead' }),
  });
  const byAddress = [...filters, { fieldName: 'address', value: first?.email }];
  const one = await rest.tenant.query(RECORDS, { ...variables, filters: byAddress });
  expect(one.node.records.nodes).toEqual([{ id: first?.id }]);

  const { result } = await rest.post(
    `${rest.base}/integrations/crm?groupRef=acme`,
    {
      objectName: 'contacts',
      fieldFilters: byAddress.map((filter) => ({ ...filter, operator: 'eq' })),
    },
    200,
  );
  const { id: _id, ...entry } = records.edges[0].node;
  expect(result).toEqual([entry]);
});

test("the config's own conditions hold too", async () => {
  const tenant = await app.tenant();
  const fieldFilters = [{ fieldName: 'lifecycle', value: 'customer' }];
  const { id } = await installReading(app, tenant, {
    config: { read: [{ objectName: 'contacts', fieldFilters }] },
  });
  const find = async (value?: string) => {
    const filters = value === undefined ? [] : [{ fieldName: 'lifecycle', value }];
    const { records } = (
      await tenant.query(RECORDS, { id, objectName: 'contacts', first: 200, filters })
    ).node;
    return records.nodes.length;
  };
  expect(await find()).toBe(Math.min(200, ofSandbox('customer').length));
  expect(await find('customer')).toBe(await find());
  expect(await find('lead')).toBe(0);
});

test('what was not asked for is refused by its place', async () => {
  const rest = await restTenant(app);
  const { tenant } = rest;
  const { id } = await installReading(app, tenant, people);
  const whole = { id, objectName: 'contacts', first: 5 };
  const { records } = (await tenant.query(RECORDS, whole)).node;
  const lead = [{ fieldName: 'lifecycle', value: 'lead' }];
  const refused = async (variables: object) => {
    const { code, problem } = await tenant.refusal(RECORDS, { ...whole, ...variables });
    return [code, problem.issues?.map(({ name }) => name)];
  };
  const after = records.pageInfo.endCursor;
  expect(await refused({ after: 'x' })).toEqual(['BAD_USER_INPUT', ['after']]);
  expect(await refused({ after: `${after.slice(0, -4)}AAAA` })).toEqual([
    'BAD_USER_INPUT',
    ['after'],
  ]);
  expect(await refused({ after, filters: lead })).toEqual(['BAD_USER_INPUT', ['after']]);
  expect(await refused({ first: 0 })).toEqual(['BAD_USER_INPUT', ['first']]);
  expect(await refused({ objectName: 'deals' })).toEqual(['BAD_USER_INPUT', ['objectName']]);
  expect(await refused({ filters: [...lead, ...lead] })).toEqual([
    'BAD_USER_INPUT',
    ['filters[1].fieldName'],
  ]);
  expect((await refused({ filters: [{ fieldName: 'none', value: 1 }] }))[0]).toBe('UNPROCESSABLE');

  const other = await app.tenant();
  const { id: others } = await installReading(app, other, people);
  const foreign = await other.refusal(RECORDS, { ...whole, id: others, after });
  expect(foreign.problem.issues).toMatchObject([{ name: 'after' }]);

  const path = `${rest.base}/integrations/crm`;
  const asked = { objectName: 'contacts', fieldFilters: [{ fieldName: 'a', operator: 'gt' }] };
  const bad = await rest.refusal('POST', path, asked);
  expect(bad.issues?.map((issue) => `${issue.in} ${issue.name}`).sort()).toEqual([
    'body fieldFilters[0].operator',
    'body fieldFilters[0].value',
    'query groupRef',
  ]);
  const unknown = { objectName: 'deals', fieldFilters: [] };
  const { issues } = await rest.refusal('POST', `${path}?groupRef=acme`, unknown);
  expect(issues).toMatchObject([{ in: 'body', name: 'objectName' }]);
});

test('an object that the config disables is not searched, and neither is one of an unknown group', async () => {
  const rest = await restTenant(app);
  const config = { read: [{ objectName: 'contacts', disabled: true }] };
  await installReading(app, rest.tenant, { config });
  const asked = { objectName: 'contacts', fieldFilters: [] };
  const path = `${rest.base}/integrations/crm?groupRef`;
  expect(await rest.refusal('POST', `${path}=acme`, asked)).toMatchObject({ status: 422 });
  expect(await rest.refusal('POST', `${path}=none`, asked)).toMatchObject({ status: 404 });
});

test('end users search what their group has installed, with the permission READ', async () => {
  const rest = await restTenant(app);
  const { id } = await installReading(app, rest.tenant, people);
  const reader = await endUser(app, rest.tenant, { permissions: ['READ'] });
  const variables = { id, objectName: 'people', first: 1 };
  expect((await reader.query(RECORDS, variables)).node.records.nodes).toHaveLength(1);
  const installer = await endUser(app, rest.tenant, { permissions: ['INSTALL'] });
  expect((await installer.refusal(RECORDS, variables)).code).toBe('FORBIDDEN');
  const stranger = await endUser(app, rest.tenant, { groupRef: 'others', permissions: ['READ'] });
  expect(await stranger.query(RECORDS, variables)).toEqual({ node: null });
  const path = `${rest.base}/integrations/crm?groupRef=acme`;
  const asked = { objectName: 'people', fieldFilters: [] };
  for (const scopes of [['read'], ['records:read']] as const) {
    const key = await rest.withScopes(...scopes);
    expect(await key.ask('POST', path, asked)).toMatchObject({ status: 200 });
  }
  // Anyone can copy a key from a page, so it finds no records.
  const ofPage = await rest.withScopes('frontend');
  expect(await ofPage.refusal('POST', path, asked)).toMatchObject({ status: 403 });
  const writer = await rest.withScopes('records:write');
  expect(await writer.refusal('POST', path, asked)).toMatchObject({ status: 403 });
});

test('a query costs what it asks of providers, however little it selects', async () => {
  const tenant = await app.tenant();
  const { id } = await installReading(app, tenant, people);
  const asked = Array.from(
    { length: 9 },
    (_, n) => `r${n}: records(objectName: "people", first: 1) { nodes { id } }`,
  );
  const query = `query ($id: ID!) { node(id: $id) { ... on Installation { ${asked.join(' ')} } } }`;
  const { extensions } = await app
    .client({ 'x-api-key': tenant.apiKey, 'x-query-cost': '1' })
    .request(query, { id });
  expect(extensions?.cost).toMatchObject({ cost: 1 + 9 * 101 });
});
