/** Deliveries: messages for destinations, and their outcomes. */
import { z } from 'zod';
import type { Database } from '../../database/open/database.ts';
import { type RowKey, toKeyColumns } from '../../database/statements/row-keys.ts';
import { run, sqlStatement, statements } from '../../database/statements/statements.ts';
import type { Row } from '../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../database/transactions/transaction.ts';
import { notifyEvents } from '../../events/channel.ts';
import { conflict, notFound } from '../../kernel/errors.ts';
import { id } from '../../kernel/ids.ts';
import type { Call } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { projectRead } from '../access/declared-read.ts';
import { createRelations, loaded } from '../access/relations.ts';
import { type Batch, getProjectRow } from '../access/scope.ts';
import { projectIdOrName } from '../base/names.ts';
import { computed, createdFields, enumeration, idField, resource } from '../base/resource.ts';
import { loadChangeMessages, measureBodies } from './payload.ts';

/** The status of deliveries in the API. The database stores RETRYING as PENDING with `isRetrying`. */
export const deliveryStatus = enumeration('DeliveryStatus', 'How far a delivery has come.', {
  PENDING: 'No attempt has been made yet.',
  RETRYING: 'An attempt has failed, and another attempt follows.',
  SUCCEEDED: 'The destination responded to an attempt with a 2xx status.',
  FAILED: 'Failed permanently: no attempt follows. Use `retryDelivery` to send it again.',
});

export type DeliveryStatus = z.output<typeof deliveryStatus>;

export const DELIVERY_STATUSES = deliveryStatus.options;

const deliveryKind = enumeration('DeliveryKind', 'The kinds of messages.', {
  EVENT: 'A notification event.',
  RECORDS: 'Records of a read.',
  CHANGES: 'Changes of records, which a provider reported.',
  FIELD_CHANGES: 'New, deleted and changed fields of an object.',
  TEST: 'A test message.',
});

/** Returns the kind of a message. Only messages about changes are read for it. */
async function getKind(delivery: Row<'Delivery'>, call: Call): Promise<DeliveryKind> {
  if (delivery.eventId !== null) return 'EVENT';
  if (delivery.operationId !== null) return 'RECORDS';
  const message = await createRelations(call).find(loadChangeMessages, delivery);
  if (!message) return 'TEST';
  return message.action === 'subscribe' ? 'CHANGES' : 'FIELD_CHANGES';
}

type DeliveryKind = z.output<typeof deliveryKind>;

type StoredStatus = Pick<Row<'Delivery'>, 'status' | 'isRetrying'>;

function toDeliveryStatus({ status, isRetrying }: StoredStatus): DeliveryStatus {
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

export type DeliveryAttempt = Row<'DeliveryAttempt'>;

/** More attempts than the retry schedule has. A delivery has more only if callers retry it often. */
const ATTEMPTS_SHOWN = 100;
/** The maximum number of rows that one statement changes, so that it holds its locks only briefly. */
const ROWS_PER_STATEMENT = 5_000;

export const deliveryAttemptResource = resource(
  'DeliveryAttempt',
  'One attempt to send a delivery: an HTTP request to its destination.',
  {
    attemptNumber: z.int().describe('The number of the attempt, from 1.'),
    responseStatus: z
      .int()
      .nullable()
      .describe('The HTTP status of the response. {Null} if there was none.'),
    error: z.string().nullable().describe('Why the attempt failed. {Null} if it succeeded.'),
    durationMs: z.int().describe('How long the attempt took, in milliseconds.'),
    createTime: z.date().describe('When the attempt began.'),
  },
);

const retryDeliveryInput = z
  .object({ projectIdOrName, deliveryId: id.describe('The id of the delivery.') })
  .meta({ id: 'RetryDeliveryInput', description: 'The delivery to retry.' });

export const getDelivery = projectRead(
  'read',
  'Gets a delivery with its attempts.',
  (call, { deliveryId: id }: { deliveryId: string }, { id: projectId }) =>
    getProjectRow(call, 'Delivery', { projectId, id, noun: 'Delivery' }),
);

const NEWEST_ATTEMPTS = sqlStatement<DeliveryAttempt>(`
  select attempt.* from unnest($1::text[], $2::text[]) as delivery("projectId", "id") cross join lateral (
    select * from "DeliveryAttempt" where "projectId" = delivery."projectId" and "deliveryId" = delivery."id"
    order by "attemptNumber" desc limit $3) attempt`);

/** Returns the newest attempts of deliveries that the viewer may see, ordered by number. */
export const listAttempts: Batch<Row<'Delivery'>, DeliveryAttempt[]> = async (
  { database },
  deliveries,
) => {
  const attempts = await database.run(NEWEST_ATTEMPTS, [
    ...toKeyColumns(deliveries),
    ATTEMPTS_SHOWN,
  ]);
  const attemptsByDeliveryId = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  return deliveries.map(({ id }) =>
    (attemptsByDeliveryId.get(id) ?? []).sort((a, b) => a.attemptNumber - b.attemptNumber),
  );
};

export const deliveryResource = resource(
  'Delivery',
  'A message to one destination: a notification event, a page of records, changed fields of an object, or a test. It is retried until it succeeds or runs out of retries.',
  {
    ...createdFields,
    destinationId: idField.describe(
      'The id of the destination. It is kept when the destination is deleted.',
    ),
    kind: computed(deliveryKind.describe('What kind of message it carries.'), getKind),
    objectName: computed(
      z
        .string()
        .nullable()
        .describe(
          'The object whose changes it carries: `objectName` of the message. {Null} for other messages.',
        ),
      async (delivery: Row<'Delivery'>, call: Call) =>
        (await createRelations(call).find(loadChangeMessages, delivery))?.objectName ?? null,
    ),
    status: computed(
      deliveryStatus.describe(
        'Whether it is pending, is being retried, has succeeded, or has failed.',
      ),
      toDeliveryStatus,
    ),
    failureReason: z
      .string()
      .nullable()
      .describe('Why it failed permanently. {Null} if it did not.'),
    attempts: loaded(
      z
        .array(deliveryAttemptResource)
        .describe(
          `The attempts so far, oldest first. If there are more than ${ATTEMPTS_SHOWN}, the newest ${ATTEMPTS_SHOWN}.`,
        ),
      listAttempts,
      (delivery: Row<'Delivery'>) => delivery,
    ),
    nextAttemptTime: z
      .date()
      .nullable()
      .describe('When the next attempt is due. {Null} if none follows.'),
    bodyBytes: loaded(
      z.int().describe('The length of the body, in bytes.'),
      measureBodies,
      (delivery: Row<'Delivery'>) => delivery,
    ),
  },
);

export const retryDelivery = projectMutation({
  description: 'Retries a delivery immediately, even if it has succeeded or failed permanently.',
  needs: 'events:write',
  input: retryDeliveryInput,
  async run(call, input, { id: projectId }): Promise<Row<'Delivery'>> {
    const now = call.now();
    const { deliveryId: id } = input;
    await getProjectRow(call, 'Delivery', { projectId, id, noun: 'Delivery' });
    return inTransaction(call.database, async (tx) => {
      const where = { projectId_id: { projectId, id } };
      const select = { destinationId: true, attemptCount: true } as const;
      const delivery = await tx.delivery.findUnique({ where, select });
      if (!delivery) throw notFound('Delivery', id);
      await lockAgainstDeletion(tx, { projectId, id: delivery.destinationId });
      const data = {
        status: 'PENDING',
        isRetrying: delivery.attemptCount > 0,
        nextAttemptTime: now,
        afterId: null,
        failureReason: null,
        updateTime: now,
      } as const;
      return tx.delivery.update({ where, data, omit: { body: true } });
    });
  },
});

/** Locks the destination against deletion until the transaction ends. Throws CONFLICT if it was deleted. */
async function lockAgainstDeletion(tx: Transaction, { projectId, id }: RowKey): Promise<void> {
  const destinations = await run(
    tx,
    statements
      .selectFrom('Destination')
      .select('id')
      .where('projectId', '=', projectId)
      .where('id', '=', id)
      .forKeyShare(),
  );
  if (destinations.length === 0) throw conflict('The destination of the delivery was deleted.');
}

/**
 * Makes all pending deliveries to the destination due immediately, in several transactions. If it is interrupted, the
 * remaining deliveries keep their scheduled times.
 */
export async function releasePendingDeliveries(
  database: Database,
  { id: destinationId, projectId }: RowKey,
  now: Date,
): Promise<void> {
  let releasedCount: number;
  do {
    releasedCount = await inTransaction(database, async (tx) => {
      notifyEvents(tx, projectId);
      const { count } = await tx.delivery.updateMany({
        where: {
          projectId,
          destinationId,
          status: 'PENDING',
          // A delivery that waits for an earlier one becomes due when the earlier one ends.
          afterId: null,
          OR: [{ nextAttemptTime: null }, { nextAttemptTime: { gt: now } }],
        },
        data: { nextAttemptTime: now, updateTime: now },
        limit: ROWS_PER_STATEMENT,
      });
      return count;
    });
  } while (releasedCount === ROWS_PER_STATEMENT);
}
