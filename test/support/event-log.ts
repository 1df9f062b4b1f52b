/** Creates a project whose events are routed to two topics. Records and reads its events without an app. */

import type { Database } from '../../src/database/open/database.ts';
import { inTransaction, type Transaction } from '../../src/database/transactions/transaction.ts';
import { notifyEvents } from '../../src/events/channel.ts';
import type { LoggedEvent } from '../../src/events/event-log.ts';
import { recordEvent } from '../../src/events/record.ts';
import { newId } from '../../src/kernel/ids.ts';
import { onPostgres } from './app.ts';

type EventType = 'CONNECTION_CREATED' | 'CONNECTION_DELETED';

export type EventLog = Awaited<ReturnType<typeof createEventLog>>;

export async function createEventLog({ prisma }: Database) {
  const [orgId, projectId] = [newId('org'), newId('prj')];
  await prisma.org.create({ data: { id: orgId, label: projectId } });
  await prisma.project.create({
    data: { id: projectId, orgId, name: projectId, appName: 'test', eventLog: { create: {} } },
  });
  return { projectId, ...(await routeEvents(prisma, projectId)) };
}

/**
 * Creates two topics. Events of created connections are routed to the first, events of deleted ones to the
 * second.
 */
export async function routeEvents(prisma: Database['prisma'], projectId: string) {
  const createTopic = async (name: string, eventType: EventType) => {
    const { id } = await prisma.topic.create({ data: { id: newId('top'), projectId, name } });
    const route = { id: newId('etr'), projectId, topicId: id, eventType };
    await prisma.eventTopicRoute.create({ data: route });
    return id;
  };
  return {
    createdTopicId: await createTopic('created', 'CONNECTION_CREATED'),
    deletedTopicId: await createTopic('deleted', 'CONNECTION_DELETED'),
  };
}

interface NamedEvent {
  projectId: string;
  name: string;
  eventType?: EventType;
  /** Runs in the transaction, before and after the event is recorded. */
  delay?: (tx: Transaction) => Promise<unknown>;
}

/** Records an event that has the name as its connection's ID. */
export function recordNamedEvent(
  database: Database,
  { projectId, name, eventType = 'CONNECTION_CREATED', delay = async () => {} }: NamedEvent,
): Promise<void> {
  return inTransaction(database, async (tx) => {
    await delay(tx);
    await recordEvent(tx, {
      projectId,
      eventType,
      data: createEventData(projectId, name),
      subject: null,
    });
    await delay(tx);
  });
}

/** Records the events in one transaction, which fills a long log quickly. */
export async function recordNamedEvents(
  database: Database,
  { projectId }: { projectId: string },
  numberedNames: string[],
): Promise<void> {
  const eventType = 'CONNECTION_CREATED' as const;
  await inTransaction(database, async (tx) => {
    const { lastPosition } = await tx.eventLog.update({
      where: { projectId },
      data: { lastPosition: { increment: numberedNames.length } },
    });
    const routes = await tx.eventTopicRoute.findMany({ where: { projectId, eventType } });
    const events = numberedNames.map((name, index) => ({
      id: newId('evt'),
      projectId,
      position: lastPosition - BigInt(numberedNames.length - 1 - index),
      eventType,
      data: createEventData(projectId, name),
    }));
    await tx.notificationEvent.createMany({ data: events });
    const routed = events.flatMap(({ id: eventId, position }) =>
      routes.map(({ topicId }) => ({ eventId, topicId, projectId, position, eventType })),
    );
    await tx.notificationEventTopic.createMany({ data: routed });
    notifyEvents(tx, projectId);
  });
}

function createEventData(projectId: string, connectionId: string) {
  const partyFields = { provider: 'sandbox', groupRef: 'g', consumerRef: 'c', consumerName: 'C' };
  return { projectId, connectionId, ...partyFields };
}

export function createNames(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
}

export function readEventName({ node }: { node: Pick<LoggedEvent, 'data'> }): string {
  return (node.data as { connectionId: string }).connectionId;
}

/** Returns the next `count` values of a stream, and leaves it open. */
export async function takeNext<T>(stream: AsyncIterator<T>, count: number): Promise<T[]> {
  const values: T[] = [];
  while (values.length < count) {
    const { done, value } = await stream.next();
    if (done) throw new Error(`The stream ended after ${values.length} of ${count}.`);
    values.push(value);
  }
  return values;
}

/** Returns the names of the project's events in the order of the log. */
export async function listEventNames({ prisma }: Database, projectId: string): Promise<string[]> {
  const events = await prisma.notificationEvent.findMany({
    where: { projectId },
    orderBy: { position: 'asc' },
  });
  return events.map((node) => readEventName({ node }));
}

/** Delays a transaction by a random time, so that transactions commit in another order than they began. */
export const delayCommit = onPostgres
  ? (tx: { $executeRaw: Database['prisma']['$executeRaw'] }) =>
      tx.$executeRaw`select pg_sleep(random() * 0.01)`
  : () => new Promise(setImmediate);
