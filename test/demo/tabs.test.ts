/** GraphiQL's tabs are the first queries that a newcomer runs. */
import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { demoTabs } from '../../src/demo/tabs.ts';
import { schema } from '../../src/graphql/schema/schema.ts';
import { newId } from '../../src/ids.ts';
import { sharedApp } from '../support/app.ts';

const app = await sharedApp();
const tabs = demoTabs({
  url: 'http://gateway.test',
  sandboxUrl: 'http://sandbox.test',
  apiKey: 'ik_demo',
  projectId: newId('prj'),
  orgId: newId('org'),
  projectName: 'demo',
  integrationId: newId('int'),
  installationId: newId('ins'),
  streamId: newId('dst'),
});

test('fits every tab to the schema and sends the key', () => {
  for (const { query, headers } of tabs) {
    expect(validate(schema, parse(query)), query).toEqual([]);
    expect(headers).toEqual({ 'x-api-key': 'ik_demo' });
  }
  expect(demoTabs(null)).toEqual([]);
});

test("lists the providers' objects and capabilities within the limits of a query", async () => {
  const tenant = await app.tenant();
  const catalogue = tabs.find(({ query }) => query.includes('query Catalogue'))?.query ?? '';
  const { providers } = await tenant.query(catalogue);
  expect(providers.nodes).toHaveLength(providers.totalCount);
  const pipedrive = providers.nodes.find(({ name }: { name: string }) => name === 'pipedrive');
  expect(pipedrive.supports).toContain('SUBSCRIBE');
  expect(pipedrive.objects).toContainEqual({ name: 'deals', displayName: 'Deals' });
  expect(pipedrive.docsUrl).toMatch(/^https:/);
});
