/** The status of operations in the API. The database stores the words of the reference API. */
import type { z } from 'zod';
import type { OperationStatus as StoredStatus } from '../../database/generated/enums.ts';
import { enumeration } from '../resource.ts';

export const operationStatus = enumeration('OperationStatus', 'The status of an operation.', {
  IN_PROGRESS: 'It waits, runs, or will be retried.',
  SUCCEEDED: 'It ended with success. A write needs at least one written record.',
  FAILED: 'It ended without success: `result` has the reason.',
});

export type OperationStatus = z.output<typeof operationStatus>;

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
