/** Records an event with the change that caused it: they commit together or not at all. */
import type { NotificationEventType } from '../database/generated/enums.ts';
import type { Transaction } from '../database/transaction.ts';
import { newId } from '../ids.ts';
import { announceRecorded } from './channel.ts';
import { EVENTS, type EventData } from './event-types.ts';
import { oweMessages } from './owe.ts';

export interface EventToRecord<T extends NotificationEventType = NotificationEventType> {
  projectId: string;
  eventType: T;
  data: EventData<T>;
  connectionId?: string;
  installationId?: string;
  operationId?: string;
  destinationId?: string;
}

/**
 * Stores the topics that the event is routed to, and a delivery for each destination; an event without a route
 * is not kept. Call it last in a transaction: from here to the commit, other events of the project wait, so that
 * positions are in commit order.
 */
export async function recordEvent<T extends NotificationEventType>(
  tx: Transaction,
  { projectId, eventType, data, ...about }: EventToRecord<T>,
): Promise<void> {
  const payload = EVENTS[eventType].data.parse(data);
  const routes = await tx.eventTopicRoute.findMany({
    where: { projectId, eventType },
    select: {
      topicId: true,
      topic: { select: { destinationRoutes: { select: { destinationId: true } } } },
    },
  });
  if (routes.length === 0) return;

  const { lastPosition: position } = await tx.eventLog.upsert({
    where: { projectId },
    create: { projectId, lastPosition: 1 },
    update: { lastPosition: { increment: 1 } },
  });
  const eventId = newId('evt');
  await tx.notificationEvent.create({
    data: { id: eventId, projectId, position, eventType, data: payload as object, ...about },
  });
  await tx.notificationEventTopic.createMany({
    data: routes.map(({ topicId }) => ({ eventId, topicId, projectId, position, eventType })),
  });
  const owed = new Set(
    routes.flatMap(({ topic }) => topic.destinationRoutes.map((route) => route.destinationId)),
  );
  const body = JSON.stringify({ notificationType: EVENTS[eventType].wireName, data: payload });
  await oweMessages(
    tx,
    [...owed].map((destinationId) => ({ projectId, destinationId, eventId, body })),
  );
  await announceRecorded(tx, projectId);
}
