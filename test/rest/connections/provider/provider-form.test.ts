/**
 * Compares what forms read of each provider with the reference API's catalog, of which form-facts.json is an extract.
 * docs/compatibility.md explains the differences.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { createRestTenant } from '../../../support/rest/rest-client.ts';
import CATALOG from './form-facts.json' with { type: 'json' };

interface Input {
  name: string;
  displayName: string;
  prompt?: string;
  docsURL?: string;
  defaultValue?: string;
  fieldType?: string;
  moduleDependencies?: Record<string, object>;
}

/** The members of a provider that forms read. */
interface FormInfo {
  authType: string;
  oauth2Opts?: {
    grantType: string;
    explicitScopesRequired: boolean;
    explicitWorkspaceRequired: boolean;
    docsURL?: string;
  };
  apiKeyOpts?: {
    attachmentType: string;
    header?: { name: string; valuePrefix?: string };
    query?: { name: string; valuePrefix?: string };
    docsURL?: string;
  };
  basicOpts?: { docsURL?: string };
  customOpts?: { inputs?: Input[]; providerInputs?: Input[] };
  metadata?: { input: Input[] };
  providerAppMetadata?: { authQueryParams?: Input[]; providerParams?: Input[] };
  defaultModule?: string;
  modules?: Record<string, object>;
  postAuthInfoNeeded?: boolean;
  support: { proxy: boolean };
}

const FACTS = CATALOG as Record<string, FormInfo>;
const rest = await createRestTenant(await getSharedApp());
const providers: Record<string, FormInfo> = await rest.get('/providers');

function getProvider(name: string): FormInfo {
  const provider = providers[name];
  if (!provider) throw new Error(`${name} is not in the catalog.`);
  return provider;
}

type Facts = Record<string, unknown>;

/** Lists the facts of inputs by their paths, and the names in the order of the form. */
function listInputFacts(
  path: string,
  inputs: Input[] = [],
  modules: object = {},
): [string, unknown][] {
  const facts = inputs.flatMap(({ name, moduleDependencies, ...input }): [string, unknown][] => {
    const names = Object.keys(moduleDependencies ?? {}).sort();
    // An input that all modules need is an input of the provider.
    const isOfModules = names.length > 0 && names.length < Object.keys(modules).length;
    return [
      ...Object.entries(input).map(([member, value]): [string, unknown] => [
        `${path}.${name}.${member}`,
        value,
      ]),
      [`${path}.${name}.modules`, isOfModules ? names : undefined],
    ];
  });
  return [[path, inputs.map(({ name }) => name).join(', ') || undefined], ...facts];
}

/** The UI library masks values of custom authentication, unless they have another type. */
const withFieldType = (inputs: Input[] = []) =>
  inputs.map((input) => ({ fieldType: 'fieldTypePassword', ...input }));

function formatLocation({ apiKeyOpts: options }: FormInfo): string | undefined {
  const location = options?.header ?? options?.query;
  return (
    location && `${options?.attachmentType} ${location.name} ${location.valuePrefix ?? ''}`.trim()
  );
}

/** Returns what forms read of the provider, by path. */
function listFormFacts(info: FormInfo): Facts {
  const { oauth2Opts, apiKeyOpts, basicOpts, customOpts, metadata, modules } = info;
  const { authQueryParams, providerParams } = info.providerAppMetadata ?? {};
  const facts: [string, unknown][] = [
    ['authType', info.authType],
    ['grantType', oauth2Opts?.grantType],
    ['explicitScopesRequired', oauth2Opts?.explicitScopesRequired],
    ['explicitWorkspaceRequired', oauth2Opts?.explicitWorkspaceRequired],
    ['docsURL', oauth2Opts?.docsURL ?? apiKeyOpts?.docsURL ?? basicOpts?.docsURL],
    ['apiKey', formatLocation(info)],
    ...listInputFacts('custom', withFieldType(customOpts?.inputs)),
    ...listInputFacts('providerInputs', customOpts?.providerInputs),
    ...listInputFacts('metadata', metadata?.input, modules),
    ...listInputFacts('authQueryParams', authQueryParams, modules),
    ...listInputFacts('providerParams', providerParams, modules),
  ];
  return Object.fromEntries(facts.filter(([, value]) => value !== undefined));
}

const GMAIL_GUIDE = 'https://developers.google.com/workspace/gmail/api/guides/push';
const GOOGLE_KEYS = 'https://cloud.google.com/iam/docs/keys-create-delete';
const NETSUITE_SETUP =
  'https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_162686838198.html';
const JWT_GUIDE =
  'https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_jwt_flow.htm&type=5';
const WORKSPACE_HOST = {
  providerParams: 'workspaceHost',
  'providerParams.workspaceHost.displayName': 'Host of the account',
  'providerParams.workspaceHost.prompt':
    'The only host that receives the client secret, like acme.example.com.',
};

/** The facts of providers with other values here. */
const DIFFERENCES: Record<string, Facts> = {
  adyen: { explicitWorkspaceRequired: true },
  adyenTest: { explicitWorkspaceRequired: true },
  airtable: {
    metadata: 'base',
    'metadata.base.displayName': 'Id of the base, such as appXXXXXXXXXXXXXX',
  },
  atlassian: { 'metadata.workspace.displayName': 'Site' },
  basecamp: {
    explicitWorkspaceRequired: true,
    'metadata.workspace.prompt':
      'Your account ID is the unique number located in your Basecamp URL. For example, in `https://app.basecamp.com/6258233/projects`, the account ID is `6258233`.',
  },
  bigquery: {
    'custom.serviceAccountKey.docsURL': GOOGLE_KEYS,
    'metadata.projectId.docsURL':
      'https://cloud.google.com/resource-manager/docs/creating-managing-projects',
    'metadata.dataset.docsURL': 'https://cloud.google.com/bigquery/docs/datasets-intro',
    'metadata.timestampColumn.docsURL': 'https://cloud.google.com/bigquery/docs/schemas',
  },
  coupa: WORKSPACE_HOST,
  docusign: {
    metadata: 'server',
    'metadata.server.displayName': 'Server of the account, like na3',
  },
  front: {
    grantType: 'authorizationCode',
    explicitScopesRequired: false,
    explicitWorkspaceRequired: false,
  },
  google: {
    'providerParams.gcpProjectId.docsURL': GMAIL_GUIDE,
    'providerParams.gcpProjectId.prompt':
      "The id of the Google Cloud project with the Pub/Sub topic of Gmail's notifications. The gateway stores it, and does not subscribe to the topic.",
    'providerParams.gcpPubSubTopicName.docsURL': GMAIL_GUIDE,
    'providerParams.gcpPubSubTopicName.prompt':
      'The name of the Pub/Sub topic to which Gmail publishes notifications. The gateway stores it, and does not subscribe to the topic.',
  },
  googleWorkspaceDelegation: {
    custom: 'serviceAccountKey, scopes',
    'custom.serviceAccountKey.docsURL': GOOGLE_KEYS,
    'custom.scopes.displayName': 'Scopes, a list',
    'custom.scopes.fieldType': 'fieldTypeText',
    'metadata.userEmail.docsURL': 'https://support.google.com/a/answer/162106',
    'metadata.userEmail.prompt':
      'The email address of the user whose data this integration will access (e.g. `user@company.com`). The service account will impersonate this user via domain-wide delegation.',
  },
  microsoftAdminConsent: {
    authType: 'oauth2',
    grantType: 'authorizationCodePKCE',
    explicitScopesRequired: false,
    explicitWorkspaceRequired: false,
  },
  netsuiteM2M: {
    'custom.clientId.docsURL': NETSUITE_SETUP,
    'custom.certificateId.docsURL': NETSUITE_SETUP,
    'custom.privateKey.docsURL': NETSUITE_SETUP,
    'metadata.scriptURL.docsURL':
      'https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_4618456517.html',
    'metadata.scriptURL.prompt':
      'Copy the URL of the RESTlet from the Deployments tab of its script.',
  },
  salesforce: {
    explicitWorkspaceRequired: false,
    'providerParams.packageInstallURL.docsURL':
      'https://developer.salesforce.com/docs/atlas.en-us.pkg1_dev.meta/pkg1_dev/packaging_install.htm',
    'providerParams.packageInstallURL.prompt':
      'The https URL where customers install the package of your External Client App. The connect page links to it.',
  },
  salesforceJWT: {
    'custom.clientId.docsURL': JWT_GUIDE,
    'custom.username.docsURL': JWT_GUIDE,
    'custom.privateKey.docsURL': JWT_GUIDE,
  },
  snowflake: {
    custom: 'username, privateKey',
    'custom.username.displayName': 'User name',
    'custom.username.fieldType': 'fieldTypeText',
    'custom.privateKey.displayName': 'Private key (PEM), as base64',
    'custom.privateKey.fieldType': 'fieldTypePassword',
    metadata: 'workspace',
    'metadata.workspace.displayName': 'Account identifier',
  },
  square: { apiKey: 'header Authorization Bearer' },
  sugarCRM: WORKSPACE_HOST,
  zoho: {
    metadata: 'zoho_token_domain, zoho_desk_domain, zoho_desk_org_id',
    'metadata.zoho_token_domain.displayName':
      'Host of the accounts server, such as accounts.zoho.eu',
    'metadata.zoho_desk_domain.displayName': 'Host of Zoho Desk, such as desk.zoho.eu',
    'metadata.zoho_desk_domain.modules': ['desk'],
    'metadata.zoho_desk_org_id.displayName': 'Id of the organization in Zoho Desk',
    'metadata.zoho_desk_org_id.modules': ['desk'],
  },
};

const OWN_PROMPT = 'metadata.workspace.prompt';

test("returns each provider's form data as the reference API's catalog has it", () => {
  const differences = Object.entries(FACTS).map(([name, facts]) => {
    const expected = listFormFacts(facts);
    const actual = listFormFacts(getProvider(name));
    const paths = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    const changedPaths = [...paths].filter(
      (path) => !isDeepStrictEqual(expected[path], actual[path]),
    );
    // A workspace without a prompt in the catalog has the gateway's own.
    const hasOwnPrompt = expected[OWN_PROMPT] === undefined;
    const isListed = (path: string) => !(hasOwnPrompt && path === OWN_PROMPT);
    const changes = changedPaths.filter(isListed).map((path) => [path, actual[path]]);
    return [name, Object.fromEntries(changes)] as const;
  });
  const listed = differences.filter(([, facts]) => Object.keys(facts).length > 0);
  expect(Object.keys(FACTS)).toHaveLength(238);
  expect(Object.fromEntries(listed)).toEqual(DIFFERENCES);
});

interface FormField {
  name: string;
  label: string;
  isMasked: boolean;
  help: [prompt: string | undefined, url: string | undefined];
  placeholder?: string | undefined;
}

const toField = (input: Input, isMasked: boolean): FormField => ({
  name: input.name,
  label: input.displayName,
  isMasked,
  help: [input.prompt, input.docsURL],
  placeholder: input.defaultValue,
});

const credentialField = (name: string, url: string | undefined, isMasked = true): FormField => ({
  name,
  label: name,
  isMasked,
  help: [undefined, url],
});

/** Lists the fields of credentials in the forms of the reference API's UI library. */
function listCredentialFields({ authType, ...info }: FormInfo): FormField[] {
  if (authType === 'apiKey') return [credentialField('apiKey', info.apiKeyOpts?.docsURL)];
  if (authType === 'custom') {
    const inputs = info.customOpts?.inputs ?? [];
    return inputs.map((input) => toField(input, input.fieldType !== 'fieldTypeText'));
  }
  if (authType === 'basic') {
    const url = info.basicOpts?.docsURL;
    return [credentialField('username', url, false), credentialField('password', url)];
  }
  if (info.oauth2Opts?.grantType !== 'clientCredentials') return [];
  return [
    credentialField('clientId', info.oauth2Opts.docsURL, false),
    credentialField('clientSecret', info.oauth2Opts.docsURL),
    ...(info.oauth2Opts.explicitScopesRequired
      ? [credentialField('scopes', undefined, false)]
      : []),
  ];
}

/**
 * Builds the form of the reference API's UI library for an integration of the module. Without a module, the library uses
 * the default one. It omits inputs that only other modules need.
 */
function buildForm(info: FormInfo, integrationModule: string | undefined) {
  const module =
    Object.keys(info.modules ?? {}).length > 0 && (integrationModule ?? info.defaultModule);
  const inputs = (info.metadata?.input ?? []).filter(
    ({ moduleDependencies }) =>
      !module || !moduleDependencies || Object.hasOwn(moduleDependencies, module),
  );
  return [...listCredentialFields(info), ...inputs.map((input) => toField(input, false))];
}

/** Draws by lot, with a linear congruential generator. The lot is fixed, so that a failure can be repeated. */
function draw(names: readonly string[], count: number): string[] {
  let state = 70;
  const remaining = [...names];
  return Array.from({ length: count }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return remaining.splice(state % remaining.length, 1)[0] as string;
  });
}

test('gives the UI library the form data of ten entries drawn by lot', () => {
  const names = Object.keys(FACTS).filter((name) => !Object.hasOwn(DIFFERENCES, name));
  const hasModuleInputs = (name: string) =>
    FACTS[name]?.metadata?.input.some(({ moduleDependencies }) => moduleDependencies) === true;
  const hasHelp = (name: string) =>
    FACTS[name]?.metadata?.input.some(({ prompt, defaultValue }) => prompt ?? defaultValue) ===
    true;
  const drawn = [
    ...draw(names.filter(hasModuleInputs), 3),
    ...draw(
      names.filter((name) => hasHelp(name) && !hasModuleInputs(name)),
      3,
    ),
    ...draw(
      names.filter((name) => !hasHelp(name) && !hasModuleInputs(name)),
      4,
    ),
  ];
  for (const name of drawn) {
    const facts = FACTS[name] as FormInfo;
    for (const module of [undefined, ...Object.keys(facts.modules ?? {})]) {
      const expected = buildForm(facts, module);
      const form = buildForm(getProvider(name), module).map((field, index) => {
        // A workspace without a prompt in the catalog has the gateway's own.
        const hasOwnPrompt = field.name === 'workspace' && expected[index]?.help[0] === undefined;
        return hasOwnPrompt ? { ...field, help: [undefined, field.help[1]] } : field;
      });
      expect(form, `${name}, ${module}`).toEqual(expected);
    }
  }
  expect(drawn).toMatchInlineSnapshot(`
    [
      "aws",
      "linkedIn",
      "seismic",
      "solarWindsServiceDesk",
      "serviceNowPKCE",
      "redtail",
      "paddleSandbox",
      "callRail",
      "pylon",
      "amplitude",
    ]
  `);
});

test('asks for the inputs of an advertising account only in its module', () => {
  const listNames = (module: string | undefined) =>
    buildForm(getProvider('linkedIn'), module).map(({ name }) => name);
  expect([listNames(undefined), listNames('platform'), listNames('ads')]).toEqual([
    [],
    [],
    ['adAccountId'],
  ]);
});

/** Returns the names in a section of docs/compatibility.md. */
function listDocumentedNames(heading: string): string[] {
  const path = join(import.meta.dirname, '../../../../docs/compatibility.md');
  const [, section = ''] = readFileSync(path, 'utf8').split(`### ${heading}\n`);
  const [text = ''] = section.split('\n#');
  const names = [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  return names.filter((name) => Object.hasOwn(FACTS, name));
}

test('documents what is missing or exceeded where the facts of an entry do not suffice', () => {
  const listNames = (matches: (facts: FormInfo) => boolean) =>
    Object.entries(FACTS).flatMap(([name, facts]) => (matches(facts) ? [name] : []));
  const withoutProxy = listNames(({ support }) => !support.proxy);
  expect(withoutProxy.filter((name) => !getProvider(name).support.proxy)).toEqual([]);
  expect(listDocumentedNames('Providers without a proxy').toSorted()).toEqual(
    withoutProxy.toSorted(),
  );
  const custom = listNames(({ authType }) => authType === 'custom');
  expect(listDocumentedNames('Custom authentication').toSorted()).toEqual(custom.toSorted());
  const requested = listNames(({ postAuthInfoNeeded }) => postAuthInfoNeeded === true);
  expect(listDocumentedNames('Facts after the consent')).toEqual(expect.arrayContaining(requested));
  expect([withoutProxy, custom, requested].map(({ length }) => length)).toEqual([26, 11, 11]);
});
