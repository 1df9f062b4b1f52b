/** Operations: pieces of provider work, and what came of them. They outlive what they were done for. */
import { z } from 'zod';
import type { OperationActionType, OperationStatus } from '../../database/generated/enums.ts';
import type { Row } from '../../database/rows.ts';
import type { Call } from '../call.ts';
import { listPage, type PageArgs } from '../page.ts';
import { authorize } from '../viewer/viewer.ts';

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

export interface OperationFilters {
  status?: OperationStatus | null | undefined;
  actionType?: OperationActionType | null | undefined;
}

export function metadataOf(operation: Row<'Operation'>): OperationMetadata {
  return operationMetadata.parse(operation.metadata);
}

export function listOperations(
  call: Call,
  { id: projectId }: Row<'Project'>,
  { status, actionType, ...args }: PageArgs & OperationFilters,
) {
  authorize(call.viewer, 'read');
  const where = { projectId, ...(status && { status }), ...(actionType && { actionType }) };
  const list = { name: 'Project.operations', parentId: projectId, where } as const;
  return listPage(call, { ...list, table: 'Operation' }, args);
}

export function listInstallationOperations(
  call: Call,
  { id: installationId }: Row<'Installation'>,
  { status, actionType, ...args }: PageArgs & OperationFilters,
) {
  authorize(call.viewer, 'read');
  const where = { installationId, ...(status && { status }), ...(actionType && { actionType }) };
  const list = { name: 'Installation.operations', parentId: installationId, where } as const;
  return listPage(call, { ...list, table: 'Operation' }, args);
}
