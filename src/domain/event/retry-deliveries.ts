/** Retries many deliveries of a project with one call. */
import { z } from 'zod';
import { inTransaction } from '../../database/transaction.ts';
import { invalid } from '../../errors.ts';
import { announceRecorded } from '../../events/channel.ts';
import { id } from '../../ids.ts';
import type { Call } from '../call.ts';
import { projectMutation } from '../declared-mutation.ts';
import { projectIdOrName } from '../names.ts';
import { idAfter, idBefore, timeRange, toSpan } from '../paging/created-range.ts';
import { getOwned } from '../scope.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  deliveryStatus,
  storedStatus,
} from './delivery-status.ts';

/** The most deliveries that one call retries, so that it takes a few seconds at most. */
const RETRIED_MAX = 10_000;
/** Rows that one statement changes. */
const ROWS_PER_STATEMENT = 1_000;

const retryDeliveriesInput = z
  .object({
    projectIdOrName,
    destinationId: id
      .optional()
      .describe(
        'Only deliveries to the destination with this id. Default: deliveries to every existing destination.',
      ),
    statuses: z
      .array(deliveryStatus)
      .min(1)
      .max(DELIVERY_STATUSES.length)
      .default(['FAILED'])
      .describe('Only deliveries with one of these statuses. Default: FAILED.'),
    createTime: timeRange.optional().describe('Only deliveries that were created in this range.'),
  })
  .meta({
    id: 'RetryDeliveriesInput',
    description: `The deliveries to retry, oldest first. One call retries at most ${RETRIED_MAX.toLocaleString('en')}.`,
  });

export interface RetriedDeliveries {
  count: number;
  hasMore: boolean;
}

type Selection = Omit<z.output<typeof retryDeliveriesInput>, 'projectIdOrName'>;

/** Retries one destination after another. Deliveries that wait for an earlier one keep their order. */
export const retryDeliveries = projectMutation({
  description:
    'Retries many deliveries immediately, for example after an outage. Deliveries to deleted destinations are skipped.',
  needs: 'events:write',
  input: retryDeliveriesInput,
  async run(call, selection, { id: projectId }): Promise<RetriedDeliveries> {
    const now = call.now();
    let count = 0;
    for (const destinationId of await listDestinationIds(call, projectId, selection)) {
      for (const status of new Set(selection.statuses)) {
        const target = { projectId, destinationId, status, now };
        for (let changed = ROWS_PER_STATEMENT; changed === ROWS_PER_STATEMENT; ) {
          if (count >= RETRIED_MAX) return { count, hasMore: true };
          changed = await retrySome(call, target, selection);
          count += changed;
        }
      }
    }
    return { count, hasMore: false };
  },
});

/**
 * Returns the ids of the destinations. Throws NOT_FOUND if the input names one that does not exist, BAD_USER_INPUT if
 * it is a stream.
 */
async function listDestinationIds(
  call: Call,
  projectId: string,
  { destinationId: id }: Selection,
): Promise<string[]> {
  if (id !== undefined) {
    const destination = await getOwned(call, 'Destination', { projectId, id, what: 'Destination' });
    if (destination.type !== 'STREAM') return [id];
    throw invalid('input.destinationId', 'is a stream, which has no deliveries.', id);
  }
  const webhooks = await call.database.rows.find('Destination', { projectId, type: 'WEBHOOK' });
  return webhooks.map((destination) => destination.id).sort();
}

interface RetryTarget {
  projectId: string;
  destinationId: string;
  status: DeliveryStatus;
  now: Date;
}

/** Skips deliveries that are already due, so that each statement changes other rows. */
const RETRY = `
  with destination as (
    select "id" from "Destination" where "projectId" = $1 and "id" = $2 for key share
  ), again as (
    select d."id" from destination cross join lateral (
      select "id" from "Delivery"
      where "projectId" = $1 and "destinationId" = destination."id" and "status" = $3::"DeliveryStatus"
        and "isRetrying" = $4 and "id" > $5 and "id" < $6 and "createTime" >= $7 and "createTime" < $8
        and ($3 <> 'PENDING' or "afterId" is null and ("nextAttemptTime" is null or "nextAttemptTime" > $9))
      order by "id" limit ${ROWS_PER_STATEMENT}) d
  )
  update "Delivery" set "status" = 'PENDING', "isRetrying" = "attemptCount" > 0, "nextAttemptTime" = $9,
    "failureReason" = null, "updateTime" = $9
  where "projectId" = $1 and "id" = any(array(select "id" from again)) and "status" = $3::"DeliveryStatus"
  returning 1`;

function retrySome(
  { database }: Call,
  { projectId, destinationId, status, now }: RetryTarget,
  { createTime }: Selection,
): Promise<number> {
  const { from = new Date(0), until = LATEST } = toSpan(createTime) ?? {};
  const range = [idBefore('dlv', from), idAfter('dlv', until), from, until];
  return inTransaction(database, async (tx) => {
    const stored = storedStatus([status]);
    const values = [
      projectId,
      destinationId,
      ...stored.status,
      ...stored.isRetrying,
      ...range,
      now,
    ];
    const changed = await tx.$queryRawUnsafe<unknown[]>(RETRY, ...values);
    announceRecorded(tx, projectId);
    return changed.length;
  });
}

/** Later than every row, and still a time that ids can encode. */
const LATEST = new Date('9999-01-01T00:00:00Z');
