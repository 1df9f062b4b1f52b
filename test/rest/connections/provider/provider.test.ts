import { expect, test } from 'vitest';
import { z } from 'zod';
import { getSharedApp } from '../../../support/app.ts';
import { createRestTenant } from '../../../support/rest/rest-client.ts';
import FORMS from './form-facts.json' with { type: 'json' };
import HELP from './help-facts.json' with { type: 'json' };

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
    customOpts: { inputs: [{ name: 'accountKey', displayName: 'Account key' }] },
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

const helpMembers = { prompt: z.string().optional(), docsURL: z.string().optional() };
const input = z.object({ name: z.string(), displayName: z.string(), ...helpMembers });
const page = { docsURL: z.string().optional() };
const location = z.object({ name: z.string(), valuePrefix: z.string().optional() });
/** The members that the forms of the reference API's UI library read. */
const formData = z.object({
  authType: z.enum(['oauth2', 'apiKey', 'basic', 'custom']),
  oauth2Opts: z
    .object({
      ...page,
      grantType: z.string(),
      explicitScopesRequired: z.boolean(),
      explicitWorkspaceRequired: z.boolean(),
    })
    .optional(),
  apiKeyOpts: z
    .object({
      ...page,
      attachmentType: z.string(),
      header: location.optional(),
      query: location.optional(),
    })
    .optional(),
  basicOpts: z.object(page).optional(),
  customOpts: z.object({ inputs: z.array(input) }).optional(),
  metadata: z
    .object({ input: z.array(input.extend({ defaultValue: z.string().optional() })) })
    .optional(),
});

/**
 * Forms that differ from the reference API's catalog: they have other labels, or inputs that connecting needs here.
 * docs/compatibility.md explains the inputs.
 */
const OTHER_FORMS: Record<string, string> = {
  adyen: 'oauth2, authorizationCodePKCE, scopes, workspaceFirst | workspace=Subdomain',
  adyenTest: 'oauth2, authorizationCodePKCE, scopes, workspaceFirst | workspace=Subdomain',
  airtable:
    'oauth2, authorizationCodePKCE, scopes | base=Id of the base, such as appXXXXXXXXXXXXXX',
  atlassian: 'oauth2, authorizationCode, scopes, workspaceFirst | workspace=Site',
  basecamp: 'oauth2, authorizationCode, workspaceFirst | workspace=Account ID',
  docusign: 'oauth2, authorizationCode, scopes | server=Server of the account, like na3',
  googleWorkspaceDelegation:
    'custom, serviceAccountKey=Service Account Key (Base64), scopes=Scopes, a list | userEmail=User Email',
  microsoftAdminConsent: 'oauth2, authorizationCodePKCE',
  salesforce:
    'oauth2, authorizationCodePKCE | workspace=Subdomain, businessUnitId=Business Unit ID',
  snowflake:
    'custom, username=User name, privateKey=Private key (PEM), as base64 | workspace=Account identifier',
  zoho: 'oauth2, authorizationCode, scopes | zoho_token_domain=Host of the accounts server, such as accounts.zoho.eu, zoho_desk_domain=Host of Zoho Desk, such as desk.zoho.eu, zoho_desk_org_id=Id of the organization in Zoho Desk',
};

/** Returns what the forms of the reference API's UI library read of a provider. */
function describeForm(provider: z.output<typeof formData>): string {
  const { authType, oauth2Opts, apiKeyOpts, customOpts, metadata } = provider;
  const formatInputs = (inputs: { name: string; displayName: string }[] = []) =>
    inputs.map(({ name, displayName }) => `${name}=${displayName}`);
  const { name, valuePrefix } = apiKeyOpts?.header ?? apiKeyOpts?.query ?? {};
  const members = {
    oauth2: [
      oauth2Opts?.grantType,
      oauth2Opts?.explicitScopesRequired && 'scopes',
      oauth2Opts?.explicitWorkspaceRequired && 'workspaceFirst',
    ],
    apiKey: [
      `${apiKeyOpts?.attachmentType} ${name}${valuePrefix ? `: ${valuePrefix.trim()}` : ''}`,
    ],
    basic: [],
    custom: formatInputs(customOpts?.inputs),
  };
  const credentials = [authType, ...members[authType].filter(Boolean)].join(', ');
  const inputs = formatInputs(metadata?.input);
  return inputs.length === 0 ? credentials : `${credentials} | ${inputs.join(', ')}`;
}

test("returns each provider's form data as the reference API's catalog has it", async () => {
  const catalog = await (await createRestTenant(app)).get('/providers');
  const names = Object.keys(FORMS);
  const forms = names.map((name) => [name, describeForm(formData.parse(catalog[name]))]);
  expect(Object.fromEntries(forms)).toEqual({ ...FORMS, ...OTHER_FORMS });
});

/**
 * Help that differs from the reference API's catalog: pages of the provider instead of guides of the reference vendor, and
 * two mended texts. docs/compatibility.md explains them.
 */
const OTHER_HELP: Record<string, object> = {
  'bigquery metadata projectId': {
    docsURL: 'https://cloud.google.com/resource-manager/docs/creating-managing-projects',
  },
  'bigquery metadata dataset': { docsURL: 'https://cloud.google.com/bigquery/docs/datasets-intro' },
  'bigquery metadata timestampColumn': {
    docsURL: 'https://cloud.google.com/bigquery/docs/schemas',
  },
  'bigquery custom serviceAccountKey': {
    docsURL: 'https://cloud.google.com/iam/docs/keys-create-delete',
  },
  'googleWorkspaceDelegation metadata userEmail': {
    docsURL: 'https://support.google.com/a/answer/162106',
    prompt:
      'The email address of the user whose data this integration will access (e.g. `user@company.com`). The service account will impersonate this user via domain-wide delegation.',
  },
  'googleWorkspaceDelegation custom serviceAccountKey': {
    docsURL: 'https://cloud.google.com/iam/docs/keys-create-delete',
  },
  'netsuiteM2M metadata scriptURL': {
    docsURL:
      'https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_4618456517.html',
    prompt: 'Copy the URL of the RESTlet from the Deployments tab of its script.',
  },
  'netsuiteM2M custom clientId': {
    docsURL:
      'https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_162686838198.html',
  },
  'netsuiteM2M custom certificateId': {
    docsURL:
      'https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_162686838198.html',
  },
  'netsuiteM2M custom privateKey': {
    docsURL:
      'https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_162686838198.html',
  },
  'salesforceJWT custom clientId': {
    docsURL:
      'https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_jwt_flow.htm&type=5',
  },
  'salesforceJWT custom username': {
    docsURL:
      'https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_jwt_flow.htm&type=5',
  },
  'salesforceJWT custom privateKey': {
    docsURL:
      'https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_jwt_flow.htm&type=5',
  },
  'basecamp metadata workspace': {
    prompt:
      'Your account ID is the unique number located in your Basecamp URL. For example, in `https://app.basecamp.com/6258233/projects`, the account ID is `6258233`.',
  },
};

interface Help {
  prompt?: string;
  docsURL?: string;
  defaultValue?: string;
}

/** Lists the help of the provider's forms, by the provider and what the help is for. */
function listHelp(name: string, provider: z.output<typeof formData>): [string, Help][] {
  const { oauth2Opts, apiKeyOpts, basicOpts, customOpts, metadata } = provider;
  const list = (kind: string, inputs: ({ name: string } & Help)[] = []) =>
    inputs.map(({ name: inputName, prompt, docsURL, defaultValue }): [string, Help] => [
      `${name} ${kind} ${inputName}`,
      { prompt, docsURL, defaultValue },
    ]);
  const pages = [oauth2Opts, apiKeyOpts, basicOpts].flatMap((options) => options?.docsURL ?? []);
  return [
    ...list('metadata', metadata?.input),
    ...list('custom', customOpts?.inputs),
    ...pages.map((docsURL): [string, Help] => [`${name} credentials`, { docsURL }]),
  ];
}

test("returns the help for each provider's inputs as the reference API's catalog has it", async () => {
  const catalog = await (await createRestTenant(app)).get('/providers');
  const help = Object.keys(FORMS).flatMap((name) => listHelp(name, formData.parse(catalog[name])));
  const expected: Record<string, Help> = HELP;
  const changed = Object.entries(expected).map(([key, facts]) => [
    key,
    { ...facts, ...OTHER_HELP[key] },
  ]);
  // A workspace without a prompt in the catalog has the gateway's own.
  const isOwnPrompt = (key: string) => expected[key]?.prompt === undefined;
  const stated = help
    .map(([key, { prompt, ...facts }]): [string, Help] => [
      key,
      isOwnPrompt(key) ? facts : { prompt, ...facts },
    ])
    .filter(([, facts]) => Object.values(facts).some((value) => value !== undefined));
  expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(changed));
});
