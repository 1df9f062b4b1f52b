/** A project whose events go to two topics, and ways to record and to follow them without an app around. */

import type { Database } from '../../src/database/database.ts';
import { inTransaction, type Transaction } from '../../src/database/transaction.ts';
import { announceRecorded } from '../../src/events/channel.ts';
import type { LoggedEvent } from '../../src/events/event-log.ts';
import { recordEvent } from '../../src/events/record.ts';
import { newId } from '../../src/ids.ts';

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

/** Two topics: events of made connections go to the first, of deleted ones to the second. */
export async function routeEvents(prisma: Database['prisma'], projectId: string) {
  const topic = async (name: string, eventType: EventType) => {
    const { id } = await prisma.topic.create({ data: { id: newId('top'), projectId, name } });
    const route = { id: newId('etr'), projectId, topicId: id, eventType };
    await prisma.eventTopicRoute.create({ data: route });
    return id;
  };
  return {
    createdTopicId: await topic('created', 'CONNECTION_CREATED'),
    deletedTopicId: await topic('deleted', 'CONNECTION_DELETED'),
  };
}

interface Recorded {
  projectId: string;
  name: string;
  eventType?: EventType;
  /** Runs in the transaction, before the event is recorded and after. */
  delay?: (tx: Transaction) => Promise<unknown>;
}

/** Records an event that carries the name. */
export function record(
  database: Database,
  { projectId, name, eventType = 'CONNECTION_CREATED', delay = async () => {} }: Recorded,
): Promise<void> {
  return inTransaction(database, async (tx) => {
    await delay(tx);
    await recordEvent(tx, { projectId, eventType, data: dataOf(projectId, name), subject: null });
    await delay(tx);
  });
}

/** Records one event after the other, in one transaction: a log of some length, soon. */
export async function recordAll(
  database: Database,
  { projectId }: { projectId: string },
  names: string[],
): Promise<void> {
  const eventType = 'CONNECTION_CREATED' as const;
  await inTransaction(database, async (tx) => {
    const { lastPosition } = await tx.eventLog.update({
      where: { projectId },
      data: { lastPosition: { increment: names.length } },
    });
    const routes = await tx.eventTopicRoute.findMany({ where: { projectId, eventType } });
    const events = names.map((name, index) => ({
      id: newId('evt'),
      projectId,
      position: lastPosition - BigInt(names.length - 1 - index),
      eventType,
      data: dataOf(projectId, name),
    }));
    await tx.notificationEvent.createMany({ data: events });
    const routed = events.flatMap(({ id: eventId, position }) =>
      routes.map(({ topicId }) => ({ eventId, topicId, projectId, position, eventType })),
    );
    await tx.notificationEventTopic.createMany({ data: routed });
    announceRecorded(tx, projectId);
  });
}

function dataOf(projectId: string, connectionId: string) {
  const about = { provider: 'sandbox', groupRef: 'g', consumerRef: 'c', consumerName: 'C' };
  return { projectId, connectionId, ...about };
}

export function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
}

export function nameOf({ node }: { node: Pick<LoggedEvent, 'data'> }): string {
  return (node.data as { connectionId: string }).connectionId;
}

/** The next events of a stream, which stays open. */
export async function take<T>(stream: AsyncIterator<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const { done, value } = await stream.next();
    if (done) throw new Error(`The stream ended after ${taken.length} of ${count}.`);
    taken.push(value);
  }
  return taken;
}

/** What the list of the project's events holds. */
export async function listed({ prisma }: Database, projectId: string): Promise<string[]> {
  const events = await prisma.notificationEvent.findMany({
    where: { projectId },
    orderBy: { position: 'asc' },
  });
  return events.map((node) => nameOf({ node }));
}
