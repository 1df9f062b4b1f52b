/** Operations as answers show them. */
import { z } from 'zod';
import { metadataOf } from '../../domain/operation/operation.ts';
import type { Row } from '../../domain/scope.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

const STATUSES = ['IN_PROGRESS', 'SUCCESS', 'FAILURE'] as const;
const ACTION_TYPES = ['READ', 'WRITE', 'SUBSCRIBE'] as const;

export const operationStatus = words('OperationStatus', STATUSES);

/** What lists may be asked for. */
export const operationFilters = {
  status: z
    .enum(STATUSES)
    .meta({ id: 'OperationStatus' })
    .optional()
    .describe('Only those of this status.'),
  actionType: z
    .enum(ACTION_TYPES)
    .meta({ id: 'OperationActionType' })
    .optional()
    .describe('Only those of this kind.'),
};

const metadata = z
  .object({
    objects: z.array(z.string()).describe('The objects that it is about.'),
    progress: z
      .object({
        installationId: z.string().describe('The installation that is read.'),
        operationId: z.string().describe('This operation.'),
        objectName: z.string().describe('The object that is read.'),
        recordsProcessed: z.int().describe('Records read so far.'),
        recordsEstimatedTotal: z.int().optional().describe('In all, where the provider can tell.'),
      })
      .optional()
      .describe('For a read: how far it has come.'),
    successfulRecordIds: z
      .array(z.string())
      .describe("For a write: the provider's ids of the records that were written."),
    retry: z
      .object({
        attempts: z.int().describe('Attempts so far.'),
        lastAttempt: z.date().optional().describe('When the last of them was made.'),
      })
      .optional()
      .describe('How often it was tried, where it was tried again.'),
  })
  .describe('What is known of it beside its status.');

export const operation = resource('Operation', 'One piece of provider work.', {
  ...createdShape,
  integrationId: z.string().describe('The integration that it is for.'),
  installationId: z.string().describe('The installation that it is for.'),
  configId: z.string().describe("The installation's config in force then."),
  actionType: words('OperationActionType', ACTION_TYPES).describe('What it does.'),
  status: operationStatus.describe('How far it has come.'),
  result: z.string().optional().describe('What came of it, for people; not while it runs.'),
  metadata,
  ...updateTimeShape,
});

export function showOperation(row: Row<'Operation'>) {
  const { id: operationId, installationId } = row;
  const { progress, ...rest } = metadataOf(row);
  return {
    ...row,
    actionType: wordOf('OperationActionType', row.actionType),
    status: wordOf('OperationStatus', row.status),
    result: row.result ?? undefined,
    metadata: { ...rest, progress: progress && { installationId, operationId, ...progress } },
    updateTime: row.updateTime ?? undefined,
  };
}
