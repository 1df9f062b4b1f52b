import { listAccountObjects } from '../../../domain/connections/connection/account-objects.ts';
import {
  connectionResource,
  deleteConnection,
  updateConnection,
} from '../../../domain/connections/connection/connection.ts';
import {
  connectionCredentialsResource,
  listPlainCredentials,
  type PlainCredentials,
} from '../../../domain/connections/connection/connection-credentials.ts';
import { generateConnection } from '../../../domain/connections/connection/connection-generation.ts';
import { refreshConnection } from '../../../domain/connections/connection/connection-refresh.ts';
import {
  connectionFilters,
  EXCLUSIVE_CONNECTION_FILTERS,
  listConnections,
} from '../../../domain/connections/connection/list/connection-list.ts';
import { describeField, linkField, requiredLinkField } from '../../schema/fields.ts';
import { addList } from '../../schema/lists.ts';
import { addDeletions, addMutations } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { ConnectedAccount, Consumer, Group, Project, ProviderApp } from '../../schema/types.ts';
import { ProviderObject } from '../provider/provider.ts';

const ConnectionCredentials = objectType(
  builder.objectRef<PlainCredentials>('ConnectionCredentials'),
  connectionCredentialsResource,
);

objectType(ConnectedAccount, connectionResource, (t) => ({
  credentials: t.field({
    ...describeField(listPlainCredentials),
    type: ConnectionCredentials,
    nullable: true,
    resolve: (connection, _args, { find }) => find(listPlainCredentials, connection),
  }),
  objects: t.field({
    ...describeField(listAccountObjects),
    type: [ProviderObject],
    nullable: true,
    resolve: (connection, _args, { call }) => listAccountObjects(call, connection),
  }),
}));

builder.objectFields(ConnectedAccount, (t) => ({
  group: requiredLinkField(t, {
    type: Group,
    table: 'Group',
    column: 'groupId',
    description: 'The group whose account it is.',
  }),
  consumer: requiredLinkField(t, {
    type: Consumer,
    table: 'Consumer',
    column: 'consumerId',
    description: 'The consumer who has connected the account.',
  }),
  providerApp: linkField(t, {
    type: ProviderApp,
    table: 'ProviderApp',
    column: 'providerAppId',
    description: 'The provider app that it was connected with. Null if there was none.',
  }),
}));

addList(Project, 'connections', ConnectedAccount, listConnections, {
  filters: connectionFilters,
  exclusive: EXCLUSIVE_CONNECTION_FILTERS,
});

addMutations('connection', ConnectedAccount, {
  generateConnection,
  updateConnection,
  refreshConnection,
});
addDeletions({ deleteConnection });
