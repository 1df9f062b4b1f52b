/** Messages that are owed to destinations from a change's commit on: the outbox is filled here alone. */
import type { Transaction } from '../database/transaction.ts';
import { newId } from '../ids.ts';

export interface MessageToOwe {
  projectId: string;
  destinationId: string;
  /** As it is posted, JSON text. */
  body: string;
  /** What it tells of: an event, or records that an operation read. */
  eventId?: string;
  operationId?: string;
}

/** Due at once; to a disabled destination, when it is enabled. Whoever calls it tells of it with announceRecorded. */
export async function oweMessages(
  tx: Transaction,
  messages: readonly MessageToOwe[],
): Promise<void> {
  if (messages.length === 0) return;
  await tx.delivery.createMany({
    data: messages.map((message) => ({ id: newId('dlv'), ...message })),
  });
}
