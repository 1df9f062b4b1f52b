/** Searches records at HubSpot and Salesforce, and at a provider that has no search. */
import { expect, test } from 'vitest';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { installCrm, startCrmApp } from '../../support/fixtures/crm.ts';
import {
  createInstallation,
  createIntegration,
  createIntegrationContent,
} from '../../support/fixtures/integrations.ts';
import { LIST_RECORDS } from '../../support/fixtures/reads.ts';
import { UNDOCUMENTED } from '../../support/providers/provider-session.ts';
import { createCrmProvider } from '../../support/rest/proxy-installation.ts';
import { createRestTenantWithDestination } from '../../support/rest/rest-installation.ts';

const providerWithoutSearch = createCrmProvider('http://127.0.0.1:9', {
  name: 'plain',
  displayName: 'Plain CRM',
  capabilities: {
    getBehavior: () => UNDOCUMENTED,
    readPage: async () => ({
      records: [{ id: '1', fields: { name: 'Ada' }, raw: { name: 'Ada', more: 1 } }],
      nextCursor: null,
      estimatedTotal: null,
    }),
  },
});

const { app, hubspot, salesforce } = await startCrmApp([providerWithoutSearch]);

test('searches HubSpot with its search API, one page at a time', async () => {
  const objects = [
    { objectName: 'deals', destination: 'records', requiredFields: [{ fieldName: 'dealname' }] },
  ];
  const rest = await installCrm(app, 'hubspot', { content: { read: { objects } } });
  for (const n of [1, 2, 3]) {
    hubspot.store.create('deals', { dealname: `Deal ${n}`, dealstage: n < 3 ? 'won' : 'lost' });
  }
  const filters = [{ fieldName: 'dealstage', value: 'won' }];
  const fetchPage = async (after?: string) => {
    const variables = { id: rest.installationId, objectName: 'deals', filters, first: 1, after };
    return (await rest.tenant.query(LIST_RECORDS, variables)).node.records;
  };
  const firstPage = await fetchPage();
  const secondPage = await fetchPage(firstPage.pageInfo.endCursor);
  const names = [firstPage, secondPage].map(({ edges }) => edges[0].node.fields.dealname);
  expect(names).toEqual(['Deal 1', 'Deal 2']);
  expect(secondPage.pageInfo.hasNextPage).toBe(false);
  expect(hubspot.requests.at(-1)?.path).toBe('/crm/v3/objects/deals/search');
  const fourFilters = ['a', 'b', 'c', 'd'].map((fieldName) => ({ fieldName, value: 1 }));
  const variables = { id: rest.installationId, objectName: 'deals', filters: fourFilters };
  const { problem } = await rest.tenant.expectRefusal(LIST_RECORDS, variables);
  expect(problem.issues).toMatchObject([
    { name: 'filters', detail: 'must contain at most 3 conditions: HubSpot supports no more.' },
  ]);
});

test.each([
  'salesforce',
  'salesforceJWT',
] as const)('searches %s with a query, and splits its large pages', async (provider) => {
  const name = `O'Neil of ${provider}`;
  const requiredFields = [{ fieldName: 'lastname', mapToName: 'surname' }];
  const objects = [{ objectName: 'Contact', destination: 'records', requiredFields }];
  const rest = await installCrm(app, provider, { content: { read: { objects } } });
  for (const LastName of [name, 'Ada', name]) salesforce.store.create('Contact', { LastName });
  const filters = [{ fieldName: 'LastName', value: name }];
  const fetchPage = async (after?: string) => {
    const variables = { id: rest.installationId, objectName: 'Contact', filters, first: 1, after };
    return (await rest.tenant.query(LIST_RECORDS, variables)).node.records;
  };
  const firstPage = await fetchPage();
  const secondPage = await fetchPage(firstPage.pageInfo.endCursor);
  expect([firstPage, secondPage].map(({ edges }) => edges[0].node.mappedFields)).toEqual([
    { surname: name },
    { surname: name },
  ]);
  expect(firstPage.nodes).not.toEqual(secondPage.nodes);
  expect([firstPage, secondPage].map(({ pageInfo }) => pageInfo.hasNextPage)).toEqual([
    true,
    false,
  ]);
});

test('lists the records of a provider without search, and refuses conditions', async () => {
  const rest = await createRestTenantWithDestination(app);
  const objects = [
    { objectName: 'people', destination: 'records', requiredFields: [{ fieldName: 'name' }] },
  ];
  const content = createIntegrationContent('crm', { provider: 'plain', read: { objects } });
  await createIntegration(app, rest.tenant, content);
  await generateConnection(rest.tenant, { provider: 'plain', apiKey: 'key' });
  const { id } = await createInstallation(rest.tenant);
  const variables = { id, objectName: 'people' };
  const { records } = (await rest.tenant.query(LIST_RECORDS, variables)).node;
  expect(records.edges).toMatchObject([{ node: { id: '1', fields: { name: 'Ada' } } }]);
  const refusal = await rest.expectRefusal('POST', `${rest.base}/integrations/crm?groupRef=acme`, {
    objectName: 'people',
    fieldFilters: [{ fieldName: 'name', operator: 'eq', value: 'Ada' }],
  });
  expect(refusal).toMatchObject({ status: 422 });
  expect(refusal.detail).toContain('Plain CRM does not support search');
});
