import { listAccountObjects } from '../../domain/connection/account-objects.ts';
import { deleteConnection, updateConnection } from '../../domain/connection/connection.ts';
import { generateConnection } from '../../domain/connection/connection-generation.ts';
import { refreshConnection } from '../../domain/connection/connection-refresh.ts';
import {
  type ShownCredentials,
  type ShownToken,
  shownCredentials,
} from '../../domain/connection/credentials.ts';
import {
  CONNECTION_EXCLUSIVE,
  connectionFilters,
  listConnections,
} from '../../domain/connection/list/connection-list.ts';
import { AuthScheme, ProviderObject } from '../provider/provider.ts';
import {
  createdFields,
  linkField,
  listField,
  projectField,
  sureLinkField,
  updateTimeField,
} from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import {
  ConnectedAccount,
  ConnectedAccounts,
  Consumer,
  Group,
  Project,
  ProviderApp,
} from '../schema/types.ts';

const OAuth2Token = builder.objectRef<ShownToken>('OAuth2Token').implement({
  description: 'An OAuth token and its lifetime.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The value of the token.' }),
    issueTime: t.expose('issuedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was issued; null if that is not known.',
    }),
    expireTime: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null if that is not known.',
    }),
  }),
});

const OAuth2Tokens = builder
  .objectRef<NonNullable<ShownCredentials['oauth2AuthorizationCode']>>('OAuth2Tokens')
  .implement({
    description: 'The tokens of an OAuth authorization.',
    fields: (t) => ({
      accessToken: t.expose('accessToken', {
        type: OAuth2Token,
        nullable: true,
        description: 'The token that authenticates requests to the provider.',
      }),
      refreshToken: t.expose('refreshToken', {
        type: OAuth2Token,
        nullable: true,
        description: 'The token that obtains new access tokens.',
      }),
      scopes: t.exposeStringList('scopes', {
        description: 'The OAuth scopes that the provider granted.',
      }),
    }),
  });

const ConnectionCredentials = builder
  .objectRef<ShownCredentials>('ConnectionCredentials')
  .implement({
    description:
      'Credentials as they are sent to the provider: only the field of the scheme is set.',
    fields: (t) => ({
      apiKey: t.exposeString('apiKey', {
        nullable: true,
        description: 'The API key; null for other schemes.',
      }),
      oauth2AuthorizationCode: t.expose('oauth2AuthorizationCode', {
        type: OAuth2Tokens,
        nullable: true,
        description: 'Tokens, with or without PKCE.',
      }),
    }),
  });

const ConnectionStatus = enumType(
  'ConnectionStatus',
  'Whether the credentials of a connection work.',
  {
    CREATED: 'The credentials are new, or the access token was just refreshed: not used yet.',
    WORKING: 'The provider has accepted the credentials.',
    BAD_CREDENTIALS:
      'The provider has refused the credentials, in a call or in a refresh. Connect again.',
  },
);

ConnectedAccount.implement({
  description: 'A connection: an account at a provider that a consumer has connected for a group.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    provider: t.exposeString('provider', { description: 'The name of the provider.' }),
    authScheme: t.expose('authScheme', {
      type: AuthScheme,
      description: 'The scheme by which it authenticates at the provider.',
    }),
    status: t.expose('status', {
      type: ConnectionStatus,
      description: 'Whether its credentials work.',
    }),
    tokenExpireTime: t.expose('tokenExpireTime', {
      type: 'DateTime',
      nullable: true,
      description:
        'When its access token ends; null if it has none, if that is not known, or if it can no longer be refreshed.',
    }),
    providerWorkspaceRef: t.exposeString('providerWorkspaceRef', {
      nullable: true,
      description: 'The workspace of the account at the provider; null if there is none.',
    }),
    providerConsumerRef: t.exposeString('providerConsumerRef', {
      nullable: true,
      description: "The provider's own id of the consumer; null if it is not known.",
    }),
    providerMetadata: t.field({
      type: 'JSONObject',
      nullable: true,
      description: 'Further facts of the account, from the builder and the provider.',
      resolve: ({ providerMetadata }) => providerMetadata,
    }),
    credentials: t.field({
      ...needing(shownCredentials),
      type: ConnectionCredentials,
      nullable: true,
      resolve: (connection, _args, { find }) => find(shownCredentials, connection),
    }),
    objects: t.field({
      ...needing(listAccountObjects),
      type: [ProviderObject],
      nullable: true,
      resolve: (connection, _args, { call }) => listAccountObjects(call, connection),
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectFields(ConnectedAccount, (t) => ({
  group: sureLinkField(t, {
    type: Group,
    table: 'Group',
    column: 'groupId',
    description: 'The group whose account it is.',
  }),
  consumer: sureLinkField(t, {
    type: Consumer,
    table: 'Consumer',
    column: 'consumerId',
    description: 'The consumer who has connected the account.',
  }),
  providerApp: linkField(t, {
    type: ProviderApp,
    table: 'ProviderApp',
    column: 'providerAppId',
    description: 'The provider app that it was connected with; null if there was none.',
  }),
}));

builder.objectField(Project, 'connections', (t) =>
  listField(t, ConnectedAccounts, {
    args: parsedArgs(t.arg, connectionFilters),
    exclusive: CONNECTION_EXCLUSIVE,
    list: listConnections,
  }),
);

builder.mutationFields((t) => ({
  generateConnection: mutationField(
    t,
    generateConnection,
    payload('generateConnection', 'connection', ConnectedAccount),
  ),
  updateConnection: mutationField(
    t,
    updateConnection,
    payload('updateConnection', 'connection', ConnectedAccount),
  ),
  refreshConnection: mutationField(
    t,
    refreshConnection,
    payload('refreshConnection', 'connection', ConnectedAccount),
  ),
  deleteConnection: mutationField(t, deleteConnection, DeletePayload),
}));
