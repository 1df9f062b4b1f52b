/** One statement records an event with all its rows. */
import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/database/open/database.ts';
import { findPrefix, newId } from '../../src/kernel/ids.ts';
import { createTestDatabase } from '../support/app.ts';
import { recordStatements } from '../support/database/statements.ts';
import { createEventLog, type EventLog, recordNamedEvent } from '../support/event-log.ts';

const DESTINATION_COUNT = 40;

async function openEventLog(): Promise<{ database: Database; log: EventLog }> {
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return { database, log: await createEventLog(database) };
}

/** Creates destinations. Most have routes from both topics, so that an event matches them twice. */
async function createDestinations({ prisma }: Database, log: EventLog): Promise<string[]> {
  const { projectId, createdTopicId, deletedTopicId } = log;
  await prisma.eventTopicRoute.create({
    data: { id: newId('etr'), projectId, topicId: deletedTopicId, eventType: 'CONNECTION_CREATED' },
  });
  const ids = Array.from({ length: DESTINATION_COUNT }, () => newId('dst'));
  await prisma.destination.createMany({
    data: ids.map((id) => ({
      id,
      projectId,
      name: id,
      type: 'WEBHOOK' as const,
      url: 'https://receiver.example',
      signingSecretSealed: 'sealed',
    })),
  });
  const createRoute = (destinationId: string, topicId: string) => ({
    id: newId('tdr'),
    projectId,
    topicId,
    destinationId,
  });
  await prisma.topicDestinationRoute.createMany({
    data: [
      ...ids.map((id) => createRoute(id, createdTopicId)),
      ...ids.slice(1).map((id) => createRoute(id, deletedTopicId)),
    ],
  });
  return ids;
}

test('records an event with its topics, deliveries and notification in one statement', async () => {
  const { database, log } = await openEventLog();
  const destinationIds = await createDestinations(database, log);
  const { projectId, createdTopicId, deletedTopicId } = log;
  const { statements } = await recordStatements(() =>
    recordNamedEvent(database, { projectId, name: 'one' }),
  );
  const texts = statements.map(({ text }) => text.trim().split(/\s/)[0]);
  expect(texts).toEqual(['BEGIN', 'with', 'COMMIT']);

  const [event] = await database.prisma.notificationEvent.findMany({ include: { topics: true } });
  expect(event).toMatchObject({ projectId, position: 1n, eventType: 'CONNECTION_CREATED' });
  expect(event?.topics.map(({ topicId }) => topicId).sort()).toEqual(
    [createdTopicId, deletedTopicId].sort(),
  );
  const deliveries = await database.prisma.delivery.findMany({
    where: { eventId: event?.id ?? '' },
  });
  expect(deliveries.map((delivery) => delivery.destinationId).sort()).toEqual(
    destinationIds.sort(),
  );
  expect(new Set(deliveries.map(({ id }) => id)).size).toBe(DESTINATION_COUNT);
  for (const { id, body } of deliveries) {
    expect(findPrefix(id)).toBe('dlv');
    expect(JSON.parse(body)).toEqual({ notificationType: 'connection.created', data: event?.data });
  }
});

test('records no event and uses no position if no route matches', async () => {
  const { database, log } = await openEventLog();
  await database.prisma.eventTopicRoute.deleteMany({ where: { eventType: 'CONNECTION_DELETED' } });
  const { projectId } = log;
  await recordNamedEvent(database, { projectId, name: 'none', eventType: 'CONNECTION_DELETED' });
  await recordNamedEvent(database, { projectId, name: 'one' });
  const events = await database.prisma.notificationEvent.findMany();
  expect(events.map(({ position }) => position)).toEqual([1n]);
});
