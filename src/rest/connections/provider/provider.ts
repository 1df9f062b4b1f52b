import { z } from 'zod';
import { projectIdOrName } from '../../../domain/base/names.ts';
import { computed } from '../../../domain/base/resource.ts';
import {
  type AuthScheme,
  applyModule,
  getProvider,
  listCapabilities,
  listModules,
  listProviders,
  type Provider,
  type ProviderModule,
  providerResource,
} from '../../../domain/connections/provider/provider.ts';
import { isWholeAddress } from '../../../domain/connections/provider/provider-workspace.ts';
import { namedListEndpoint, readEndpoint } from '../../endpoint/resource-endpoints.ts';
import { extendResource } from '../../openapi/response-form.ts';

const createFlag = (statement: string) => z.boolean().describe(`Whether ${statement}.`);

const batchSchema = z
  .object({
    supported: createFlag('one request can write many records'),
    defaultRecordLimit: z
      .int()
      .optional()
      .describe(
        'The maximum number of records in one request. Absent if a request can write only one record.',
      ),
  })
  .describe('Whether and how one request can write many records.');

const supportSchema = z
  .object({
    read: createFlag('records can be read'),
    write: createFlag('records can be created and updated'),
    delete: createFlag('records can be deleted'),
    proxy: createFlag('requests can be forwarded to the provider'),
    subscribe: createFlag('the provider reports changes when they happen'),
    bulkWrite: z
      .object({
        insert: createFlag('bulk jobs can create records'),
        update: createFlag('bulk jobs can update records'),
        upsert: createFlag('bulk jobs can create or update records'),
        delete: createFlag('bulk jobs can delete records'),
      })
      .describe('Always false, because the gateway starts no bulk jobs. See batchWrite.'),
    batchWrite: z
      .object({
        create: batchSchema,
        update: batchSchema,
        upsert: batchSchema,
        delete: batchSchema,
      })
      .describe('Whether one request can write many records, by the type of the write.'),
    search: z
      .object({
        operators: z
          .object({ equals: createFlag('a search can test fields for equality') })
          .describe('Whether searches support each operator.'),
      })
      .describe('What searches support.'),
    subscribeSupport: z
      .object({
        create: createFlag('the provider reports new records'),
        update: createFlag('the provider reports changed records'),
        delete: createFlag('the provider reports deleted records'),
        passThrough: createFlag('the provider reports other events, under its own names'),
      })
      .describe('The kinds of changes that the provider reports when they happen.'),
  })
  .describe("What the gateway can do with the provider's records.");

const subscribeRequirementsSchema = z
  .object({
    registration: createFlag(
      'a person must first register the webhook URL of the provider app at the provider',
    ),
    maintenance: createFlag('the gateway must renew subscriptions before they expire'),
    postProcess: createFlag('more steps follow a subscription'),
    subscribeByAPI: createFlag('the gateway subscribes automatically'),
  })
  .partial()
  .describe('What subscribing requires. Empty if the provider has no subscriptions.');

function showSubscribeRequirements({
  capabilities: { subscribe },
}: Provider): z.input<typeof subscribeRequirementsSchema> {
  if (!subscribe) return {};
  return {
    registration: subscribe.instructions !== undefined,
    maintenance: subscribe.calls?.expires === true,
    postProcess: false,
    subscribeByAPI: subscribe.calls !== undefined,
  };
}

const NO_BULK_JOBS = { insert: false, update: false, upsert: false, delete: false };

function showSupport(provider: Provider): z.input<typeof supportSchema> {
  const capabilities = listCapabilities(provider);
  const has = (name: (typeof capabilities)[number]) => capabilities.includes(name);
  const batchWrite = has('BATCH_WRITE')
    ? { supported: true, defaultRecordLimit: provider.limits.batchSize }
    : { supported: false };
  const unsupported = { supported: false };
  const { kinds = [] } = provider.capabilities.subscribe ?? {};
  return {
    read: has('READ'),
    write: has('WRITE'),
    delete: has('DELETE'),
    proxy: has('PROXY'),
    subscribe: has('SUBSCRIBE'),
    bulkWrite: NO_BULK_JOBS,
    batchWrite: {
      create: batchWrite,
      update: batchWrite,
      upsert: unsupported,
      delete: unsupported,
    },
    search: { operators: { equals: (provider.features.filtersMax ?? 0) > 0 } },
    subscribeSupport: {
      create: kinds.includes('CREATE'),
      update: kinds.includes('UPDATE'),
      delete: kinds.includes('DELETE'),
      passThrough: kinds.includes('OTHER'),
    },
  };
}

const authType = z
  .enum(['oauth2', 'apiKey', 'basic', 'custom', 'none'])
  .describe('How connections authenticate: the kind of the first scheme in authSchemes.');
type AuthType = z.output<typeof authType>;

const grantType = z
  .enum(['authorizationCode', 'authorizationCodePKCE', 'clientCredentials', 'password'])
  .describe('The grant by which tokens are issued.');
type GrantType = z.output<typeof grantType>;

const SCHEMES: Record<AuthScheme, { authType: AuthType; grantType?: GrantType }> = {
  NONE: { authType: 'none' },
  API_KEY: { authType: 'apiKey' },
  BASIC: { authType: 'basic' },
  OAUTH2_AUTHORIZATION_CODE: { authType: 'oauth2', grantType: 'authorizationCode' },
  OAUTH2_AUTHORIZATION_CODE_PKCE: { authType: 'oauth2', grantType: 'authorizationCodePKCE' },
  OAUTH2_CLIENT_CREDENTIALS: { authType: 'oauth2', grantType: 'clientCredentials' },
  OAUTH2_PASSWORD: { authType: 'oauth2', grantType: 'password' },
};

const headerSchema = z
  .object({
    name: z.string().describe('The name of the header.'),
    valuePrefix: z.string().optional().describe('The text before the value, like `Bearer `.'),
  })
  .describe('The header that carries the credential.');

const templateSchema = z.object({
  name: z.string().describe('The name of the header or query parameter.'),
  valueTemplate: z
    .string()
    .describe('The value, in which `{{name}}` stands for the input of that name.'),
});

const tokenPath = (noun: string) =>
  z.string().optional().describe(`The path of ${noun} in the response, separated by dots.`);

const oauth2Opts = z.object({
  grantType,
  authURL: z.string().optional().describe('The URL at which people consent.'),
  tokenURL: z.string().describe('The URL that issues tokens.'),
  explicitScopesRequired: z.boolean().describe('Whether a consent must name scopes.'),
  explicitWorkspaceRequired: z
    .boolean()
    .describe('Whether the workspace must be known before the consent.'),
  authURLParams: z
    .record(z.string(), z.string())
    .optional()
    .describe('Query parameters that authURL always gets.'),
  accessTokenOpts: z
    .object({
      attachmentType: z.literal('accessTokenHeaderAttachment').describe('Always in a header.'),
      header: headerSchema,
    })
    .optional()
    .describe('The location of the access token. Absent for `Authorization: Bearer`.'),
  tokenMetadataFields: z
    .object({
      workspaceRefField: tokenPath('the workspace'),
      consumerRefField: tokenPath("the provider's id of the consumer"),
      scopesField: tokenPath('the scopes'),
    })
    .describe('The members of the token response that a connection stores.'),
});

const apiKeyOpts = z.object({
  attachmentType: z
    .enum(['header', 'query'])
    .describe('The part of a request that carries the key.'),
  header: headerSchema.optional(),
  query: z
    .object({ name: z.string().describe('The name of the query parameter.') })
    .optional()
    .describe('The query parameter that carries the key.'),
});

const customOpts = z.object({
  headers: z.array(templateSchema).optional().describe('Headers that contain the inputs.'),
  queryParams: z
    .array(templateSchema)
    .optional()
    .describe('Query parameters that contain the inputs.'),
  inputs: z
    .array(
      z.object({
        name: z.string().describe('The name of the input in customAuth.'),
        displayName: z.string().describe('The name that people see.'),
        optional: z.literal(true).optional().describe('Whether the input may be omitted.'),
      }),
    )
    .describe('The inputs of the customer.'),
});

/** Each member is present if the provider has a scheme of its kind. */
const authOptions = {
  oauth2Opts: computed(oauth2Opts.optional().describe('For OAuth 2.'), showOAuth2),
  apiKeyOpts: computed(apiKeyOpts.optional().describe('For API keys.'), showApiKey),
  basicOpts: computed(
    z.object({}).optional().describe('For user names with passwords.'),
    ({ authSchemes }: Provider) => (authSchemes.includes('BASIC') ? {} : undefined),
  ),
  customOpts: computed(
    customOpts.optional().describe('For custom inputs.'),
    ({ custom }: Provider) => custom,
  ),
};

function showOAuth2({ authSchemes, oauth2, workspaceRequired = false }: Provider) {
  const [firstGrant] = authSchemes.flatMap((scheme) => SCHEMES[scheme].grantType ?? []);
  if (!oauth2 || !firstGrant) return undefined;
  const { tokenFields = {}, tokenAttachment: attachment } = oauth2;
  return {
    grantType: firstGrant,
    authURL: oauth2.authorizeUrl,
    tokenURL: oauth2.tokenUrl,
    explicitScopesRequired: oauth2.explicitScopesRequired ?? false,
    explicitWorkspaceRequired: workspaceRequired && !oauth2.sharedLogin,
    authURLParams: oauth2.authorizeParams,
    accessTokenOpts:
      attachment?.in === 'header'
        ? { attachmentType: 'accessTokenHeaderAttachment' as const, header: attachment }
        : undefined,
    tokenMetadataFields: {
      workspaceRefField: tokenFields.workspaceRef,
      consumerRefField: tokenFields.consumerRef,
      scopesField: tokenFields.scopes,
    },
  };
}

function showApiKey({ authSchemes, apiKey: attachment }: Provider) {
  if (!attachment || !authSchemes.includes('API_KEY')) return undefined;
  return { attachmentType: attachment.in, [attachment.in]: attachment };
}

const { displayName, baseUrl: baseURL } = providerResource.shape;

const metadataInput = z
  .object({
    name: z.string().describe('`workspace`, or the name of a member of providerMetadata.'),
    displayName,
    prompt: z.string().optional().describe('The text that people see next to the input.'),
    moduleDependencies: z
      .record(z.string(), z.object({}))
      .optional()
      .describe('The modules that need it, by name. Absent if connecting itself needs it.'),
  })
  .describe('A value of the account that connecting needs in addition to credentials.');

const moduleSchema = z.object({ displayName, baseURL, support: supportSchema });

const provider = extendResource(providerResource, {
  defaultModule: computed(
    z.string().describe('The module of integrations that name no module.'),
    (provider: Provider) => listModules(provider)[0].name,
  ),
  authType: computed(authType, toAuthType),
  ...authOptions,
  support: computed(supportSchema, showSupport),
  subscribeRequirements: computed(subscribeRequirementsSchema, showSubscribeRequirements),
  modules: computed(
    z.record(z.string(), moduleSchema).describe('The parts of the provider, by name.'),
    (provider: Provider) =>
      Object.fromEntries(
        listModules(provider).map((module) => [module.name, showModule(provider, module)]),
      ),
  ),
  metadata: computed(
    z
      .object({
        input: z.array(metadataInput).describe('The values, in the order of the form.'),
      })
      .optional()
      .describe(
        'The values that connecting needs in addition to credentials. Absent if it needs none. Optional values of providerMetadata are not listed.',
      ),
    (provider: Provider) => {
      const input = listInputs(provider);
      return input.length > 0 ? { input } : undefined;
    },
  ),
});

function showModule(provider: Provider, { name, displayName, baseUrl: baseURL }: ProviderModule) {
  return { displayName, baseURL, support: showSupport(applyModule(provider, name) ?? provider) };
}

/** A provider with custom inputs has no scheme. */
function toAuthType({ authSchemes: [first = 'NONE'], custom }: Provider): AuthType {
  return first === 'NONE' && custom ? 'custom' : SCHEMES[first].authType;
}

function createWorkspaceInput(provider: Provider) {
  const { workspaceDisplayName = 'Workspace' } = provider;
  return { name: 'workspace', displayName: workspaceDisplayName, prompt: createPrompt(provider) };
}

function createPrompt({ baseUrl, hasCustomerHost }: Provider): string {
  if (!hasCustomerHost) return 'The name of the account in its URLs at the provider.';
  return isWholeAddress(baseUrl, 'workspace')
    ? 'The address of the account, like https://acme.example.com.'
    : 'The host of the account, like acme.example.com.';
}

/** Omits optional inputs, because clients of the reference API require a value of each input. */
function listInputs(provider: Provider) {
  const { workspaceRequired, modules = [] } = provider;
  const inputs = (provider.inputs ?? []).filter(({ optional }) => !optional);
  const moduleInputs = modules.flatMap((module) => module.inputs ?? []);
  const moduleInputsByName = new Map(moduleInputs.map((input) => [input.name, input]));
  return [
    ...(workspaceRequired ? [createWorkspaceInput(provider)] : []),
    ...inputs,
    ...[...moduleInputsByName.values()].map((input) => ({
      ...input,
      moduleDependencies: createDependencies(modules, input.name),
    })),
  ];
}

function createDependencies(modules: NonNullable<Provider['modules']>, inputName: string) {
  const dependentModules = modules.filter((module) =>
    module.inputs?.some(({ name }) => name === inputName),
  );
  return Object.fromEntries(dependentModules.map(({ name }) => [name, {}]));
}

const tag = 'Providers';

const ofProject = projectIdOrName.describe(
  'The project whose custom providers are listed too. Default: the project of the key.',
);

export const providerEndpoints = [
  namedListEndpoint({
    id: 'listProviders',
    path: '/providers',
    tag,
    input: z.object({ projectIdOrName: ofProject }),
    list: listProviders,
    resource: provider,
  }),
  readEndpoint({
    id: 'getProvider',
    path: '/providers/{provider}',
    tag,
    input: z.object({
      name: z.string().min(1).max(128).describe('The name of the provider, like `hubspot`.'),
      projectIdOrName: ofProject,
    }),
    locations: { name: { in: 'path', name: 'provider' } },
    read: getProvider,
    resource: provider,
  }),
];
