/** Operations: pieces of provider work and their outcomes. They outlive their installations. */
import { z } from 'zod';
import type {
  LogSeverity,
  OperationActionType,
  OperationStatus as StoredStatus,
} from '../../../database/generated/enums.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { Text } from '../../../kernel/text.ts';
import type { Call, RowCall } from '../../access/call.ts';
import { projectRead, read } from '../../access/declared-read.ts';
import type { PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { getProjectRow } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import {
  computed,
  createdInProject,
  enumeration,
  idField,
  jsonObject,
  resource,
  updateTime,
} from '../../base/resource.ts';
import { printedColumn, printTexts } from '../../base/stored-text.ts';

/** The status of operations in the API. The database stores the words of the reference API. */
export const operationStatus = enumeration('OperationStatus', 'The status of an operation.', {
  IN_PROGRESS: 'It waits, runs, or will be retried.',
  SUCCEEDED: 'It ended with success. A write needs at least one written record.',
  FAILED: 'It ended without success: `result` has the reason.',
});

type OperationStatus = z.output<typeof operationStatus>;

const STORED_STATUSES = {
  IN_PROGRESS: 'IN_PROGRESS',
  SUCCEEDED: 'SUCCESS',
  FAILED: 'FAILURE',
} as const satisfies Record<OperationStatus, StoredStatus>;

export function toStoredOperationStatus(status: OperationStatus): StoredStatus {
  return STORED_STATUSES[status];
}

export function toOperationStatus(stored: StoredStatus): OperationStatus {
  if (stored === 'SUCCESS') return 'SUCCEEDED';
  return stored === 'FAILURE' ? 'FAILED' : stored;
}

const OMITTED_NAMES =
  'in the input that are not written, because the installation does not map or write them. A write over REST also omits names that the integration does not have.';
/** The description of the omitted names of a write. `listOmittedFields` limits them. */
export const OMITTED_FIELDS = `At most 200 distinct names, each cut at 256 characters: names ${OMITTED_NAMES}`;
/** The description of the omitted names of one record, which are all listed. */
export const OMITTED_FIELDS_OF_RECORD = `Names ${OMITTED_NAMES}`;

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
  omittedFields: z.array(z.string()).default([]),
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
type OperationMetadata = z.output<typeof operationMetadata>;

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
    .describe('The total number of records. {Null} if the provider does not report it.'),
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
      .describe('The progress of a read. {Null} for other operations.'),
    successfulRecordIds: z
      .array(z.string())
      .describe("For a write: the provider's ids of the records that were written."),
    omittedFields: z.array(z.string()).describe(OMITTED_FIELDS),
    retry: operationRetryResource
      .nullable()
      .describe('The attempts. {Null} if there was only one.'),
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
      'The id of the config that the installation had when the operation began. `node` of GraphQL returns the config.',
    ),
    actionType: operationActionType.describe('Whether it reads, writes or subscribes.'),
    status: computed(
      operationStatus.describe('Whether it is in progress, has succeeded or has failed.'),
      ({ status }: Row<'Operation'>) => toOperationStatus(status),
    ),
    result: printedColumn(
      'result',
      z
        .string()
        .nullable()
        .describe(
          'The human-readable outcome. For an operation in progress, the reason why it waits, or {null}.',
        ),
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

export type OperationLog = Row<'OperationLog'>;

const logSeverity = enumeration('LogSeverity', 'The severity of a line of an operation log.', {
  DEBUG: 'A detail that helps to find a cause.',
  INFO: 'A step of the work.',
  WARNING: 'A failure that did not stop the work.',
  ERROR: 'A failure that stopped the work, or a part of it.',
} satisfies Record<LogSeverity, string>);

export const operationLogResource = resource('OperationLog', 'A line of the log of an operation.', {
  createTime: computed(
    z.date().describe('When the line was written.').meta({ wireName: 'timestamp' }),
    ({ timestamp }: OperationLog) => timestamp,
  ),
  severity: logSeverity.describe('The severity of the line.'),
  message: printedColumn('message', z.string().describe('A human-readable message.')),
  details: computed(
    jsonObject.nullable().describe('Facts about the line, by name.'),
    ({ details }: OperationLog, call: RowCall) => printDetails(call, details),
  ),
});

/** Prints the errors of a write, which are the only details that are texts. */
export function printDetails(call: RowCall, details: OperationLog['details']): object | null {
  const { errors } = (details ?? {}) as { errors?: unknown };
  if (!Array.isArray(errors)) return details as object | null;
  return { ...(details as object), errors: printTexts(call, errors as Text[]) };
}

export const listOperationLogs = read(
  'read',
  'Lists the log of an operation, oldest line first.',
  (call: Call, operation: Row<'Operation'>, args: PageArgs) => {
    const where = { projectId: operation.projectId, operationId: operation.id };
    const list = { name: 'Operation.logs', parentId: operation.id, where } as const;
    return listPage(call, { ...list, table: 'OperationLog', order: 'oldest first' }, args);
  },
);
