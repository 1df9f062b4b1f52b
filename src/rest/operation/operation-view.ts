/** Operations as responses show them. */
import { z } from 'zod';
import { parseOperationMetadata } from '../../domain/operation/operation.ts';
import type { Row } from '../../domain/scope.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

const STATUSES = ['IN_PROGRESS', 'SUCCESS', 'FAILURE'] as const;
const ACTION_TYPES = ['READ', 'WRITE', 'SUBSCRIBE'] as const;

export const operationStatus = words('OperationStatus', STATUSES);

/** The progress of a read, wherever a response contains it. */
export const progressShape = {
  installationId: z.string().describe('The id of the installation that reads.'),
  operationId: z.string().describe('The id of the operation that reads and has the outcome.'),
  objectName: z.string().describe("The provider's name of the object."),
  recordsProcessed: z.int().describe('How many records were read so far.'),
  recordsEstimatedTotal: z
    .int()
    .optional()
    .describe('The number of records. Absent if the provider does not report it.'),
};

const metadata = z
  .object({
    objects: z.array(z.string()).describe('The names of the objects that it reads or writes.'),
    progress: z.object(progressShape).optional().describe('For a read: how far it has come.'),
    successfulRecordIds: z
      .array(z.string())
      .describe("For a write: the provider's ids of the records that were written."),
    retry: z
      .object({
        attempts: z.int().describe('How many attempts were made so far.'),
        lastAttempt: z.date().optional().describe('When the last attempt began.'),
      })
      .optional()
      .describe('The attempts, if there was more than one.'),
  })
  .describe('Its objects, progress, attempts and written records.');

export const operation = resource(
  'Operation',
  'The operation: a read, a write or a subscription at a provider, and its outcome.',
  {
    ...createdShape,
    integrationId: z.string().describe('The id of its integration.'),
    installationId: z.string().describe('The id of its installation.'),
    configId: z
      .string()
      .describe('The id of the config that the installation had when the operation began.'),
    actionType: words('OperationActionType', ACTION_TYPES).describe(
      'Whether it reads, writes or subscribes.',
    ),
    status: operationStatus.describe('Whether it is in progress, has succeeded or has failed.'),
    result: z
      .string()
      .optional()
      .describe(
        'The outcome, for people. While the operation is in progress, the reason why it waits, or absent.',
      ),
    metadata,
    ...updateTimeShape,
  },
);

export function showOperation(row: Row<'Operation'>) {
  const { id: operationId, installationId } = row;
  const { progress, ...rest } = parseOperationMetadata(row);
  return {
    ...row,
    actionType: wordOf('OperationActionType', row.actionType),
    status: wordOf('OperationStatus', row.status),
    result: row.result ?? undefined,
    metadata: { ...rest, progress: progress && { installationId, operationId, ...progress } },
    updateTime: row.updateTime ?? undefined,
  };
}
