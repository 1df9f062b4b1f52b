/** Operations: pieces of provider work and their outcomes. They outlive their installations. */

import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { projectRead } from '../declared-read.ts';
import { getOwned } from '../scope.ts';
import { orEndUser } from '../viewer/needs.ts';

/** The stored facts of an operation besides its status. */
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

/** The metadata in the form of the database column. */
export type StoredOperationMetadata = z.input<typeof operationMetadata>;
export type OperationMetadata = z.output<typeof operationMetadata>;

export function parseOperationMetadata(operation: Row<'Operation'>): OperationMetadata {
  return operationMetadata.parse(operation.metadata);
}

export const getOperation = projectRead(
  orEndUser('read'),
  'Gets an operation with its status, its progress and its result.',
  (call, { operationId: id }: { operationId: string }, { id: projectId }) =>
    getOwned(call, 'Operation', { projectId, id, what: 'Operation' }),
);
