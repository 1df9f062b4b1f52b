import {
  listInstallationOperations,
  listOperations,
  type OperationMetadata as Metadata,
  metadataOf,
} from '../../domain/operation/operation.ts';
import {
  createdFields,
  linkField,
  listField,
  projectField,
  updateTimeField,
} from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { Node } from '../schema/node-field.ts';
import { builder } from '../schema/schema-builder.ts';
import { Installation, Integration, Operation, Operations, Project } from '../schema/types.ts';

const OperationActionType = enumType('OperationActionType', 'What an operation does.', {
  READ: "Reads a provider's records.",
  WRITE: 'Writes records to a provider.',
  SUBSCRIBE: "Sets up a subscription to a provider's events.",
});

const OperationStatus = enumType('OperationStatus', 'How far an operation has come.', {
  IN_PROGRESS: 'It waits or runs.',
  SUCCESS: 'It has done its work.',
  FAILURE: 'It has ended without doing its work.',
});

const OperationProgress = builder
  .objectRef<NonNullable<Metadata['progress']>>('OperationProgress')
  .implement({
    description: 'How far a read has come.',
    fields: (t) => ({
      objectName: t.exposeString('objectName', { description: 'The object that it reads.' }),
      recordsProcessed: t.exposeInt('recordsProcessed', { description: 'Records read so far.' }),
      recordsEstimatedTotal: t.exposeInt('recordsEstimatedTotal', {
        nullable: true,
        description: 'How many there are in all, where the provider can tell.',
      }),
    }),
  });

const OperationRetry = builder
  .objectRef<NonNullable<Metadata['retry']>>('OperationRetry')
  .implement({
    description: 'How often an operation was tried.',
    fields: (t) => ({
      attempts: t.exposeInt('attempts', { description: 'Attempts so far.' }),
      lastAttempt: t.expose('lastAttempt', {
        type: 'DateTime',
        nullable: true,
        description: 'When the last of them was made.',
      }),
    }),
  });

const OperationMetadata = builder.objectRef<Metadata>('OperationMetadata').implement({
  description: 'What is known of an operation beside its status.',
  fields: (t) => ({
    objects: t.exposeStringList('objects', { description: 'The objects that it is about.' }),
    progress: t.expose('progress', {
      type: OperationProgress,
      nullable: true,
      description: 'For a read: how far it has come.',
    }),
    successfulRecordIds: t.exposeStringList('successfulRecordIds', {
      description: "For a write: the provider's ids of the records that were written.",
    }),
    retry: t.expose('retry', {
      type: OperationRetry,
      nullable: true,
      description: 'How often it was tried, where it was tried again.',
    }),
  }),
});

Operation.implement({
  description: 'One piece of provider work, and what came of it. Outlives its installation.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    integrationId: t.exposeID('integrationId', { description: 'The integration that it is for.' }),
    integration: linkField(t, {
      type: Integration,
      table: 'Integration',
      column: 'integrationId',
      description: 'The integration that it is for; null when it has been deleted.',
    }),
    installationId: t.exposeID('installationId', {
      description: 'The installation that it is for.',
    }),
    installation: linkField(t, {
      type: Installation,
      table: 'Installation',
      column: 'installationId',
      description: 'The installation that it is for; null when it has been deleted.',
    }),
    configId: t.exposeID('configId', { description: "The installation's config in force then." }),
    actionType: t.expose('actionType', {
      type: OperationActionType,
      description: 'What it does.',
    }),
    status: t.expose('status', { type: OperationStatus, description: 'How far it has come.' }),
    result: t.exposeString('result', {
      nullable: true,
      description: 'What came of it, for people; null while it is in progress.',
    }),
    metadata: t.field({
      type: OperationMetadata,
      description: 'What is known of it beside its status.',
      resolve: (operation) => metadataOf(operation),
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'operations', (t) =>
  listField(t, Operations, {
    description: 'Operations, newest first.',
    args: {
      status: t.arg({ type: OperationStatus, description: 'Only those of this status.' }),
      actionType: t.arg({ type: OperationActionType, description: 'Only those of this kind.' }),
    },
    list: listOperations,
  }),
);

builder.objectField(Installation, 'operations', (t) =>
  listField(t, Operations, {
    description: 'Operations of the installation, newest first.',
    args: {
      status: t.arg({ type: OperationStatus, description: 'Only those of this status.' }),
      actionType: t.arg({ type: OperationActionType, description: 'Only those of this kind.' }),
    },
    list: listInstallationOperations,
  }),
);
