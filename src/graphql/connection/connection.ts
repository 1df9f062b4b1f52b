import { listAccountObjects } from '../../domain/connection/account-objects.ts';
import {
  deleteConnection,
  listConnections,
  updateConnection,
} from '../../domain/connection/connection.ts';
import { generateConnection } from '../../domain/connection/connection-generation.ts';
import { refreshConnection } from '../../domain/connection/connection-refresh.ts';
import { shownCredentials } from '../../domain/connection/credentials.ts';
import { startOAuthConnect } from '../../domain/connection/oauth-connect.ts';
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
import { answer, DeletePayload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import {
  ConnectedAccount,
  ConnectedAccounts,
  Consumer,
  Group,
  Project,
  ProviderApp,
} from '../schema/types.ts';
import { ConnectionCredentials } from './credentials.ts';

const ConnectionStatus = enumType('ConnectionStatus', 'What is known of its credentials.', {
  CREATED: 'They are new, or the access token was just refreshed.',
  WORKING: 'The provider has accepted them.',
  BAD_CREDENTIALS: 'The provider has refused them, in a call or in a refresh.',
});

ConnectedAccount.implement({
  description: "A group and a consumer linked to one provider: the platform's connection.",
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    provider: t.exposeString('provider', { description: 'The provider of the catalogue.' }),
    group: sureLinkField(t, {
      type: Group,
      table: 'Group',
      column: 'groupId',
      description: 'Who has access.',
    }),
    consumer: sureLinkField(t, {
      type: Consumer,
      table: 'Consumer',
      column: 'consumerId',
      description: 'Who connected the account.',
    }),
    providerApp: linkField(t, {
      type: ProviderApp,
      table: 'ProviderApp',
      column: 'providerAppId',
      description: 'The OAuth app that it came by, where it came by one.',
    }),
    authScheme: t.expose('authScheme', {
      type: AuthScheme,
      description: 'How it proves itself to the provider.',
    }),
    status: t.expose('status', {
      type: ConnectionStatus,
      description: 'What is known of its credentials.',
    }),
    providerWorkspaceRef: t.exposeString('providerWorkspaceRef', {
      nullable: true,
      description: 'The workspace at the provider, where it is known.',
    }),
    providerConsumerRef: t.exposeString('providerConsumerRef', {
      nullable: true,
      description: "The provider's own id of the consumer, where it is known.",
    }),
    providerMetadata: t.field({
      type: 'JSONObject',
      nullable: true,
      description: 'Further facts of the account.',
      resolve: ({ providerMetadata }) => providerMetadata,
    }),
    credentials: t.field({
      ...needing(shownCredentials, 'Credentials in clear.'),
      type: ConnectionCredentials,
      nullable: true,
      resolve: (connection, _args, { find }) => find(shownCredentials, connection),
    }),
    objects: t.field({
      ...needing(
        listAccountObjects,
        'Its objects, custom ones included, asked from the provider. Null if that lists none.',
      ),
      type: [ProviderObject],
      nullable: true,
      resolve: (connection, _args, { call }) => listAccountObjects(call, connection),
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'connections', (t) =>
  listField(t, ConnectedAccounts, {
    description: 'Connections, newest first.',
    args: {
      provider: t.arg.string({ description: 'Only those to this provider.' }),
      groupRef: t.arg.string({ description: 'Only those of this group.' }),
      consumerRef: t.arg.string({ description: 'Only those of this consumer.' }),
      status: t.arg({ type: ConnectionStatus, description: 'Only those of this status.' }),
    },
    list: listConnections,
  }),
);

const StartOAuthConnectPayload = builder
  .objectRef<{ authorizeUrl: string; expireTime: Date }>('StartOAuthConnectPayload')
  .implement({
    description: 'The answer of startOAuthConnect.',
    fields: (t) => ({
      authorizeUrl: t.exposeString('authorizeUrl', { description: 'Where the browser goes.' }),
      expireTime: t.expose('expireTime', {
        type: 'DateTime',
        description: 'Until when the person can come back.',
      }),
    }),
  });

builder.mutationFields((t) => ({
  generateConnection: mutationField(t, generateConnection, {
    type: answer('GenerateConnectionPayload', 'connection', ConnectedAccount, 'The connection.'),
    description: 'Connects with credentials, or replaces those of the connection that there is.',
  }),
  startOAuthConnect: mutationField(t, startOAuthConnect, {
    type: StartOAuthConnectPayload,
    description:
      "For a person at a browser: the provider's authorize URL. The callback makes or renews the connection.",
  }),
  updateConnection: mutationField(t, updateConnection, {
    type: answer('UpdateConnectionPayload', 'connection', ConnectedAccount, 'As it is now.'),
    description: 'Changes a connection.',
  }),
  refreshConnection: mutationField(t, refreshConnection, {
    type: answer('RefreshConnectionPayload', 'connection', ConnectedAccount, 'As it is now.'),
    description: 'Refreshes the access token now.',
  }),
  deleteConnection: mutationField(t, deleteConnection, {
    type: DeletePayload,
    description: 'Deletes a connection that no installation uses.',
  }),
}));
