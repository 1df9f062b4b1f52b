/** Deliveries: messages owed to destinations, and what came of them. */

import { z } from 'zod';
import type { Database } from '../../database/database.ts';
import { keyColumns, type RowKey } from '../../database/row-keys.ts';
import type { Row } from '../../database/rows.ts';
import { run, statements } from '../../database/statements.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { conflict, notFound } from '../../errors.ts';
import { announceRecorded } from '../../events/channel.ts';
import { id } from '../../ids.ts';
import { projectMutation } from '../declared-mutation.ts';
import { projectRead } from '../declared-read.ts';
import { projectIdOrName } from '../names.ts';
import { type Batch, getOwned } from '../scope.ts';

export type DeliveryAttempt = Row<'DeliveryAttempt'>;

/** More than the retry schedule has; a delivery that callers retried again shows its newest. */
const ATTEMPTS_SHOWN = 100;
/** Rows that one statement changes: it neither runs nor locks for long. */
const ROWS_PER_STATEMENT = 5_000;

export const retryDeliveryInput = z
  .object({ projectIdOrName, deliveryId: id.describe('The id of the delivery.') })
  .meta({ id: 'RetryDeliveryInput', description: 'The delivery to send again.' });

export const getDelivery = projectRead(
  'read',
  (call, { deliveryId: id }: { deliveryId: string }, { id: projectId }) =>
    getOwned(call, 'Delivery', { projectId, id, what: 'Delivery' }),
);

/** The newest attempts of deliveries that the viewer has been given, in the order of their numbers. */
export const attemptsOf: Batch<Row<'Delivery'>, DeliveryAttempt[]> = async (
  { database },
  deliveries,
) => {
  const ids = deliveries.map((delivery) => delivery.id);
  const attempts = await database.rows.query<DeliveryAttempt>(NEWEST_ATTEMPTS, [
    ...keyColumns(deliveries),
    ATTEMPTS_SHOWN,
  ]);
  const byDelivery = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  return ids.map((deliveryId) =>
    (byDelivery.get(deliveryId) ?? []).sort((a, b) => a.attemptNumber - b.attemptNumber),
  );
};

const NEWEST_ATTEMPTS = `
  select a.* from unnest($1::text[], $2::text[]) as d("projectId", "id") cross join lateral (
    select * from "DeliveryAttempt" where "projectId" = d."projectId" and "deliveryId" = d."id"
    order by "attemptNumber" desc limit $3) a`;

/** Makes it due now, also if it has succeeded or failed. */
export const retryDelivery = projectMutation({
  needs: 'events:write',
  input: retryDeliveryInput,
  async run(call, input, { id: projectId }): Promise<Row<'Delivery'>> {
    const now = call.now();
    return inTransaction(call.database, async (tx) => {
      const where = { projectId_id: { projectId, id: input.deliveryId } };
      const delivery = await tx.delivery.findUnique({ where, select: { destinationId: true } });
      if (!delivery) throw notFound('Delivery', input.deliveryId);
      await keepDestination(tx, { projectId, id: delivery.destinationId });
      const again = {
        status: 'PENDING',
        nextAttemptTime: now,
        afterId: null,
        failureReason: null,
      } as const;
      const data = { ...again, updateTime: now };
      return tx.delivery.update({ where, data, omit: { body: true } });
    });
  },
});

/** It can't be deleted until the transaction ends. */
async function keepDestination(tx: Transaction, { projectId, id }: RowKey): Promise<void> {
  const found = await run(
    tx,
    statements
      .selectFrom('Destination')
      .select('id')
      .where('projectId', '=', projectId)
      .where('id', '=', id)
      .forKeyShare(),
  );
  if (found.length === 0) throw conflict('The destination of the delivery has been deleted.');
}

/**
 * Makes all pending deliveries to the destination due now, in parts: whatever is cut off, the others are due at their
 * times.
 */
export async function releasePending(
  database: Database,
  { id: destinationId, projectId }: RowKey,
  now: Date,
): Promise<void> {
  for (let released = ROWS_PER_STATEMENT; released === ROWS_PER_STATEMENT; ) {
    released = await inTransaction(database, async (tx) => {
      announceRecorded(tx, projectId);
      const { count } = await tx.delivery.updateMany({
        where: {
          projectId,
          destinationId,
          status: 'PENDING',
          // Others are released by the one before them.
          afterId: null,
          OR: [{ nextAttemptTime: null }, { nextAttemptTime: { gt: now } }],
        },
        data: { nextAttemptTime: now, updateTime: now },
        limit: ROWS_PER_STATEMENT,
      });
      return count;
    });
  }
}
