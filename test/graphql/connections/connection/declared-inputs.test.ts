/** The inputs that a provider requires of a new connection, in addition to credentials. */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../../src/providers/declarative/declarative-provider.ts';
import { xero } from '../../../../src/providers/declared/commerce/xero.ts';
import { dynamicsCrm } from '../../../../src/providers/declared/crm/dynamics-crm.ts';
import { zoho } from '../../../../src/providers/declared/crm/zoho.ts';
import { airtable } from '../../../../src/providers/declared/work/airtable.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import {
  createConnectionVariables,
  GENERATE_CONNECTION,
} from '../../../support/fixtures/connections.ts';

const apiKey = { in: 'header', name: 'authorization' } as const;
const app = await getSharedApp({
  providers: [airtable, dynamicsCrm, xero, zoho].map((declared) =>
    createDeclarativeProvider({ ...declared, authSchemes: ['API_KEY'], apiKey }),
  ),
});

async function fetchIssues(tenant: Tenant, overrides: object) {
  const variables = createConnectionVariables(tenant, { apiKey: 'key', ...overrides });
  const { problem } = await tenant.expectRefusal(GENERATE_CONNECTION, variables);
  return problem.issues?.map(({ name, detail }: { name: string; detail: string }) => [
    name,
    detail,
  ]);
}

test('reports a missing input with its description', async () => {
  const tenant = await app.createTenant();
  expect(await fetchIssues(tenant, { provider: 'airtable' })).toEqual([
    [
      'input.providerMetadata.base',
      'is required for airtable: Id of the base, such as appXXXXXXXXXXXXXX.',
    ],
  ]);
});

test('reports every input that the provider cannot use', async () => {
  const tenant = await app.createTenant();
  const region = 'crm4.dynamics.com/evil?';
  const issues = await fetchIssues(tenant, {
    provider: 'dynamicsCRM',
    providerWorkspaceRef: 'no/host',
    providerMetadata: { region },
  });
  expect(issues?.map(([name]) => name)).toEqual([
    'input.providerWorkspaceRef',
    'input.providerMetadata.region',
  ]);
  for (const base of [7, '', { value: null }, 'two\nlines']) {
    const input = { provider: 'airtable', providerMetadata: { base } };
    expect((await fetchIssues(tenant, input))?.[0]?.[0]).toBe('input.providerMetadata.base');
  }
});

test('allows an input to be omitted that customers can find only after connecting', async () => {
  const tenant = await app.createTenant();
  const variables = createConnectionVariables(tenant, { apiKey: 'key', provider: 'xero' });
  expect(
    (await tenant.query(GENERATE_CONNECTION, variables)).generateConnection.connection.id,
  ).toBeTruthy();
  const issues = await fetchIssues(tenant, { provider: 'xero', providerMetadata: { tenantId: 7 } });
  expect(issues).toEqual([['input.providerMetadata.tenantId', 'must be non-empty text.']]);
});

test('accepts a metadata value as text, or as text with its source', async () => {
  const tenant = await app.createTenant();
  for (const base of ['app1', { value: 'app1', source: 'input' }]) {
    const input = { provider: 'airtable', apiKey: 'key', providerMetadata: { base } };
    const creation = await tenant.query(
      GENERATE_CONNECTION,
      createConnectionVariables(tenant, input),
    );
    expect(creation.generateConnection.connection.id).toBeTruthy();
  }
});

test('refuses a host that the provider does not list', async () => {
  const tenant = await app.createTenant();
  const issues = await fetchIssues(tenant, {
    provider: 'zoho',
    providerWorkspaceRef: 'https://evil.test',
    providerMetadata: { zoho_token_domain: 'evil.test' },
  });
  expect(issues).toEqual([
    ['input.providerWorkspaceRef', expect.stringMatching(/, at \*\.zohoapis\.com, .*\.$/)],
    [
      'input.providerMetadata.zoho_token_domain',
      expect.stringMatching(/^must be accounts\.zoho\.com, .* or accounts\.zoho\.uk\.$/),
    ],
  ]);
  const variables = createConnectionVariables(tenant, {
    apiKey: 'key',
    provider: 'zoho',
    providerWorkspaceRef: 'https://www.zohoapis.eu',
    providerMetadata: { zoho_token_domain: 'accounts.zoho.eu' },
  });
  expect(
    (await tenant.query(GENERATE_CONNECTION, variables)).generateConnection.connection.id,
  ).toBeTruthy();
});

test('refuses integers that JSON numbers cannot hold exactly in provider metadata', async () => {
  const tenant = await app.createTenant();
  const providerMetadata = { account: 2 ** 53, nested: { ids: [1, -(2 ** 60)] } };
  const detail = 'is beyond the integers that are exact in JSON (2^53 - 1): send it as text.';
  expect(await fetchIssues(tenant, { provider: 'airtable', providerMetadata })).toEqual([
    ['input.providerMetadata.account', detail],
    ['input.providerMetadata.nested.ids[1]', detail],
  ]);
});

test.each([
  ['apiKey', { apiKey: 'ключ' }],
  [
    'oauth2AuthorizationCode.accessToken.token',
    { apiKey: undefined, oauth2AuthorizationCode: { accessToken: { token: 'ключ' } } },
  ],
])('refuses credentials that a header cannot hold: %s', async (name, credentials) => {
  const tenant = await app.createTenant();
  const issues = await fetchIssues(tenant, { provider: 'airtable', ...credentials });
  expect(issues).toEqual([
    [`input.credentials.${name}`, 'must be Latin-1 text, because it is sent in a header.'],
  ]);
});
