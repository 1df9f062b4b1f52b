/** Operations: pieces of provider work and their outcomes. They outlive their installations. */
import { z } from 'zod';
import type { OperationActionType } from '../../database/generated/enums.ts';
import type { Row } from '../../database/rows.ts';
import { projectRead } from '../declared-read.ts';
import {
  computed,
  createdInProject,
  enumeration,
  idField,
  resource,
  updateTime,
} from '../resource.ts';
import { getProjectRow } from '../scope.ts';
import { orEndUser } from '../viewer/needs.ts';
import { operationStatus, toOperationStatus } from './operation-status.ts';

/** The stored metadata of an operation. */
export const operationMetadata = z.object({
  objects: z.array(z.string()),
  progress: z
    .object({
      objectName: z.string(),
      recordsProcessed: z.int(),
      recordsEstimatedTotal: z.int().optional(),
    })
    .optional(),
  successfulRecordIds: z.array(z.string()).default([]),
  retry: z
    .object({
      attempts: z.int(),
      lastAttempt: z.iso
        .datetime()
        .transform((text) => new Date(text))
        .optional(),
    })
    .optional(),
});

export type StoredOperationMetadata = z.input<typeof operationMetadata>;
export type OperationMetadata = z.output<typeof operationMetadata>;

export function parseOperationMetadata(operation: Row<'Operation'>): OperationMetadata {
  return operationMetadata.parse(operation.metadata);
}

export const operationActionType = enumeration('OperationActionType', 'What an operation does.', {
  READ: "Reads a provider's records.",
  WRITE: 'Writes records to a provider.',
  SUBSCRIBE: "Sets up a subscription to a provider's events.",
} satisfies Record<OperationActionType, string>);

export const operationProgressResource = resource('OperationProgress', 'The progress of a read.', {
  operationId: idField.describe('The id of the read operation.'),
  installationId: idField.describe('The id of the installation that reads.'),
  objectName: z.string().describe("The provider's name of the object."),
  recordsProcessed: z.int().describe('The number of records that were read so far.'),
  recordsEstimatedTotal: z
    .int()
    .nullable()
    .describe('The total number of records. Null if the provider does not report it.'),
});

const operationRetryResource = resource('OperationRetry', 'The attempts of an operation.', {
  attempts: z.int().describe('The number of attempts so far.'),
  lastAttemptTime: computed(
    z.date().nullable().describe('When the last attempt began.').meta({ wireName: 'lastAttempt' }),
    ({ lastAttempt }: NonNullable<OperationMetadata['retry']>) => lastAttempt ?? null,
  ),
});

const operationMetadataResource = resource(
  'OperationMetadata',
  'Objects, progress, attempts and written records of an operation.',
  {
    objects: z.array(z.string()).describe('The names of the objects that it reads or writes.'),
    progress: operationProgressResource
      .nullable()
      .describe('The progress of a read. Null for other operations.'),
    successfulRecordIds: z
      .array(z.string())
      .describe("For a write: the provider's ids of the records that were written."),
    retry: operationRetryResource.nullable().describe('The attempts. Null if there was only one.'),
  },
);

export const operationResource = resource(
  'Operation',
  'A read, a write or a subscription at a provider, and its outcome. It is kept for the number of days in the server setting RETENTION_DAYS, even if its installation is deleted.',
  {
    ...createdInProject,
    integrationId: idField.describe('The id of its integration.'),
    installationId: idField.describe('The id of its installation.'),
    configId: idField.describe(
      'The id of the config that the installation had when the operation began.',
    ),
    actionType: operationActionType.describe('Whether it reads, writes or subscribes.'),
    status: computed(
      operationStatus.describe('Whether it is in progress, has succeeded or has failed.'),
      ({ status }: Row<'Operation'>) => toOperationStatus(status),
    ),
    result: z
      .string()
      .nullable()
      .describe(
        'The human-readable outcome. For an operation in progress, the reason why it waits, or null.',
      ),
    metadata: computed(
      operationMetadataResource.describe('Its objects, progress, attempts and written records.'),
      (row: Row<'Operation'>) => {
        const { progress, ...metadata } = parseOperationMetadata(row);
        const { id: operationId, installationId } = row;
        return { ...metadata, progress: progress && { operationId, installationId, ...progress } };
      },
    ),
    updateTime,
  },
);

export const getOperation = projectRead(
  orEndUser('read'),
  'Gets an operation with its status, its progress and its result.',
  (call, { operationId: id }: { operationId: string }, { id: projectId }) =>
    getProjectRow(call, 'Operation', { projectId, id, noun: 'Operation' }),
);
