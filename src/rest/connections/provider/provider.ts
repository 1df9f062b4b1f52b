import { z } from 'zod';
import { projectIdOrName } from '../../../domain/base/names.ts';
import { computed } from '../../../domain/base/resource.ts';
import {
  type AppInput,
  applyModule,
  getProvider,
  listCapabilities,
  listModules,
  listProviders,
  type Provider,
  type ProviderModule,
  providerResource,
} from '../../../domain/connections/provider/provider.ts';
import {
  createWorkspaceInput,
  isWholeAddress,
} from '../../../domain/connections/provider/provider-workspace.ts';
import { namedListEndpoint, readEndpoint } from '../../endpoint/resource-endpoints.ts';
import { extendResource } from '../../openapi/response-form.ts';
import { authOptions, authType, inputShape, showInput, toAuthType } from './provider-auth.ts';

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

const { displayName, baseUrl: baseURL } = providerResource.shape;

const inputOfModules = z.object({
  ...inputShape,
  defaultValue: z.string().optional().describe('The value that forms suggest.'),
  moduleDependencies: z
    .record(z.string(), z.object({}))
    .optional()
    .describe('The modules that need it, by name. Absent if all do.'),
});

const metadataInput = inputOfModules
  .extend({
    name: z.string().describe('`workspace`, or the name of a member of providerMetadata.'),
  })
  .describe('A value of the account that connecting needs in addition to credentials.');

const listAppInputs = (list: 'authQueryParams' | 'providerParams') =>
  z
    .array(inputOfModules.extend({ name: z.string().describe(`The name of a member of ${list}.`) }))
    .optional()
    .describe(`The members of metadata.${list} of a provider app.`);

const moduleSchema = z.object({ displayName, baseURL, support: supportSchema });

const provider = extendResource(providerResource, {
  // The options of the scheme contain it.
  credentialsDocsUrl: null,
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
  providerAppMetadata: computed(
    z
      .object({
        authQueryParams: listAppInputs('authQueryParams'),
        providerParams: listAppInputs('providerParams'),
      })
      .optional()
      .describe('The values that a provider app stores in its metadata. Absent if there are none.'),
    ({ appInputs }: Provider) =>
      appInputs && {
        authQueryParams: appInputs.authQueryParams?.map(showInputOfModules),
        providerParams: appInputs.providerParams?.map(showInputOfModules),
      },
  ),
});

function showModule(provider: Provider, { name, displayName, baseUrl: baseURL }: ProviderModule) {
  return { displayName, baseURL, support: showSupport(applyModule(provider, name) ?? provider) };
}

function createPrompt({ baseUrl, hasCustomerHost }: Provider): string {
  if (!hasCustomerHost) return 'The name of the account in its URLs at the provider.';
  return isWholeAddress(baseUrl, 'workspace')
    ? 'The address of the account, like https://acme.example.com.'
    : 'The host of the account, like acme.example.com.';
}

function showInputOfModules({ defaultValue, modules, ...input }: AppInput) {
  const moduleDependencies = modules && Object.fromEntries(modules.map((name) => [name, {}]));
  return { ...showInput(input), defaultValue, moduleDependencies };
}

/** Omits optional inputs, because clients of the reference API require a value of each input. */
function listInputs(provider: Provider) {
  const { workspaceRequired, modules = [] } = provider;
  const inputs = (provider.inputs ?? []).filter(({ optional }) => !optional);
  const moduleInputs = modules.flatMap((module) => module.inputs ?? []);
  const moduleInputsByName = new Map(moduleInputs.map((input) => [input.name, input]));
  const workspace = { prompt: createPrompt(provider), ...createWorkspaceInput(provider) };
  return [
    ...(workspaceRequired ? [showInputOfModules(workspace)] : []),
    ...inputs.map(showInputOfModules),
    ...[...moduleInputsByName.values()].map((input) => {
      const dependentModules = modules.filter((module) =>
        module.inputs?.some(({ name }) => name === input.name),
      );
      return showInputOfModules({ ...input, modules: dependentModules.map(({ name }) => name) });
    }),
  ];
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
