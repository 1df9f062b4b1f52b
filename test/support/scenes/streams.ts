/** Streams, and ways to put messages into them without an app around. */
import type { Database } from '../../../src/database/database.ts';
import { inTransaction, type Transaction } from '../../../src/database/transaction.ts';
import { openStream } from '../../../src/domain/event/destination-type.ts';
import { enqueueMessages } from '../../../src/events/enqueue-messages.ts';
import { newId } from '../../../src/ids.ts';

export interface TestStream {
  projectId: string;
  destinationId: string;
}

/** A destination of the type STREAM, to which the topic leads, if one is given. */
export function createStream(
  database: Database,
  { projectId, name = 'records', topicId }: { projectId: string; name?: string; topicId?: string },
): Promise<TestStream> {
  const destinationId = newId('dst');
  return inTransaction(database, async (tx) => {
    const data = { id: destinationId, projectId, name, type: 'STREAM' } as const;
    const destination = await tx.destination.create({ data });
    await openStream(tx, destination);
    if (topicId !== undefined) {
      const route = { id: newId('tdr'), projectId, topicId, destinationId };
      await tx.topicDestinationRoute.create({ data: route });
    }
    return { projectId, destinationId };
  });
}

interface Put {
  /** What the bodies carry, each in one message. */
  names: string[];
  /** Of the body, beside the name: as many characters. */
  padding?: number;
  /** Runs in the transaction, before they are put and after. */
  delay?: (tx: Transaction) => Promise<unknown>;
  subject?: { groupId: string; consumerId: string };
}

/** Puts messages in one transaction, as a page of records does. */
export function put(
  database: Database,
  { projectId, destinationId }: TestStream,
  { names, padding = 0, delay = async () => {}, subject }: Put,
): Promise<void> {
  const bodyOf = (name: string) => JSON.stringify({ name, padding: ' '.repeat(padding) });
  const messages = names.map((name) => ({ body: bodyOf(name) }));
  const to = { projectId, id: destinationId, type: 'STREAM' } as const;
  return inTransaction(database, async (tx) => {
    await delay(tx);
    await enqueueMessages(tx, to, { messages, subject: subject ?? null });
    await delay(tx);
  });
}

/** What the list of the stream's messages holds: the name of each. */
export async function namesIn(
  { prisma }: Database,
  { projectId, destinationId }: TestStream,
): Promise<string[]> {
  const where = { projectId, destinationId };
  const orderBy = { position: 'asc' } as const;
  const messages = await prisma.streamMessage.findMany({ where, orderBy });
  return messages.map(messageName);
}

/** Of a message that `put` has made, or of one that carries an event of `record`. */
export function messageName({ body }: { body: string }): string {
  const { name, data } = JSON.parse(body) as { name?: string; data?: { connectionId: string } };
  return name ?? data?.connectionId ?? '';
}
