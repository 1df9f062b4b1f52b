import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { createRestTenant } from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();

test('returns all providers by name, and a single provider', async () => {
  const rest = await createRestTenant(app);
  const catalog = await rest.get('/providers');
  expect(Object.keys(catalog)).toEqual(
    app.app.services.catalogs.builtIn.providers.map(({ name }) => name),
  );
  expect(catalog.hubspot).toMatchObject({
    name: 'hubspot',
    displayName: 'HubSpot',
    defaultModule: 'crm',
    modules: { crm: { displayName: 'HubSpot CRM', baseURL: 'https://api.hubapi.com/crm' } },
    baseURL: 'https://api.hubapi.com',
    authType: 'oauth2',
    oauth2Opts: {
      grantType: 'authorizationCode',
      authURL: 'https://app.hubspot.com/oauth/authorize',
      tokenURL: 'https://api.hubapi.com/oauth/v1/token',
      explicitScopesRequired: true,
      explicitWorkspaceRequired: false,
      tokenMetadataFields: {},
    },
    support: {
      ...{ read: true, write: true, delete: true, proxy: true, subscribe: true },
      bulkWrite: { insert: false, update: false, upsert: false, delete: false },
      batchWrite: { create: { supported: true, defaultRecordLimit: 100 } },
      search: { operators: { equals: true } },
    },
    authSchemes: ['oauth2/authorizationCode'],
    supports: ['read', 'write', 'delete', 'batch_write', 'metadata', 'proxy', 'subscribe'],
  });
  expect(catalog.hubspot).not.toHaveProperty('metadata');
  expect(await rest.get('/providers/hubspot')).toEqual(catalog.hubspot);
  expect(JSON.stringify(catalog)).not.toMatch(/baseUrl|limits|capabilities/);
});

test('returns pages of providers, whose Link header has the next page', async () => {
  const rest = await createRestTenant(app);
  const key = await rest.tenant.createKey('read');
  const fetchPage = async (path: string) => {
    const response = await app.fetch(path, { headers: { 'x-api-key': key } });
    const [, next] = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
    return { names: Object.keys(await response.json()), next };
  };
  const names: string[] = [];
  const sizes: number[] = [];
  let path: string | undefined = '/v1/providers?pageSize=100';
  while (path) {
    const page = await fetchPage(path);
    names.push(...page.names);
    sizes.push(page.names.length);
    path = page.next;
  }
  expect(names).toEqual((await fetchPage('/v1/providers')).names);
  expect(sizes).toEqual([100, 100, names.length - 200]);
});

test('returns the credential kind, the location of secrets and the inputs of a provider', async () => {
  const { sandbox, salesforce, jotform, sendGrid } = await (await createRestTenant(app)).get(
    '/providers',
  );
  expect(salesforce).toMatchObject({
    authType: 'oauth2',
    oauth2Opts: {
      grantType: 'authorizationCodePKCE',
      explicitWorkspaceRequired: false,
      authURLParams: { prompt: 'login' },
      tokenMetadataFields: {
        workspaceRefField: 'instance_url',
        consumerRefField: 'id',
        scopesField: 'scope',
      },
    },
    metadata: { input: [{ name: 'workspace' }, { name: 'businessUnitId' }] },
  });
  expect(salesforce.modules[salesforce.defaultModule].support).toEqual(salesforce.support);
  expect(sandbox).toMatchObject({
    authType: 'apiKey',
    apiKeyOpts: { attachmentType: 'header', header: { name: 'X-Api-Key' } },
    basicOpts: {},
    customOpts: {
      inputs: [{ name: 'accountKey', displayName: 'Account key', fieldType: 'fieldTypePassword' }],
    },
  });
  expect(sandbox.defaultModule).toBe('root');
  expect(jotform.apiKeyOpts).toEqual({
    attachmentType: 'query',
    query: { name: 'apiKey' },
    docsURL: 'https://api.jotform.com/docs/#authentication',
  });
  expect(sendGrid.apiKeyOpts.header).toEqual({ name: 'Authorization', valuePrefix: 'Bearer ' });
  expect(jotform).not.toHaveProperty('oauth2Opts');
});

test('returns 404 for an unknown provider, and 403 for a key without the scope', async () => {
  const rest = await createRestTenant(app);
  expect(await rest.expectRefusal('GET', '/providers/none')).toMatchObject({ status: 404 });
  const writer = await rest.withScopes('records:write');
  for (const path of ['/providers', '/providers/hubspot']) {
    expect(await writer.expectRefusal('GET', path)).toMatchObject({ status: 403 });
  }
});

test('returns which events a provider can send, and who registers the webhook', async () => {
  const rest = await createRestTenant(app);
  const fetchSubscribeSupport = async (name: string) => {
    const { subscribeRequirements, support } = await rest.get(`/providers/${name}`);
    return { ...subscribeRequirements, ...support.subscribeSupport };
  };
  const allKinds = {
    create: true,
    update: true,
    delete: true,
    passThrough: true,
    postProcess: false,
  };
  const gatewayRegisters = { ...allKinds, registration: false, subscribeByAPI: true };
  expect(await fetchSubscribeSupport('sandbox')).toEqual({
    ...gatewayRegisters,
    maintenance: true,
  });
  expect(await fetchSubscribeSupport('salesforce')).toEqual({
    ...gatewayRegisters,
    maintenance: false,
  });
  const personRegisters = {
    ...allKinds,
    registration: true,
    maintenance: false,
    subscribeByAPI: false,
  };
  expect(await fetchSubscribeSupport('hubspot')).toEqual(personRegisters);
  const unsupported = { create: false, update: false, delete: false, passThrough: false };
  expect(await fetchSubscribeSupport('freshdesk')).toEqual(unsupported);
});
