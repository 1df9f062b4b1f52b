import {
  type OperationMetadata as Metadata,
  parseOperationMetadata,
} from '../../domain/operation/operation.ts';
import {
  listInstallationOperations,
  listOperations,
  OPERATION_EXCLUSIVE,
  operationFilters,
  projectOperationFilters,
} from '../../domain/operation/operation-list.ts';
import { operationStatus, toOperationStatus } from '../../domain/operation/operation-status.ts';
import type { Row } from '../../domain/scope.ts';
import {
  createdFields,
  linkField,
  listField,
  projectField,
  updateTimeField,
} from '../schema/fields.ts';
import { enumOf, enumType } from '../schema/inputs.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { builder } from '../schema/schema-builder.ts';
import { Installation, Integration, Operation, Operations, Project } from '../schema/types.ts';

export const OperationActionType = enumType('OperationActionType', 'What an operation does.', {
  READ: "Reads a provider's records.",
  WRITE: 'Writes records to a provider.',
  SUBSCRIBE: "Sets up a subscription to a provider's events.",
});

type OperationFacts = Metadata & { operation: Row<'Operation'> };

const OperationProgress = builder
  .objectRef<NonNullable<Metadata['progress']> & { operation: Row<'Operation'> }>(
    'OperationProgress',
  )
  .implement({
    description: 'The progress of a read.',
    fields: (t) => ({
      operationId: t.id({
        description: 'The id of the operation.',
        resolve: ({ operation }) => operation.id,
      }),
      installationId: t.id({
        description: 'The id of the installation that reads.',
        resolve: ({ operation }) => operation.installationId,
      }),
      objectName: t.exposeString('objectName', {
        description: 'The name of the object that it reads.',
      }),
      recordsProcessed: t.exposeInt('recordsProcessed', {
        description: 'How many records were read so far.',
      }),
      recordsEstimatedTotal: t.exposeInt('recordsEstimatedTotal', {
        nullable: true,
        description: 'How many records there are; null if the provider does not report it.',
      }),
    }),
  });

const OperationRetry = builder
  .objectRef<NonNullable<Metadata['retry']>>('OperationRetry')
  .implement({
    description: 'The attempts of an operation.',
    fields: (t) => ({
      attempts: t.exposeInt('attempts', { description: 'How many attempts there were so far.' }),
      lastAttemptTime: t.expose('lastAttempt', {
        type: 'DateTime',
        nullable: true,
        description: 'When the last attempt began.',
      }),
    }),
  });

const OperationMetadata = builder.objectRef<OperationFacts>('OperationMetadata').implement({
  description: 'Objects, progress, attempts and written records of an operation.',
  fields: (t) => ({
    objects: t.exposeStringList('objects', {
      description: 'The names of the objects that it reads or writes.',
    }),
    progress: t.field({
      type: OperationProgress,
      nullable: true,
      description: 'The progress of a read. Null for other operations.',
      resolve: ({ progress, operation }) => progress && { ...progress, operation },
    }),
    successfulRecordIds: t.exposeStringList('successfulRecordIds', {
      description: "For a write: the provider's ids of the records that were written.",
    }),
    retry: t.expose('retry', {
      type: OperationRetry,
      nullable: true,
      description: 'The attempts, if there was more than one.',
    }),
  }),
});

Operation.implement({
  description:
    'A read, a write or a subscription at a provider, and its outcome. It stays when its installation is deleted, for RETENTION_DAYS of the server.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    integrationId: t.exposeID('integrationId', { description: 'The id of its integration.' }),
    integration: linkField(t, {
      type: Integration,
      table: 'Integration',
      column: 'integrationId',
      description: 'Its integration; null if that has been deleted.',
    }),
    installationId: t.exposeID('installationId', {
      description: 'The id of its installation.',
    }),
    installation: linkField(t, {
      type: Installation,
      table: 'Installation',
      column: 'installationId',
      description: 'Its installation; null if that has been deleted.',
    }),
    configId: t.exposeID('configId', {
      description: 'The id of the config that the installation had when the operation began.',
    }),
    actionType: t.expose('actionType', {
      type: OperationActionType,
      description: 'Whether it reads, writes or subscribes.',
    }),
    status: t.field({
      type: enumOf(operationStatus),
      description: 'Whether it is in progress, has succeeded or has failed.',
      resolve: ({ status }) => toOperationStatus(status),
    }),
    result: t.exposeString('result', {
      nullable: true,
      description: 'The outcome, for people. While it is in progress: what it waits for, or null.',
    }),
    metadata: t.field({
      type: OperationMetadata,
      description: 'Its objects, progress, attempts and written records.',
      resolve: (operation) => ({ ...parseOperationMetadata(operation), operation }),
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'operations', (t) =>
  listField(t, Operations, {
    args: parsedArgs(t.arg, projectOperationFilters),
    exclusive: OPERATION_EXCLUSIVE,
    list: listOperations,
  }),
);

builder.objectField(Installation, 'operations', (t) =>
  listField(t, Operations, {
    args: parsedArgs(t.arg, operationFilters),
    list: listInstallationOperations,
  }),
);
