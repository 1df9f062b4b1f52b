/** The status of deliveries in the API. The database stores RETRYING as PENDING with `isRetrying`. */
import type { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { enumeration } from '../resource.ts';

export const deliveryStatus = enumeration('DeliveryStatus', 'How far a delivery has come.', {
  PENDING: 'No attempt has been made yet.',
  RETRYING: 'An attempt has failed, and another attempt follows.',
  SUCCEEDED: 'The destination responded to an attempt with a 2xx status.',
  FAILED: 'Failed permanently: no attempt follows. Use `retryDelivery` to send it again.',
});

export type DeliveryStatus = z.output<typeof deliveryStatus>;

export const DELIVERY_STATUSES = deliveryStatus.options;

type StoredStatus = Pick<Row<'Delivery'>, 'status' | 'isRetrying'>;

export function toDeliveryStatus({ status, isRetrying }: StoredStatus): DeliveryStatus {
  return isRetrying ? 'RETRYING' : status;
}

/**
 * Returns the stored columns of deliveries with one of these statuses. Several statuses together must be all
 * of them, or PENDING and RETRYING.
 */
export function toStoredStatus(statuses: readonly DeliveryStatus[]) {
  const storedStatuses = statuses.map((status) => (status === 'RETRYING' ? 'PENDING' : status));
  const isRetrying = statuses.map((status) => status === 'RETRYING');
  return { status: [...new Set(storedStatuses)], isRetrying: [...new Set(isRetrying)] };
}
