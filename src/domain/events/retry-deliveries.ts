/** Retries many deliveries of a project with one call. */
import { z } from 'zod';
import { run, sqlStatement } from '../../database/statements/statements.ts';
import type { Row } from '../../database/statements/tables.ts';
import { inTransaction } from '../../database/transactions/transaction.ts';
import { notifyEvents } from '../../events/channel.ts';
import { invalid } from '../../kernel/errors.ts';
import { id } from '../../kernel/ids.ts';
import type { RowCall, RowServices } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { read } from '../access/declared-read.ts';
import { getIdAfter, getIdBefore, timeRange, toSpan } from '../access/paging/created-range.ts';
import type { FiltersOf } from '../access/paging/page.ts';
import { getProjectRow } from '../access/scope.ts';
import { projectIdOrName } from '../base/names.ts';
import { resource } from '../base/resource.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  deliveryStatus,
  toStoredStatus,
} from './delivery.ts';

/** The maximum number of deliveries that one call retries, so that it takes a few seconds at most. */
const RETRIED_MAX = 10_000;
const ROWS_PER_STATEMENT = 1_000;
/** After the creation time of every row, and before the last time that ids can encode. */
const CREATE_TIME_END = new Date('9999-01-01T00:00:00Z');

const destinationId = id
  .optional()
  .describe(
    'Only deliveries to the destination with this id. Default: deliveries to every existing destination.',
  );
const createTime = timeRange
  .optional()
  .describe('Only deliveries that were created in this range.');

const statuses = z.array(deliveryStatus).min(1).max(DELIVERY_STATUSES.length);

const retryDeliveriesInput = z
  .object({
    projectIdOrName,
    destinationId,
    statuses: statuses
      .default(['FAILED'])
      .describe('Only deliveries with one of these statuses. Default: FAILED.'),
    createTime,
  })
  .meta({
    id: 'RetryDeliveriesInput',
    description: `The deliveries to retry, oldest first. One call retries at most ${RETRIED_MAX.toLocaleString('en')}.`,
  });

export const retryableInput = z.object({
  destinationId,
  statuses: statuses.describe('Only deliveries with one of these statuses.'),
  createTime,
});

export const retriedDeliveriesResource = resource(
  'RetriedDeliveries',
  'How many deliveries are retried, and whether more match.',
  {
    count: z.int().describe('The number of deliveries that are retried.'),
    hasMore: z.boolean().describe('True if more deliveries match: call `retryDeliveries` again.'),
  },
);

export type RetriedDeliveries = z.output<typeof retriedDeliveriesResource>;

type Selection = Omit<z.output<typeof retryDeliveriesInput>, 'projectIdOrName'>;

/** Deliveries that wait for an earlier delivery keep their order. */
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
        let retriedCount: number;
        do {
          if (count >= RETRIED_MAX) return { count, hasMore: true };
          retriedCount = await retryBatch(call, target, selection);
          count += retriedCount;
        } while (retriedCount === ROWS_PER_STATEMENT);
      }
    }
    return { count, hasMore: false };
  },
});

/**
 * Returns the id of the destination that the input names, or of all webhooks. Throws NOT_FOUND if the destination does
 * not exist, and BAD_USER_INPUT if it is a stream.
 */
async function listDestinationIds(
  call: RowCall,
  projectId: string,
  { destinationId: id }: Selection,
): Promise<string[]> {
  if (id !== undefined) {
    const destination = await getProjectRow(call, 'Destination', {
      projectId,
      id,
      noun: 'Destination',
    });
    if (destination.type !== 'STREAM') return [id];
    throw invalid(['destinationId'], 'is a stream, which has no deliveries.', id);
  }
  const webhooks = await call.database.reads.find('Destination', { projectId, type: 'WEBHOOK' });
  return webhooks.map((destination) => destination.id).sort();
}

interface RetryTarget {
  projectId: string;
  /** Null counts the deliveries to every destination. A retry requires an id. */
  destinationId: string | null;
  status: DeliveryStatus;
  now: Date;
}

/**
 * The condition for a `delivery` that can be retried. Skips deliveries that are already due, so that the next statement
 * finds other rows.
 */
const IS_RETRYABLE = `
  delivery."status" = $3::"DeliveryStatus" and delivery."isRetrying" = $4
  and delivery."id" > $5 and delivery."id" < $6 and delivery."createTime" >= $7 and delivery."createTime" < $8
  and ($3 <> 'PENDING' or delivery."afterId" is null
    and (delivery."nextAttemptTime" is null or delivery."nextAttemptTime" > $9))`;

const RETRY_BATCH = sqlStatement(`
  with destination as (
    select "id" from "Destination" where "projectId" = $1 and "id" = $2 for key share
  ), retried as (
    select retryable."id" from destination cross join lateral (
      select delivery."id" from "Delivery" delivery
      where delivery."projectId" = $1 and delivery."destinationId" = destination."id" and ${IS_RETRYABLE}
      order by delivery."id" limit ${ROWS_PER_STATEMENT}) retryable
  )
  update "Delivery" set "status" = 'PENDING', "isRetrying" = "attemptCount" > 0, "nextAttemptTime" = $9,
    "failureReason" = null, "updateTime" = $9
  where "projectId" = $1 and "id" = any(array(select "id" from retried)) and "status" = $3::"DeliveryStatus"
  returning 1`);

const COUNT_RETRYABLE = sqlStatement<{ count: number }>(`
  select count(*)::int as "count" from "Destination" destination join "Delivery" delivery
    on delivery."projectId" = destination."projectId" and delivery."destinationId" = destination."id"
  where destination."projectId" = $1 and destination."type" = 'WEBHOOK'
    and ($2::text is null or destination."id" = $2) and ${IS_RETRYABLE}`);

function listValues(
  { projectId, destinationId, status, now }: RetryTarget,
  { createTime }: Pick<FiltersOf<typeof retryableInput>, 'createTime'>,
) {
  const { from = new Date(0), until = CREATE_TIME_END } = toSpan(createTime) ?? {};
  const { status: statuses, isRetrying } = toStoredStatus([status]);
  const ids = [getIdBefore('dlv', from), getIdAfter('dlv', until)];
  return [projectId, destinationId, ...statuses, ...isRetrying, ...ids, from, until, now];
}

function retryBatch(
  { database }: RowServices,
  target: RetryTarget,
  selection: Selection,
): Promise<number> {
  return inTransaction(database, async (tx) => {
    const rows = await run(tx, RETRY_BATCH, listValues(target, selection));
    notifyEvents(tx, target.projectId);
    return rows.length;
  });
}

export const countRetryable = read(
  'events:write',
  'The number of deliveries that `retryDeliveries` would retry now. Deliveries to deleted destinations are not counted, and neither are pending deliveries that are already due or wait for an earlier delivery.',
  async (
    call: RowCall,
    { id: projectId }: Row<'Project'>,
    { destinationId = null, statuses, createTime }: FiltersOf<typeof retryableInput>,
  ): Promise<number> => {
    const now = call.now();
    const counts = await Promise.all(
      [...new Set(statuses)].map(async (status) => {
        const values = listValues({ projectId, destinationId, status, now }, { createTime });
        const [row] = await call.database.run(COUNT_RETRYABLE, values);
        return row?.count ?? 0;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  },
);
