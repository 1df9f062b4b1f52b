import {
  type CustomInput,
  findProvider,
  listProviders,
  type ObjectSummary,
  type Provider as ProviderFacts,
  supportedCapabilities,
} from '../../domain/provider/provider.ts';
import { WriteType } from '../operation/write-type.ts';
import { rootListField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { needing } from '../schema/needing.ts';
import { builder } from '../schema/schema-builder.ts';
import { connectionOf } from '../schema/types.ts';

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

const ProviderCapability = enumType(
  'ProviderCapability',
  'What the gateway can do with the records of a provider.',
  {
    READ: 'Reads records: all, or those that changed since a time.',
    WRITE: 'Creates and updates one record.',
    DELETE: 'Deletes one record.',
    BATCH_WRITE: 'Creates or updates many records in one request.',
    METADATA: 'Describes the fields of an object.',
    PROXY: "Forwards requests as they are, with the connection's credentials.",
    SUBSCRIBE: 'Gets changes when they happen.',
  },
);

export const ProviderObject = builder.objectRef<ObjectSummary>('ProviderObject').implement({
  description: 'An object of a provider: a kind of records.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name that integrations use.' }),
    displayName: t.exposeString('displayName', { description: 'The name that people know.' }),
  }),
});

const ProviderInput = builder.objectRef<CustomInput>('ProviderInput').implement({
  description: 'A fact of an account that a connection has in `providerMetadata`.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the member of `providerMetadata`.' }),
    displayName: t.exposeString('displayName', { description: 'The name that people see.' }),
  }),
});

const Provider = builder.objectRef<ProviderFacts>('Provider').implement({
  description: 'A third-party service of the catalogue.',
  fields: (t) => ({
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
      resolve: ({ commonObjects, objects = [] }) =>
        commonObjects ?? objects.map((name) => ({ name, displayName: name })),
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
      description: 'To ask consent for, so that all objects can be read and written.',
      resolve: ({ scopes = [] }) => [...scopes],
    }),
    inputs: t.field({
      type: [ProviderInput],
      description: 'What connecting needs in `providerMetadata`, beside credentials and workspace.',
      resolve: ({ inputs = [] }) => inputs,
    }),
  }),
});
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
    description: 'The catalogue of providers, in the order of their names.',
    list: listProviders,
  }),
}));
