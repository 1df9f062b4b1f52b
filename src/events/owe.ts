/** Adds deliveries to the outbox, in the transaction of the change. No other file fills the outbox. */
import { run, sql } from '../database/statements.ts';
import type { Transaction } from '../database/transaction.ts';
import { newId } from '../ids.ts';
import { currentTraceparent } from '../spans.ts';
import type { Subject } from './subject.ts';

export interface MessageToOwe {
  projectId: string;
  destinationId: string;
  /** As it is posted, JSON text. */
  body: string;
  /** What it carries: an event, or records that an operation read. */
  eventId?: string;
  operationId?: string;
  /** Whom the body names; null if nobody. */
  subject: Subject | null;
}

/** Due at once; for a disabled destination, when it is enabled. Gives their ids. The caller calls announceRecorded too. */
export async function oweMessages(
  tx: Transaction,
  messages: readonly MessageToOwe[],
): Promise<string[]> {
  if (messages.length === 0) return [];
  const traceparent = currentTraceparent();
  const data = messages.map(({ subject, ...message }) => ({
    id: newId('dlv'),
    ...message,
    ...subject,
    traceparent,
  }));
  await tx.delivery.createMany({ data });
  return data.map(({ id }) => id);
}

export interface OrderedMessage extends MessageToOwe {
  /** Messages of one key reach their destination one after the other. */
  orderKey: string;
}

/**
 * Due when the message before it, of the same key and destination, has been taken or given up; at once if there is
 * none. The caller calls announceRecorded too.
 */
export async function oweInOrder(
  tx: Transaction,
  messages: readonly OrderedMessage[],
): Promise<void> {
  if (messages.length === 0) return;
  const keyOf = ({ destinationId, orderKey }: LineKey) => `${destinationId} ${orderKey}`;
  const last = new Map((await lastOfLines(tx, messages)).map((row) => [keyOf(row), row.id]));
  const traceparent = currentTraceparent();
  const data = messages.map(({ subject, ...message }) => {
    const id = newId('dlv');
    const afterId = last.get(keyOf(message)) ?? null;
    last.set(keyOf(message), id);
    return {
      id,
      ...message,
      ...subject,
      traceparent,
      afterId,
      ...(afterId !== null && { nextAttemptTime: null }),
    };
  });
  await tx.delivery.createMany({ data });
}

type LineKey = Pick<OrderedMessage, 'destinationId' | 'orderKey'>;

/** The newest pending message of each line. It can't end until the transaction does. */
function lastOfLines(
  tx: Transaction,
  lines: readonly LineKey[],
): Promise<(LineKey & { id: string })[]> {
  const destinationIds = lines.map(({ destinationId }) => destinationId);
  const orderKeys = lines.map(({ orderKey }) => orderKey);
  return run(
    tx,
    sql`select line.*, newest."id"
      from (select distinct * from unnest(${destinationIds}::text[], ${orderKeys}::text[])
        as given("destinationId", "orderKey")) line
      cross join lateral (
        select "id" from "Delivery" d
        where d."destinationId" = line."destinationId" and d."orderKey" = line."orderKey"
          and d."status" = 'PENDING'
        order by d."id" desc limit 1 for share) newest`,
  );
}
