/** Adds deliveries to the outbox, in the transaction of the change. No other file fills the outbox. */
import type { Transaction } from '../database/transaction.ts';
import { newId } from '../ids.ts';
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

/** Due at once; for a disabled destination, when it is enabled. The caller calls announceRecorded too. */
export async function oweMessages(
  tx: Transaction,
  messages: readonly MessageToOwe[],
): Promise<void> {
  if (messages.length === 0) return;
  await tx.delivery.createMany({
    data: messages.map(({ subject, ...message }) => ({ id: newId('dlv'), ...message, ...subject })),
  });
}
