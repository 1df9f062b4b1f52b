import { byId } from '../../../domain/access/scope.ts';
import {
  listObjectSubscriptions,
  type ObjectSubscriptionView,
  objectSubscriptionResource,
} from '../../../domain/data/provider-event/object-subscription.ts';
import {
  createInstallation,
  deleteInstallation,
  installationResource,
} from '../../../domain/integrations/installation/installation.ts';
import { installationConfigResource } from '../../../domain/integrations/installation/installation-config.ts';
import {
  EXCLUSIVE_INSTALLATION_FILTERS,
  installationFilters,
  listConnectionInstallations,
  listIntegrationInstallations,
  listProjectInstallations,
  loadLastOperations,
  projectInstallationFilters,
} from '../../../domain/integrations/installation/installation-list.ts';
import { updateInstallation } from '../../../domain/integrations/installation/installation-update.ts';
import {
  type InstalledObjectView,
  installedObjectResource,
} from '../../../domain/integrations/installation/installed-object.ts';
import {
  metadataOptions,
  readMetadataOfInstallation,
} from '../../../domain/integrations/installation/object-metadata.ts';
import { loadLatestRevisions } from '../../../domain/integrations/integration/revision.ts';
import { describeField, requiredLinkField } from '../../schema/fields.ts';
import { createArgs } from '../../schema/inputs.ts';
import { addList } from '../../schema/lists.ts';
import { addDeletions, addMutations } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import {
  ConnectedAccount,
  Destination,
  Group,
  Installation,
  InstallationConfig,
  Integration,
  Operation,
  Project,
  Revision,
} from '../../schema/types.ts';
import { ObjectMetadata } from './object-metadata.ts';

const ObjectSubscription = objectType(
  builder.objectRef<ObjectSubscriptionView>('ObjectSubscription'),
  objectSubscriptionResource,
  (t) => ({
    destination: t.field({
      type: Destination,
      nullable: true,
      description: 'The destination of its events. Null if the integration names none that exists.',
      resolve: ({ destinationId }, _args, { find }) =>
        destinationId === null ? null : find(byId('Destination'), destinationId),
    }),
  }),
);

objectType(
  builder.objectRef<InstalledObjectView>('InstalledObject'),
  installedObjectResource,
  (t) => ({
    backfillOperation: t.field({
      type: Operation,
      nullable: true,
      description:
        'The operation of the first read, whose metadata reports progress. Null before it starts and after it is purged.',
      resolve: ({ backfillOperationId }, _args, { find }) =>
        backfillOperationId === null ? null : find(byId('Operation'), backfillOperationId),
    }),
  }),
);

objectType(InstallationConfig, installationConfigResource);

objectType(Installation, installationResource, (t) => ({
  revision: t.field({
    type: Revision,
    description: "The integration's latest revision, which is active for all installations.",
    resolve: ({ integrationId }, _args, { get }) => get(loadLatestRevisions, integrationId),
  }),
  lastOperation: t.field({
    type: Operation,
    nullable: true,
    description: 'The newest operation. Null before the first.',
    resolve: (installation, _args, { find }) => find(loadLastOperations, installation),
  }),
  objectMetadata: t.field({
    ...describeField(readMetadataOfInstallation),
    type: ObjectMetadata,
    nullable: true,
    args: createArgs(t.arg, metadataOptions),
    resolve: (installation, options, { call }) =>
      readMetadataOfInstallation(call, installation, options),
  }),
  subscriptions: t.field({
    type: [ObjectSubscription],
    description:
      'The objects whose changes at the provider it receives, in the order of their names, with the status of each subscription.',
    resolve: (installation, _args, { get }) => get(listObjectSubscriptions, installation),
  }),
}));

builder.objectFields(Installation, (t) => ({
  integration: requiredLinkField(t, {
    type: Integration,
    table: 'Integration',
    column: 'integrationId',
    description: 'The integration that is installed.',
  }),
  group: requiredLinkField(t, {
    type: Group,
    table: 'Group',
    column: 'groupId',
    description: 'The group that uses the integration.',
  }),
  connection: requiredLinkField(t, {
    type: ConnectedAccount,
    table: 'Connection',
    column: 'connectionId',
    description: 'The connection through which it reads and writes.',
  }),
  config: requiredLinkField(t, {
    type: InstallationConfig,
    table: 'InstallationConfig',
    column: 'configId',
    description: 'The active choices of the customer.',
  }),
}));

addList(Project, 'installations', Installation, listProjectInstallations, {
  filters: projectInstallationFilters,
  exclusive: EXCLUSIVE_INSTALLATION_FILTERS,
});

addList(Integration, 'installations', Installation, listIntegrationInstallations, {
  filters: installationFilters,
});

addList(ConnectedAccount, 'installations', Installation, listConnectionInstallations);

addMutations('installation', Installation, { createInstallation, updateInstallation });
addDeletions({ deleteInstallation });
