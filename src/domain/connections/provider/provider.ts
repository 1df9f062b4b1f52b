/** The catalog of providers in the API. A caller may be restricted to some of the providers. */
import { z } from 'zod';
import { notFound } from '../../../kernel/errors.ts';
import { createProviderId } from '../../../kernel/ids.ts';
import { enumValue } from '../../../kernel/text.ts';
import {
  type AppInput,
  type AuthScheme,
  type CustomInput,
  listCapabilities,
  listObjectCapabilities,
  type ObjectSummary,
  type Provider,
  type ProviderCapability,
  type ProviderModule,
} from '../../../providers/contract.ts';
import { applyModule, getModules } from '../../../providers/modules.ts';
import type { Call, ProjectCall, RowCall } from '../../access/call.ts';
import { type InProject, inProject } from '../../access/catalog.ts';
import { read } from '../../access/declared-read.ts';
import type { ProjectReference } from '../../access/input-project.ts';
import type { PageArgs } from '../../access/paging/page.ts';
import { createArrayPage } from '../../access/paging/page-of-array.ts';
import { findProject, listPermittedProviderNames } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { computed, enumeration, idField, resource } from '../../base/resource.ts';

export type {
  AppInput,
  AuthScheme,
  CustomInput,
  Provider,
  ProviderModule,
} from '../../../providers/contract.ts';
export { listCapabilities } from '../../../providers/contract.ts';
export { applyModule, getModules as listModules } from '../../../providers/modules.ts';

const providerCapability = enumeration(
  'ProviderCapability',
  'A capability of the gateway for the records of a provider.',
  {
    READ: 'Reads records: all, or those that changed since a time.',
    WRITE: 'Creates and updates one record.',
    DELETE: 'Deletes one record.',
    BATCH_WRITE:
      'Creates or updates many records: in one request to the provider, or one after the other.',
    METADATA: 'Describes the fields of an object.',
    PROXY: "Forwards requests unchanged, with the connection's credentials.",
    SUBSCRIBE: 'Receives changes when they happen.',
  } satisfies Record<ProviderCapability, string>,
);

export const writeType = enumeration(
  'WriteType',
  'Whether a write creates, updates or deletes records.',
  {
    CREATE: 'Creates new records.',
    UPDATE: 'Updates the records with the given ids.',
    DELETE: 'Deletes the record with the given id.',
  },
);

export const authScheme = enumeration(
  'AuthScheme',
  'The method with which a connection authenticates at its provider.',
  {
    NONE: 'No credentials, or custom inputs that the provider declares (`customAuth`).',
    API_KEY: 'A key that the customer copies from the provider.',
    BASIC: 'A user name and a password, as HTTP Basic.',
    OAUTH2_AUTHORIZATION_CODE: 'OAuth 2: the customer consents in a browser.',
    OAUTH2_AUTHORIZATION_CODE_PKCE: 'OAuth 2: the customer consents in a browser, with PKCE.',
    OAUTH2_CLIENT_CREDENTIALS: "OAuth 2: the customer's own client id and secret.",
    OAUTH2_PASSWORD: 'OAuth 2: a user name and a password, in exchange for a token.',
  } satisfies Record<AuthScheme, string>,
);

/** Names a scheme in a text. */
export const nameScheme = (scheme: string) => enumValue(scheme, 'AuthScheme');

const displayName = z.string().describe('The name that people see.');

export const providerObjectResource = resource(
  'ProviderObject',
  'An object of a provider: a kind of records.',
  {
    name: z.string().describe('The name in integrations.'),
    displayName,
    supports: computed(
      z
        .array(providerCapability)
        .describe(
          'The capabilities of the gateway for records of the object. They may be fewer than those of the provider.',
        ),
      ({ supports }: ObjectOfProvider) => supports,
    ),
  },
);

/** An input as a form shows it. */
export interface ProviderInput extends AppInput {
  /** True if forms mask the value. */
  isSecret?: boolean;
}

export const providerInputResource = resource(
  'ProviderInput',
  'A value that connecting needs, in `providerMetadata` or in `customAuth`, or that a provider app stores in its metadata.',
  {
    name: z.string().describe('The name of the member.'),
    displayName,
    isSecret: computed(
      z.boolean().describe('Whether forms mask the value while a person enters it.'),
      ({ isSecret }: ProviderInput) => isSecret === true,
    ),
    modules: computed(
      z
        .array(z.string())
        .describe('The names of the modules that need the value. Empty if all do.'),
      ({ modules = [] }: ProviderInput) => modules,
    ),
    optional: computed(
      z.boolean().describe('Whether the input may be omitted.'),
      ({ optional }: CustomInput) => optional === true,
    ),
    prompt: computed(
      z
        .string()
        .nullable()
        .describe('Where the customer finds the value, in English. Backticks enclose code.'),
      ({ prompt }: CustomInput) => prompt ?? null,
    ),
    docsUrl: computed(
      z.string().nullable().describe("The URL of the vendor's page about the value."),
      ({ docsUrl }: CustomInput) => docsUrl ?? null,
    ),
    defaultValue: computed(
      z.string().nullable().describe('The value that forms suggest. Connecting does not add it.'),
      ({ defaultValue }: CustomInput) => defaultValue ?? null,
    ),
  },
);

const toModuleInput = (input: CustomInput, module: string): ProviderInput => ({
  ...input,
  modules: [module],
});

/** A module, with the provider as an integration of the module uses it. */
export interface ModuleOfProvider extends ProviderModule {
  provider: Provider;
}

export const providerModuleResource = resource(
  'ProviderModule',
  'A part of a provider. Integrations name it as their `module`.',
  {
    name: z.string().describe('The name in integrations.'),
    displayName,
    baseUrl: z
      .string()
      .describe('The base URL of its API, to which `proxy.useModule` sends requests.'),
    supports: computed(
      z.array(providerCapability).describe('The capabilities of the gateway for its records.'),
      ({ provider }: ModuleOfProvider) => listCapabilities(provider),
    ),
    objects: computed(
      z.array(providerObjectResource).describe('The objects that every account has in it.'),
      ({ provider }: ModuleOfProvider) => listProviderObjects(provider),
    ),
    inputs: computed(
      z
        .array(providerInputResource)
        .describe('The values that a connection needs in `providerMetadata` for it.'),
      ({ inputs = [], name }: ModuleOfProvider) =>
        inputs.map((input) => toModuleInput(input, name)),
    ),
  },
);

export const providerResource = resource('Provider', 'A third-party service of the catalog.', {
  id: computed(
    idField.describe('Unique in the whole service, and the same on every server.'),
    ({ name, document }: Provider) => createProviderId(name, document?.projectId),
  ),
  name: z.string().describe('The name in inputs, like `hubspot`, unique in the catalog.'),
  displayName,
  authSchemes: z.array(authScheme).describe('The schemes to connect with, in order of preference.'),
  credentialsDocsUrl: computed(
    z
      .string()
      .nullable()
      .describe("The URL of the vendor's page about credentials of the first scheme."),
    ({ credentialsDocsUrl }: Provider) => credentialsDocsUrl ?? null,
  ),
  baseUrl: z
    .string()
    .describe('The base URL of its API. A connection fills in variables like {{workspace}}.')
    .meta({ wireName: 'baseURL' }),
  supports: computed(
    z.array(providerCapability).describe('The capabilities of the gateway for its records.'),
    listCapabilities,
  ),
  allOrNone: computed(
    z.array(writeType).describe('The batch types for which `allOrNone` is possible.'),
    ({ features }: Provider) => features.allOrNoneTypes,
  ),
  docsUrl: computed(
    z.string().nullable().describe("The URL of the vendor's documentation."),
    ({ docsUrl }: Provider) => docsUrl ?? null,
  ),
  apiVersion: computed(
    z.string().nullable().describe("The version of the vendor's API that is used."),
    ({ apiVersion }: Provider) => apiVersion ?? null,
  ),
  scopes: computed(
    z.array(z.string()).describe('The OAuth scopes that are needed to read and write all objects.'),
    ({ scopes = [] }: Provider) => scopes,
  ),
  filtersMax: computed(
    z
      .int()
      .describe(
        "The most `fieldFilters` that a config may have for an object; 0 if records can't be filtered.",
      ),
    ({ features }: Provider) => features.filtersMax ?? 0,
  ),
});

/** An object of a provider, with the capabilities that the gateway has for its records. */
export interface ObjectOfProvider extends ObjectSummary {
  supports: readonly ProviderCapability[];
}

export function toProviderObject(
  provider: Provider,
  { name, displayName }: ObjectSummary,
): ObjectOfProvider {
  return { name, displayName, supports: listObjectCapabilities(provider, name) };
}

/** Lists the values of custom authentication. Forms mask them, except for those that the provider declares as visible. */
export function listCustomInputs({ custom }: Provider): ProviderInput[] {
  return (custom?.inputs ?? []).map(({ visible, ...input }) => ({ ...input, isSecret: !visible }));
}

/** Lists the modules of the provider, at least one. */
export function listModulesWithProvider(provider: Provider): ModuleOfProvider[] {
  return getModules(provider).map((module) => ({
    ...module,
    provider: applyModule(provider, module.name) ?? provider,
  }));
}

/** Lists the objects that every account of the provider has. */
export function listProviderObjects(provider: Provider): ObjectOfProvider[] {
  const { commonObjects, objects = [] } = provider;
  const summaries = commonObjects ?? objects.map((name) => ({ name, displayName: name }));
  return summaries.map((summary) => toProviderObject(provider, summary));
}

interface ProviderReference extends ProjectReference {
  name: string;
}

/** Finds the provider with this name. Null if there is none, or if the caller may not use it. */
export async function findPermittedProvider(
  call: InProject<RowCall>,
  name: string,
): Promise<Provider | null> {
  const permittedNames = await listPermittedProviderNames(call);
  return permittedNames && !permittedNames.has(name) ? null : call.catalog.find(name);
}

/**
 * Adds the catalog of the project that the input names to the call. Default: the project of the caller. Builders then
 * have the providers that every project has. Null if the caller may not see the project.
 */
async function inNamedProject(
  call: Call,
  { projectIdOrName }: ProjectReference,
): Promise<ProjectCall | null> {
  if (projectIdOrName != null) {
    const project = await findProject(call, projectIdOrName);
    return project && inProject(call, project.id);
  }
  const { viewer, catalogs } = call;
  if (viewer.kind === 'BUILDER') return { ...call, catalog: catalogs.builtIn };
  return inProject(call, viewer.projectId);
}

/** Throws NOT_FOUND if the input names a project that the caller may not see. */
async function listPermittedProviders(
  call: Call,
  input: ProjectReference,
): Promise<readonly Provider[]> {
  const permittedNames = await listPermittedProviderNames(call);
  const projectCall = await inNamedProject(call, input);
  if (!projectCall) throw notFound('Project', String(input.projectIdOrName));
  const { providers } = projectCall.catalog;
  return permittedNames ? providers.filter(({ name }) => permittedNames.has(name)) : providers;
}

async function findReferencedProvider(
  call: Call,
  { name, ...input }: ProviderReference,
): Promise<Provider | null> {
  const projectCall = await inNamedProject(call, input);
  return projectCall && findPermittedProvider(projectCall, name);
}

export const findProvider = read(
  orEndUser('read'),
  'A provider by its name. Null if the catalog has no such provider.',
  findReferencedProvider,
);

/** Throws NOT_FOUND if the catalog has no such provider, or if the viewer may not see it. */
export const getProvider = read(
  orEndUser('read'),
  'Returns a provider: how to connect to it, and what can be done with its records.',
  async (call: Call, input: ProviderReference): Promise<Provider> => {
    const provider = await findReferencedProvider(call, input);
    if (!provider) throw notFound('Provider', input.name);
    return provider;
  },
);

export const listProviders = read(
  orEndUser('read'),
  'Lists the providers of the catalog, in the order of their names.',
  async (call: Call, args: PageArgs & ProjectReference) => {
    const getKey = (provider: Provider) => provider.name;
    return createArrayPage(
      { name: 'Query.providers', key: getKey },
      await listPermittedProviders(call, args),
      args,
    );
  },
);
