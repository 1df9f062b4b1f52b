/**
 * Searches records of a customer's account while the caller waits, over GraphQL and over REST.
 */
import { expect, test, vi } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import { installReads, LIST_RECORDS } from '../../support/fixtures/reads.ts';
import { createRestTenant } from '../../support/rest/rest-client.ts';

const app = await getSharedApp();
const { sandbox } = app.app;
sandbox.seed('contacts', 250);

const peopleContent = {
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

const findContacts = (lifecycle: string) =>
  sandbox.listRecords('contacts').filter((record) => record.lifecycle === lifecycle);

test('returns every record once, page by page', async () => {
  const tenant = await app.createTenant();
  const { id } = await installReads(app, tenant, peopleContent);
  const ids: string[] = [];
  let after: string | null = null;
  for (let pages = 0; pages < 10; pages += 1) {
    const variables: Record<string, unknown> = { id, objectName: 'people', first: 90, after };
    const { nodes, pageInfo } = (await tenant.query(LIST_RECORDS, variables)).node.records;
    ids.push(...nodes.map((node: { id: string }) => node.id));
    expect(pageInfo.hasPreviousPage).toBe(after !== null);
    expect(pageInfo.endCursor).not.toBeNull();
    after = pageInfo.endCursor;
    if (!pageInfo.hasNextPage) break;
  }
  expect(ids).toEqual(sandbox.listRecords('contacts').map((record) => record.id));
});

test('starts a page after the cursor of any edge, even within a page of the provider', async () => {
  const tenant = await app.createTenant();
  const { id } = await installReads(app, tenant, peopleContent);
  const fetchPage = async (first: number, after?: string) =>
    (await tenant.query(LIST_RECORDS, { id, objectName: 'contacts', first, after })).node.records;
  const firstPage = await fetchPage(10);
  const [, , thirdEdge] = firstPage.edges;
  const remainingPage = await fetchPage(7, thirdEdge.cursor);
  expect(remainingPage.nodes).toEqual(firstPage.nodes.slice(3));
  const nextPage = await fetchPage(2, remainingPage.pageInfo.endCursor);
  expect(nextPage.nodes).toEqual((await fetchPage(12)).nodes.slice(10));
  const [{ id: deletedId }] = (await fetchPage(1)).nodes;
  await fetch(`${sandbox.url}/objects/contacts/records/${deletedId}`, { method: 'DELETE' });
  expect((await fetchPage(7, thirdEdge.cursor)).nodes).toEqual(remainingPage.nodes);
});

test('uses the mapped names and values of messages in conditions and in records', async () => {
  const rest = await createRestTenant(app);
  const { id } = await installReads(app, rest.tenant, peopleContent);
  const filters = [{ fieldName: 'lifecycle', value: 'PROSPECT' }];
  const variables = { id, objectName: 'people', first: 200, filters };
  const { records } = (await rest.tenant.query(LIST_RECORDS, variables)).node;
  const leads = findContacts('lead');
  expect(leads.length).toBeGreaterThan(1);
  expect(records.nodes.map((node: { id: string }) => node.id)).toEqual(
    leads.map((lead) => lead.id),
  );
  const [lead] = leads;
  expect(records.edges[0].node).toEqual({
    id: lead?.id,
    fields: { email: lead?.email, lifecycle: 'PROSPECT' },
    mappedFields: { address: lead?.email },
    raw: expect.objectContaining({ email: lead?.email, lifecycle: 'lead' }),
  });
  const byAddress = [...filters, { fieldName: 'address', value: lead?.email }];
  const filtered = await rest.tenant.query(LIST_RECORDS, { ...variables, filters: byAddress });
  expect(filtered.node.records.nodes).toEqual([{ id: lead?.id }]);

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

test('sends each request once when another field of a repeated query fails', async () => {
  const tenant = await app.createTenant();
  const { id } = await installReads(app, tenant, peopleContent);
  const query = `query OneFailure($id: ID!) {
    found: node(id: $id) { ... on Installation { records(objectName: "people", first: 1) { nodes { id } } } }
    failed: node(id: $id) { ... on Installation { records(objectName: "none", first: 1) { nodes { id } } } }
  }`;
  // The sandbox takes a fault for each request.
  const takeFault = vi.spyOn(sandbox.faults, 'take');
  const repetitions = 5;
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    const { data, errors } = await tenant.request(query, { id });
    expect(data).toMatchObject({ found: { records: { nodes: [{}] } } });
    expect(errors).toHaveLength(1);
  }
  const listRequests = takeFault.mock.calls.filter(([, path]) => path.endsWith('/records'));
  expect(listRequests).toHaveLength(repetitions);
});

test('applies the conditions of the config in addition to those of the search', async () => {
  const tenant = await app.createTenant();
  const fieldFilters = [{ fieldName: 'lifecycle', value: 'customer' }];
  const { id } = await installReads(app, tenant, {
    config: { read: [{ objectName: 'contacts', fieldFilters }] },
  });
  const countRecords = async (lifecycle?: string) => {
    const filters = lifecycle === undefined ? [] : [{ fieldName: 'lifecycle', value: lifecycle }];
    const { records } = (
      await tenant.query(LIST_RECORDS, { id, objectName: 'contacts', first: 200, filters })
    ).node;
    return records.nodes.length;
  };
  expect(await countRecords()).toBe(Math.min(200, findContacts('customer').length));
  expect(await countRecords('customer')).toBe(await countRecords());
  expect(await countRecords('lead')).toBe(0);
});

test('refuses invalid arguments at their position', async () => {
  const rest = await createRestTenant(app);
  const { tenant } = rest;
  const { id } = await installReads(app, tenant, peopleContent);
  const search = { id, objectName: 'contacts', first: 5 };
  const { records } = (await tenant.query(LIST_RECORDS, search)).node;
  const leadFilter = [{ fieldName: 'lifecycle', value: 'lead' }];
  const listIssues = async (variables: object) => {
    const { code, problem } = await tenant.expectRefusal(LIST_RECORDS, { ...search, ...variables });
    return [code, problem.issues?.map(({ name }) => name)];
  };
  const after = records.pageInfo.endCursor;
  expect(await listIssues({ after: 'x' })).toEqual(['BAD_USER_INPUT', ['after']]);
  expect(await listIssues({ after: `${after.slice(0, -4)}AAAA` })).toEqual([
    'BAD_USER_INPUT',
    ['after'],
  ]);
  expect(await listIssues({ after, filters: leadFilter })).toEqual(['BAD_USER_INPUT', ['after']]);
  expect(await listIssues({ first: 0 })).toEqual(['BAD_USER_INPUT', ['first']]);
  expect(await listIssues({ objectName: 'deals' })).toEqual(['BAD_USER_INPUT', ['objectName']]);
  expect(await listIssues({ filters: [...leadFilter, ...leadFilter] })).toEqual([
    'BAD_USER_INPUT',
    ['filters[1].fieldName'],
  ]);
  expect((await listIssues({ filters: [{ fieldName: 'none', value: 1 }] }))[0]).toBe(
    'UNPROCESSABLE',
  );

  const otherTenant = await app.createTenant();
  const { id: otherInstallationId } = await installReads(app, otherTenant, peopleContent);
  const foreign = await otherTenant.expectRefusal(LIST_RECORDS, {
    ...search,
    id: otherInstallationId,
    after,
  });
  expect(foreign.problem.issues).toMatchObject([{ name: 'after' }]);

  const path = `${rest.base}/integrations/crm`;
  const body = { objectName: 'contacts', fieldFilters: [{ fieldName: 'a', operator: 'gt' }] };
  const refusal = await rest.expectRefusal('POST', path, body);
  expect(refusal.issues?.map((issue) => `${issue.in} ${issue.name}`).sort()).toEqual([
    'body fieldFilters[0].operator',
    'body fieldFilters[0].value',
    'query groupRef',
  ]);
  const uninstalledObject = { objectName: 'deals', fieldFilters: [] };
  const { issues } = await rest.expectRefusal('POST', `${path}?groupRef=acme`, uninstalledObject);
  expect(issues).toMatchObject([{ in: 'body', name: 'objectName' }]);
});

test('refuses to search a disabled object, and to search for an unknown group', async () => {
  const rest = await createRestTenant(app);
  const config = { read: [{ objectName: 'contacts', disabled: true }] };
  await installReads(app, rest.tenant, { config });
  const body = { objectName: 'contacts', fieldFilters: [] };
  const path = `${rest.base}/integrations/crm?groupRef`;
  expect(await rest.expectRefusal('POST', `${path}=acme`, body)).toMatchObject({ status: 422 });
  expect(await rest.expectRefusal('POST', `${path}=none`, body)).toMatchObject({ status: 404 });
});

test('lets end users with the permission READ search objects that their group has installed', async () => {
  const rest = await createRestTenant(app);
  const { id } = await installReads(app, rest.tenant, peopleContent);
  const reader = await createEndUser(app, rest.tenant, { permissions: ['READ'] });
  const variables = { id, objectName: 'people', first: 1 };
  expect((await reader.query(LIST_RECORDS, variables)).node.records.nodes).toHaveLength(1);
  const installer = await createEndUser(app, rest.tenant, { permissions: ['INSTALL'] });
  expect((await installer.expectRefusal(LIST_RECORDS, variables)).code).toBe('FORBIDDEN');
  const otherUser = await createEndUser(app, rest.tenant, {
    groupRef: 'others',
    permissions: ['READ'],
  });
  expect(await otherUser.query(LIST_RECORDS, variables)).toEqual({ node: null });
  const path = `${rest.base}/integrations/crm?groupRef=acme`;
  const body = { objectName: 'people', fieldFilters: [] };
  for (const scopes of [['read'], ['records:read']] as const) {
    const key = await rest.withScopes(...scopes);
    expect(await key.request('POST', path, body)).toMatchObject({ status: 200 });
  }
  // Visitors of a page can copy its frontend key, so the key must not read records.
  const frontend = await rest.withScopes('frontend');
  expect(await frontend.expectRefusal('POST', path, body)).toMatchObject({ status: 403 });
  const writer = await rest.withScopes('records:write');
  expect(await writer.expectRefusal('POST', path, body)).toMatchObject({ status: 403 });
});

test("adds the cost of the provider's pages to a query, even if it selects few records", async () => {
  const tenant = await app.createTenant();
  const { id } = await installReads(app, tenant, peopleContent);
  const fields = Array.from(
    { length: 9 },
    (_, index) => `r${index}: records(objectName: "people", first: 1) { nodes { id } }`,
  );
  const query = `query Installation($id: ID!) { node(id: $id) { ... on Installation { ${fields.join(' ')} } } }`;
  const { extensions } = await app
    .createClient({ 'x-api-key': tenant.apiKey, 'x-query-cost': '1' })
    .request(query, { id });
  expect(extensions?.cost).toMatchObject({ cost: 1 + 9 * 101 });
});
