import {
  type CustomInput,
  findProvider,
  listProviders,
  type ObjectSummary,
  type Provider as ProviderFacts,
  supportedCapabilities,
} from '../../domain/provider/provider.ts';
import { rootListField } from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { needing } from '../schema/needing.ts';
import { builder } from '../schema/schema-builder.ts';
import { connectionOf } from '../schema/types.ts';

export const AuthScheme = enumType(
  'AuthScheme',
  'How a connection proves itself to its provider.',
  {
    NONE: 'No scheme of this list: nothing at all, or custom inputs that the provider declares.',
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
  'What can be done with the records of a provider.',
  {
    READ: 'Reading records, all of them or what changed since a time.',
    WRITE: 'Creating and updating one record.',
    DELETE: 'Deleting one record.',
    BATCH_WRITE: 'Creating or updating many records in one request.',
    METADATA: 'Telling the fields of an object.',
    PROXY: "Forwarding requests as they are, with the connection's credentials.",
    SUBSCRIBE: 'Telling of changes as they happen.',
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
    name: t.exposeString('name', { description: 'Its name there.' }),
    displayName: t.exposeString('displayName', { description: 'What it is, for people.' }),
  }),
});

const Provider = builder.objectRef<ProviderFacts>('Provider').implement({
  description: 'A third-party service of the catalogue.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'The name that connections and integrations use.',
    }),
    displayName: t.exposeString('displayName', { description: 'The name that people know.' }),
    authSchemes: t.field({
      type: [AuthScheme],
      description: 'How one can connect to it, the preferred way first.',
      resolve: ({ authSchemes }) => authSchemes,
    }),
    baseUrl: t.exposeString('baseUrl', {
      description: 'Where its API is; {{workspace}} stands for what a connection fills in.',
    }),
    supports: t.field({
      type: [ProviderCapability],
      description: 'What this server can do with it.',
      resolve: supportedCapabilities,
    }),
    objects: t.field({
      type: [ProviderObject],
      description:
        'The objects that every account has. `ConnectedAccount.objects` has those of one account.',
      resolve: ({ commonObjects, objects = [] }) =>
        commonObjects ?? objects.map((name) => ({ name, displayName: name })),
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
    ...needing(findProvider, 'A provider by name. Null where there is none of that name.'),
    type: Provider,
    nullable: true,
    args: { name: t.arg.string({ required: true, description: 'Its name.' }) },
    resolve: (_root, { name }, { call }) => findProvider(call, name),
  }),
  providers: rootListField(t, Providers, {
    description: 'The catalogue, by name.',
    list: listProviders,
  }),
}));
