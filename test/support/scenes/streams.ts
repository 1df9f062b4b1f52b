/** Creates streams and appends messages to them without an app. */
import type { Database } from '../../../src/database/database.ts';
import { inTransaction, type Transaction } from '../../../src/database/transaction.ts';
import { openStream } from '../../../src/domain/event/destination-rules.ts';
import { enqueueMessages } from '../../../src/events/enqueue-messages.ts';
import { newId } from '../../../src/ids.ts';

export interface TestStream {
  projectId: string;
  destinationId: string;
}

/** Creates a destination of type STREAM, and a route from the topic if there is one. */
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

interface AppendedMessages {
  /** The names in the bodies of the messages, one message for each. */
  names: string[];
  /** Number of additional characters in each body. */
  padding?: number;
  /** Runs in the transaction, before and after the messages are appended. */
  delay?: (tx: Transaction) => Promise<unknown>;
  subject?: { groupId: string; consumerId: string };
}

/** Appends messages in one transaction, as a page of records does. */
export function appendMessages(
  database: Database,
  { projectId, destinationId }: TestStream,
  { names, padding = 0, delay = async () => {}, subject }: AppendedMessages,
): Promise<void> {
  const createBody = (name: string) => JSON.stringify({ name, padding: ' '.repeat(padding) });
  const messages = names.map((name) => ({ body: createBody(name) }));
  const target = { projectId, id: destinationId, type: 'STREAM' } as const;
  return inTransaction(database, async (tx) => {
    await delay(tx);
    await enqueueMessages(tx, target, { messages, subject: subject ?? null });
    await delay(tx);
  });
}

/** Returns the names of the stream's messages in order. */
export async function listMessageNames(
  { prisma }: Database,
  { projectId, destinationId }: TestStream,
): Promise<string[]> {
  const where = { projectId, destinationId };
  const orderBy = { position: 'asc' } as const;
  const messages = await prisma.streamMessage.findMany({ where, orderBy });
  return messages.map(messageName);
}

/** Returns the name in a message of `appendMessages`, or in a message with an event of `record`. */
export function messageName({ body }: { body: string }): string {
  const { name, data } = JSON.parse(body) as { name?: string; data?: { connectionId: string } };
  return name ?? data?.connectionId ?? '';
}
