/** The tabs of GraphiQL are the first queries that a newcomer runs. */
import {
  buildClientSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  parse,
  validate,
} from 'graphql';
import { expect, test } from 'vitest';
import { createDemoTabs, createTypedDemoTabs, createVariableQueries } from '../../src/demo/tabs.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { newId } from '../../src/kernel/ids.ts';
import { getSharedApp } from '../support/app.ts';
import { fillDemoTenant } from '../support/tenancy/end-user-callers.ts';

const app = await getSharedApp();
const DEMO = {
  url: 'http://gateway.test',
  sandboxUrl: 'http://sandbox.test',
  apiKey: 'ik_demo',
  projectId: newId('prj'),
  orgId: newId('org'),
  projectName: 'demo',
  integrationId: newId('int'),
  installationId: newId('ins'),
  streamId: newId('dst'),
};
const tabs = createDemoTabs(DEMO);

test('creates tabs that are valid for the schema and send the key', () => {
  for (const { query, headers } of tabs) {
    expect(validate(schema, parse(query)), query).toEqual([]);
    expect(headers).toEqual({ 'x-api-key': 'ik_demo' });
  }
  expect(createDemoTabs(null)).toEqual([]);
  expect(createVariableQueries(null)).toEqual({});
});

test('has a valid query for each variable of a tab', () => {
  const queries = createVariableQueries(DEMO);
  for (const query of Object.values(queries)) {
    expect(validate(schema, parse(query)), query).toEqual([]);
  }
  const names = tabs.flatMap(({ query }) =>
    [...query.matchAll(/\$(\w+):/g)].map(([, name]) => name),
  );
  expect(names.toSorted()).toEqual(Object.keys(queries).toSorted());
});

test("lists the providers' objects and capabilities within the limits of a query", async () => {
  const tenant = await app.createTenant();
  const catalogQuery = tabs.find(({ query }) => query.includes('query Catalog'))?.query ?? '';
  const { providers } = await tenant.query(catalogQuery);
  expect(providers.nodes).toHaveLength(providers.totalCount);
  const pipedrive = providers.nodes.find(({ name }: { name: string }) => name === 'pipedrive');
  expect(pipedrive.supports).toContain('SUBSCRIBE');
  expect(pipedrive.objects).toContainEqual({ name: 'deals', displayName: 'Deals' });
  expect(pipedrive.docsUrl).toMatch(/^https:/);
});

test('creates tabs of the typed API that run on the demo and show customers of two providers', async () => {
  const { headers } = await fillDemoTenant(app);
  app.app.sandbox.seed('contacts', 3);
  app.app.sandbox.seed('people', 3);
  const typedClient = app.createClient(headers, '/graphql/projects/demo');
  const typedSchema = buildClientSchema(
    (await typedClient.query(getIntrospectionQuery())) as IntrospectionQuery,
  );
  const [peopleQuery, createMutation, changesQuery] = createTypedDemoTabs(DEMO).map(
    ({ query }) => query,
  ) as [string, string, string];
  expect(validate(typedSchema, parse(changesQuery))).toEqual([]);
  const { acme, initech } = await typedClient.query(peopleQuery);
  expect(acme.nodes).toMatchObject(Array(3).fill({ _installation: { integration: 'crm-sync' } }));
  expect(initech.nodes).toMatchObject([
    {
      emailAddress: 'person-1@desk.example.test',
      lastname: 'Turing',
      _raw: { contact: { mail: 'person-1@desk.example.test' } },
      _installation: { group: 'initech', integration: 'desk-sync' },
    },
    {},
    {},
  ]);
  expect((await typedClient.query(createMutation)).createPeople).toMatchObject({ success: true });
  expect(createTypedDemoTabs(null)).toEqual([]);
});
