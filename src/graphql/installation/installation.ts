import { createInstallation, deleteInstallation } from '../../domain/installation/installation.ts';
import {
  INSTALLATION_EXCLUSIVE,
  installationFilters,
  listConnectionInstallations,
  listInstallations,
  listInstallationsOfIntegration,
  projectInstallationFilters,
} from '../../domain/installation/installation-list.ts';
import { updateInstallation } from '../../domain/installation/installation-update.ts';
import {
  type InstalledObjectView,
  installedObjects,
} from '../../domain/installation/installed-object.ts';
import { lastOperations } from '../../domain/installation/last-operations.ts';
import {
  metadataOptions,
  objectMetadataOfInstallation,
} from '../../domain/installation/object-metadata.ts';
import { latestRevisions } from '../../domain/integration/revision.ts';
import { objectSubscriptions } from '../../domain/provider-event/object-subscription.ts';
import { byId } from '../../domain/scope.ts';
import { ObjectSubscription } from '../provider-event/object-subscription.ts';
import {
  createdFields,
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
  Group,
  Installation,
  InstallationConfig,
  Installations,
  Integration,
  Operation,
  Project,
  Revision,
} from '../schema/types.ts';
import { ObjectMetadata } from './object-metadata.ts';

const nullable = true;

const InstalledObject = builder.objectRef<InstalledObjectView>('InstalledObject').implement({
  description: 'How far one object of an installation is read.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', {
      description: "The provider's name of the object, like `contacts`.",
    }),
    mappedObjectName: t.exposeString('mappedObjectName', {
      nullable,
      description: 'The name that the integration maps the object to; null if there is none.',
    }),
    schedule: t.exposeString('schedule', {
      nullable,
      description:
        "A cron expression of five fields, in UTC: the config's, else the integration's; null if there is none.",
    }),
    paused: t.exposeBoolean('paused', { description: 'Whether its scheduled reads are paused.' }),
    pauseNote: t.exposeString('pauseNote', {
      nullable,
      description:
        'The note of the last change that paused or resumed its reads. Null without a note.',
    }),
    nextReadTime: t.field({
      type: 'DateTime',
      nullable,
      description: 'When its next scheduled read is due; null if none is.',
      resolve: ({ nextReadTime }) => nextReadTime,
    }),
    lastReadTime: t.field({
      type: 'DateTime',
      nullable,
      description: 'When it was last read; null if it never was.',
      resolve: ({ lastReadTime }) => lastReadTime,
    }),
    backfillDone: t.exposeBoolean('backfillDone', {
      description: 'Whether its first read has finished.',
    }),
    backfillOperation: t.field({
      type: Operation,
      nullable,
      description:
        'The operation of its first read, whose metadata tells the progress; null before it began, and once it is removed.',
      resolve: ({ backfillOperationId: id }, _args, { find }) =>
        id === null ? null : find(byId('Operation'), id),
    }),
    recordsRead: t.exposeInt('recordsRead', {
      description: 'How many records were read in all, from the first read on.',
    }),
  }),
});

const InstallationHealth = enumType('InstallationHealth', 'Whether an installation works.', {
  HEALTHY: 'No failure is known.',
  UNHEALTHY:
    'Its connection is BAD_CREDENTIALS, its config maps no field to what the integration requires, one of its subscriptions does not work, or the last three of its operations to end have failed. `healthReason` says which.',
});

Installation.implement({
  description: 'An integration that a group uses, through one of its connections.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    revision: t.field({
      type: Revision,
      description: "The integration's latest revision: it holds for all installations.",
      resolve: ({ integrationId }, _args, { get }) => get(latestRevisions, integrationId),
    }),
    healthStatus: t.expose('healthStatus', {
      type: InstallationHealth,
      description: 'Whether it works.',
    }),
    healthReason: t.exposeString('healthReason', {
      nullable: true,
      description: 'Why it is UNHEALTHY, for people; null if it is HEALTHY.',
    }),
    lastOperation: t.field({
      type: Operation,
      nullable: true,
      description: 'Its newest operation; null before the first.',
      resolve: (installation, _args, { find }) => find(lastOperations, installation),
    }),
    objects: t.field({
      type: [InstalledObject],
      description:
        'The objects that it reads, in the order of their names, and how far each is read.',
      resolve: (installation, _args, { get }) => get(installedObjects, installation),
    }),
    objectMetadata: t.field({
      ...needing(
        objectMetadataOfInstallation,
        'The fields of an object, read from the provider through the connection.',
      ),
      type: ObjectMetadata,
      args: parsedArgs(t.arg, metadataOptions),
      resolve: (installation, options, { call }) =>
        objectMetadataOfInstallation(call, installation, options),
    }),
    createdBy: t.exposeString('createdBy', {
      description: 'The caller who created it: api:<key id> or builder:<id>.',
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectFields(Installation, (t) => ({
  subscriptions: t.field({
    type: [ObjectSubscription],
    description:
      'The objects whose changes at the provider it is told of, in the order of their names, and whether each subscription works.',
    resolve: (installation, _args, { get }) => get(objectSubscriptions, installation),
  }),
  integration: sureLinkField(t, {
    type: Integration,
    table: 'Integration',
    column: 'integrationId',
    description: 'The integration that is installed.',
  }),
  group: sureLinkField(t, {
    type: Group,
    table: 'Group',
    column: 'groupId',
    description: 'The group that uses the integration.',
  }),
  connection: sureLinkField(t, {
    type: ConnectedAccount,
    table: 'Connection',
    column: 'connectionId',
    description: 'The connection through which it reads and writes.',
  }),
  config: sureLinkField(t, {
    type: InstallationConfig,
    table: 'InstallationConfig',
    column: 'configId',
    description: 'The choices of the customer that hold now.',
  }),
}));

builder.objectField(Project, 'installations', (t) =>
  listField(t, Installations, {
    args: parsedArgs(t.arg, projectInstallationFilters),
    exclusive: INSTALLATION_EXCLUSIVE,
    list: listInstallations,
  }),
);

builder.objectField(Integration, 'installations', (t) =>
  listField(t, Installations, {
    args: parsedArgs(t.arg, installationFilters),
    list: listInstallationsOfIntegration,
  }),
);

builder.objectField(ConnectedAccount, 'installations', (t) =>
  listField(t, Installations, {
    list: listConnectionInstallations,
  }),
);

builder.mutationFields((t) => ({
  createInstallation: mutationField(
    t,
    createInstallation,
    payload('createInstallation', 'installation', Installation),
  ),
  updateInstallation: mutationField(
    t,
    updateInstallation,
    payload('updateInstallation', 'installation', Installation),
  ),
  deleteInstallation: mutationField(t, deleteInstallation, DeletePayload),
}));
