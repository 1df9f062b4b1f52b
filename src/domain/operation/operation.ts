/** Operations: pieces of provider work, and what came of them. They outlive their installations. */

import { z } from 'zod';
import { OperationActionType, OperationStatus } from '../../database/generated/enums.ts';
import type { Row, Where } from '../../database/rows.ts';
import type { Call } from '../call.ts';
import { projectRead, read } from '../declared-read.ts';
import type { FiltersOf, PageArgs } from '../paging/page.ts';
import { listPage } from '../paging/page-of-rows.ts';
import { getOwned } from '../scope.ts';
import { orEndUser } from '../viewer/needs.ts';

/** What is known of an operation beside its status, as its row stores it. */
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

/** To be stored. */
export type StoredOperationMetadata = z.input<typeof operationMetadata>;
export type OperationMetadata = z.output<typeof operationMetadata>;

export const operationFilters = z.object({
  status: z
    .enum(OperationStatus)
    .meta({ id: 'OperationStatus' })
    .optional()
    .describe('Only operations of this status.'),
  actionType: z
    .enum(OperationActionType)
    .meta({ id: 'OperationActionType' })
    .optional()
    .describe('Only operations of this type.'),
});
type OperationFilters = FiltersOf<typeof operationFilters>;

export function metadataOf(operation: Row<'Operation'>): OperationMetadata {
  return operationMetadata.parse(operation.metadata);
}

export const getOperation = projectRead(
  orEndUser('read'),
  (call, { operationId: id }: { operationId: string }, { id: projectId }) =>
    getOwned(call, 'Operation', { projectId, id, what: 'Operation' }),
);

export const listOperations = read(
  orEndUser('read'),
  (
    call: Call,
    { id: projectId }: Row<'Project'>,
    { status, actionType, ...args }: PageArgs & OperationFilters,
  ) => {
    const where = { projectId, ...filterOf(status, actionType) };
    const along = ['projectId', 'status', 'actionType'] as const;
    const list = { name: 'Project.operations', parentId: projectId, where, along } as const;
    return listPage(call, { ...list, table: 'Operation' }, args);
  },
);

export const listInstallationOperations = read(
  orEndUser('read'),
  (
    call: Call,
    { id: installationId }: Row<'Installation'>,
    { status, actionType, ...args }: PageArgs & OperationFilters,
  ) => {
    const where = { installationId, ...filterOf(status, actionType) };
    const along = ['installationId', 'actionType', 'status'] as const;
    const list = {
      name: 'Installation.operations',
      parentId: installationId,
      where,
      along,
    } as const;
    return listPage(call, { ...list, table: 'Operation' }, args);
  },
);

/** One index has both columns: if one filter is left out, each of its values is a range of that index. */
function filterOf(
  status: OperationFilters['status'],
  actionType: OperationFilters['actionType'],
): Where<'Operation'> {
  if (!status && !actionType) return {};
  return {
    status: status ?? Object.values(OperationStatus),
    actionType: actionType ?? Object.values(OperationActionType),
  };
}
