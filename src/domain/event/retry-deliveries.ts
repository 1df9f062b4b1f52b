/** Retries many deliveries of a project with one call. */
import { z } from 'zod';
import { DeliveryStatus } from '../../database/generated/enums.ts';
import { inTransaction } from '../../database/transaction.ts';
import { invalid } from '../../errors.ts';
import { announceRecorded } from '../../events/channel.ts';
import { id } from '../../ids.ts';
import type { Call } from '../call.ts';
import { projectMutation } from '../declared-mutation.ts';
import { projectIdOrName } from '../names.ts';
import { idAfter, idBefore, spanOf, timeRange } from '../paging/created-range.ts';
import { getOwned } from '../scope.ts';

/** The most deliveries that one call retries, so that it takes a few seconds at most. */
const RETRIED_MAX = 10_000;
/** Rows that one statement changes. */
const ROWS_PER_STATEMENT = 1_000;

export const retryDeliveriesInput = z
  .object({
    projectIdOrName,
    destinationId: id
      .optional()
      .describe(
        'Only deliveries to the destination with this id. Default: to all that still exist.',
      ),
    status: z
      .enum(DeliveryStatus)
      .meta({ id: 'DeliveryStatus' })
      .default('FAILED')
      .describe('Only deliveries of this status. Default: FAILED.'),
    createTime: timeRange.optional().describe('Only deliveries that were created in this time.'),
  })
  .meta({
    id: 'RetryDeliveriesInput',
    description: `The deliveries to send again, oldest first, at most ${RETRIED_MAX.toLocaleString('en')} in one call.`,
  });

export interface RetriedDeliveries {
  count: number;
  hasMore: boolean;
}

type Selection = Omit<z.output<typeof retryDeliveriesInput>, 'projectIdOrName'>;

/**
 * Makes the deliveries due immediately, one destination after another. Deliveries that wait for an earlier one keep
 * their order.
 */
export const retryDeliveries = projectMutation({
  description:
    'Sends many deliveries again now, for example after an outage. Those to deleted destinations stay as they are.',
  needs: 'events:write',
  input: retryDeliveriesInput,
  async run(call, selection, { id: projectId }): Promise<RetriedDeliveries> {
    const now = call.now();
    let count = 0;
    for (const destinationId of await destinationsOf(call, projectId, selection)) {
      for (let changed = ROWS_PER_STATEMENT; changed === ROWS_PER_STATEMENT; ) {
        if (count >= RETRIED_MAX) return { count, hasMore: true };
        changed = await retrySome(call, { projectId, destinationId, now }, selection);
        count += changed;
      }
    }
    return { count, hasMore: false };
  },
});

/**
 * Returns the ids of the destinations. Throws NOT_FOUND if the input names one that does not exist, BAD_USER_INPUT if
 * it is a stream.
 */
async function destinationsOf(
  call: Call,
  projectId: string,
  { destinationId: id }: Selection,
): Promise<string[]> {
  if (id !== undefined) {
    const named = await getOwned(call, 'Destination', { projectId, id, what: 'Destination' });
    if (named.type !== 'STREAM') return [id];
    throw invalid('input.destinationId', 'is a stream: it has no deliveries.', id);
  }
  const all = await call.database.rows.find('Destination', { projectId, type: 'WEBHOOK' });
  return all.map((destination) => destination.id).sort();
}

interface RetryTarget {
  projectId: string;
  destinationId: string;
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
        and "id" > $4 and "id" < $5 and "createTime" >= $6 and "createTime" < $7
        and ($3 <> 'PENDING' or "afterId" is null and ("nextAttemptTime" is null or "nextAttemptTime" > $8))
      order by "id" limit ${ROWS_PER_STATEMENT}) d
  )
  update "Delivery" set "status" = 'PENDING', "nextAttemptTime" = $8, "failureReason" = null, "updateTime" = $8
  where "projectId" = $1 and "id" = any(array(select "id" from again)) and "status" = $3::"DeliveryStatus"
  returning 1`;

function retrySome(
  { database }: Call,
  { projectId, destinationId, now }: RetryTarget,
  { status, createTime }: Selection,
): Promise<number> {
  const { from = new Date(0), until = LATEST } = spanOf(createTime) ?? {};
  const range = [idBefore('dlv', from), idAfter('dlv', until), from, until];
  return inTransaction(database, async (tx) => {
    const values = [projectId, destinationId, status, ...range, now];
    const changed = await tx.$queryRawUnsafe<unknown[]>(RETRY, ...values);
    announceRecorded(tx, projectId);
    return changed.length;
  });
}

/** Later than every row, and still a time that ids can encode. */
const LATEST = new Date('9999-01-01T00:00:00Z');
