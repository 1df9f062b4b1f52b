/** Records an event with the change that caused it: they commit together or not at all. */

import type { NotificationEventType } from '../database/generated/enums.ts';
import { appendEvents, type EventRow } from '../database/hot/append-events.ts';
import type { Transaction } from '../database/transaction.ts';
import { newId } from '../ids.ts';
import { currentTraceparent } from '../spans.ts';
import { EVENTS, type EventData } from './event-types.ts';
import type { Subject } from './subject.ts';

export interface EventToRecord<T extends NotificationEventType = NotificationEventType> {
  projectId: string;
  eventType: T;
  data: EventData<T>;
  /** Whom the payload names; null if nobody. */
  subject: Subject | null;
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
  event: EventToRecord<T>,
): Promise<void> {
  await appendEvents(tx, [eventRow(event)]);
}

/** The event as statements append it. Throws if its payload is not what its type promises. */
export function eventRow<T extends NotificationEventType>({
  eventType,
  data,
  subject,
  ...about
}: EventToRecord<T>): EventRow {
  const { wireName, data: schema } = EVENTS[eventType];
  return {
    eventId: newId('evt'),
    deliveryId: newId('dlv'),
    eventType,
    wireName,
    data: schema.parse(data),
    traceparent: currentTraceparent() ?? undefined,
    ...about,
    ...subject,
  };
}
