import {
  findProvider,
  listProviders,
  modulesOf,
  objectsOf,
  type Provider as ProviderFacts,
  providerAt,
  supportedCapabilities,
} from '../../domain/provider/provider.ts';
import { providerId } from '../../ids.ts';
import { rootListField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { builder } from '../schema/schema-builder.ts';
import { connectionOf } from '../schema/types.ts';
import {
  ProviderCapability,
  ProviderInput,
  ProviderModule,
  ProviderObject,
} from './provider-parts.ts';

const WriteType = enumType('WriteType', 'Whether a write creates, updates or deletes records.', {
  CREATE: 'Creates new records.',
  UPDATE: 'Updates the records with the given ids.',
  DELETE: 'Deletes the record with the given id.',
});

export const AuthScheme = enumType(
  'AuthScheme',
  'How a connection authenticates at its provider.',
  {
    NONE: 'None of the others: no credentials, or custom inputs that the provider declares (`customAuth`).',
    API_KEY: 'A key that the customer copies from the provider.',
    BASIC: 'A user name and a password, as HTTP Basic.',
    OAUTH2_AUTHORIZATION_CODE: 'OAuth 2: the customer agrees in a browser.',
    OAUTH2_AUTHORIZATION_CODE_PKCE: 'OAuth 2: the customer agrees in a browser, with PKCE.',
    OAUTH2_CLIENT_CREDENTIALS: "OAuth 2: the customer's own client id and secret.",
    OAUTH2_PASSWORD: 'OAuth 2: a user name and a password, in exchange for a token.',
  },
);

const Provider = builder.objectRef<ProviderFacts>('Provider').implement({
  description: 'A third-party service of the catalogue.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({
      description: 'Unique in the whole service, and the same on every server.',
      resolve: ({ name }) => providerId(name),
    }),
    name: t.exposeString('name', {
      description: 'The name in inputs, like `hubspot`, unique in the catalogue.',
    }),
    displayName: t.exposeString('displayName', { description: 'The name that people see.' }),
    authSchemes: t.field({
      type: [AuthScheme],
      description: 'The schemes to connect with, in order of preference.',
      resolve: ({ authSchemes }) => authSchemes,
    }),
    baseUrl: t.exposeString('baseUrl', {
      description: 'The base URL of its API. A connection fills in variables like {{workspace}}.',
    }),
    supports: t.field({
      type: [ProviderCapability],
      description: 'What the gateway can do with its records.',
      resolve: supportedCapabilities,
    }),
    objects: t.field({
      type: [ProviderObject],
      description:
        'The objects that every account has. `ConnectedAccount.objects` has those of one account.',
      resolve: objectsOf,
    }),
    allOrNone: t.field({
      type: [WriteType],
      description: 'The types of batches that `allOrNone` is possible for.',
      resolve: ({ takes }) => [...takes.allOrNone],
    }),
    docsUrl: t.string({
      nullable: true,
      description: "The vendor's documentation.",
      resolve: ({ docsUrl }) => docsUrl ?? null,
    }),
    apiVersion: t.string({
      nullable: true,
      description: "The version of the vendor's API that is used.",
      resolve: ({ apiVersion }) => apiVersion ?? null,
    }),
    scopes: t.stringList({
      description: 'The OAuth scopes that reading and writing all objects needs.',
      resolve: ({ scopes = [] }) => [...scopes],
    }),
    inputs: t.field({
      type: [ProviderInput],
      description: 'What connecting needs in `providerMetadata`, beside credentials and workspace.',
      resolve: ({ inputs = [] }) => inputs,
    }),
  }),
});

builder.objectField(Provider, 'filtersMax', (t) =>
  t.int({
    description:
      'The most `fieldFilters` that a config may have for an object; 0 if records can not be filtered.',
    resolve: ({ takes }) => takes.filters ?? 0,
  }),
);

builder.objectField(Provider, 'customInputs', (t) =>
  t.field({
    type: [ProviderInput],
    description: 'What connecting by `customAuth` takes; empty if the provider has no such scheme.',
    resolve: ({ custom }) => custom?.inputs ?? [],
  }),
);

builder.objectField(Provider, 'modules', (t) =>
  t.field({
    type: [ProviderModule],
    description: 'The parts of the provider. Integrations that name none use the first.',
    resolve: (provider) =>
      modulesOf(provider).map((module) => {
        return { module, provider: providerAt(provider, module.name) ?? provider };
      }),
  }),
);
const Providers = connectionOf(Provider, 'providers');

builder.queryFields((t) => ({
  provider: t.field({
    ...needing(
      findProvider,
      'A provider by its name; null if the catalogue has none of that name.',
    ),
    type: Provider,
    nullable: true,
    args: {
      name: t.arg.string({
        required: true,
        description: 'The name of the provider, like `hubspot`.',
      }),
    },
    resolve: (_root, { name }, { call }) => findProvider(call, name),
  }),
  providers: rootListField(t, Providers, {
    list: listProviders,
  }),
}));
