/**
 * Enqueues messages for a destination in the transaction of the change. Only this module, append-events.ts and
 * record-pages.ts write to the outbox and to streams.
 */
import { appendToStream } from '../database/statements/hot/append-events.ts';
import { run, sql } from '../database/statements/statements.ts';
import type { Row } from '../database/statements/tables.ts';
import type { Transaction } from '../database/transactions/transaction.ts';
import { newId } from '../kernel/ids.ts';
import { findCurrentTraceparent } from '../kernel/spans.ts';
import { notifyEvents } from './channel.ts';
import type { Subject } from './subject.ts';

/** A destination that is locked against deletion until the transaction ends. */
export type LockedDestination = Pick<Row<'Destination'>, 'id' | 'projectId' | 'type'>;

interface MessageToEnqueue {
  /** The JSON that is posted. */
  body: string;
  /** Messages with the same key reach a webhook one after another. Without a key, their order is undefined. */
  orderKey?: string;
}

interface MessagesToEnqueue {
  messages: readonly MessageToEnqueue[];
  /** The read operation whose records the messages contain. */
  operationId?: string;
  /** The group and consumer that the bodies name. Null if they name none. */
  subject: Subject | null;
}

/**
 * Enqueues messages and returns their ids. A stream keeps their order. A message to a webhook is due immediately. With
 * an order key, it is due when the previous message with the key has succeeded or failed permanently. Messages to a
 * disabled webhook wait until it is enabled.
 */
export async function enqueueMessages(
  tx: Transaction,
  destination: LockedDestination,
  pending: MessagesToEnqueue,
): Promise<string[]> {
  if (pending.messages.length === 0) return [];
  if (destination.type === 'STREAM') return appendMessages(tx, destination, pending);
  const deliveries = await createDeliveries(tx, destination, pending);
  await tx.delivery.createMany({ data: deliveries });
  notifyEvents(tx, destination.projectId);
  return deliveries.map(({ id }) => id);
}

async function appendMessages(
  tx: Transaction,
  { projectId, id: destinationId }: LockedDestination,
  { messages, subject }: MessagesToEnqueue,
): Promise<string[]> {
  const ids = messages.map(() => newId('msg'));
  const bodies = messages.map(({ body }) => body);
  const { groupId = null, consumerId = null } = subject ?? {};
  await appendToStream(tx, { projectId, destinationId, groupId, consumerId, ids, bodies });
  return ids;
}

async function createDeliveries(
  tx: Transaction,
  { projectId, id: destinationId }: LockedDestination,
  { messages, operationId, subject }: MessagesToEnqueue,
) {
  const keys = messages.flatMap(({ orderKey }) => orderKey ?? []);
  const lastMessages =
    keys.length > 0 ? await listLastByOrderKey(tx, { projectId, destinationId }, keys) : [];
  const lastIdsByOrderKey = new Map(lastMessages.map(({ orderKey, id }) => [orderKey, id]));
  const commonColumns = { projectId, destinationId, operationId, ...subject };
  const traceparent = findCurrentTraceparent();
  return messages.map(({ body, orderKey }) => {
    const message = { id: newId('dlv'), ...commonColumns, traceparent, body };
    if (orderKey === undefined) return message;
    const afterId = lastIdsByOrderKey.get(orderKey);
    lastIdsByOrderKey.set(orderKey, message.id);
    const isDue = afterId === undefined;
    return { ...message, orderKey, ...(!isDue && { afterId, nextAttemptTime: null }) };
  });
}

/**
 * Finds the last pending message of each order key, for which no other message waits. The order of ids does not
 * determine it, because the clocks of processes differ. The lock keeps the message pending until the transaction ends.
 */
function listLastByOrderKey(
  tx: Transaction,
  { projectId, destinationId }: { projectId: string; destinationId: string },
  orderKeys: readonly string[],
): Promise<{ orderKey: string; id: string }[]> {
  return run(
    tx,
    sql`select requested.*, last_delivery."id"
      from (select distinct "orderKey" from unnest(${orderKeys}::text[]) as input("orderKey")) requested
      cross join lateral (
        select "id" from "Delivery" delivery
        where delivery."projectId" = ${projectId} and delivery."destinationId" = ${destinationId}
          and delivery."orderKey" = requested."orderKey" and delivery."status" = 'PENDING' and (
            select successor."id" from "Delivery" successor
            where successor."projectId" = ${projectId} and successor."afterId" = delivery."id"
              and successor."status" is not distinct from 'PENDING' limit 1) is null
        order by delivery."id" desc limit 1 for share of delivery) last_delivery`,
  );
}
