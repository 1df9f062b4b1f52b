import {
  findProvider,
  listProviders,
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
