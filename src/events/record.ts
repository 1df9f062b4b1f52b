/** Records events in the transaction of the change that causes them. */
import type { NotificationEventType } from '../database/generated/enums.ts';
import { appendEvents, type EventRow } from '../database/statements/hot/append-events.ts';
import type { Transaction } from '../database/transactions/transaction.ts';
import { newId } from '../kernel/ids.ts';
import { findCurrentTraceparent } from '../kernel/spans.ts';
import { EVENTS, type EventData } from './event-types.ts';
import type { Subject } from './subject.ts';

export interface EventToRecord<T extends NotificationEventType = NotificationEventType> {
  projectId: string;
  eventType: T;
  data: EventData<T>;
  /** The group and consumer that the payload names. Null if it names none. */
  subject: Subject | null;
  connectionId?: string;
  installationId?: string;
  operationId?: string;
  destinationId?: string;
}

/**
 * Stores an event with its topics, and a delivery for each destination. An event without a route is not stored. Must run
 * last in a transaction: other events of the project wait until the commit, so that positions are in commit order.
 */
export async function recordEvent<T extends NotificationEventType>(
  tx: Transaction,
  event: EventToRecord<T>,
): Promise<void> {
  await recordEvents(tx, [event]);
}

/** Stores events of one project as `recordEvent` does, in one statement. */
export async function recordEvents<T extends NotificationEventType>(
  tx: Transaction,
  events: readonly EventToRecord<T>[],
): Promise<void> {
  if (events.length > 0) await appendEvents(tx, events.map(createEventRow));
}

/**
 * Creates the row of an event for statements that append it. Throws if the payload does not match the type's schema.
 */
export function createEventRow<T extends NotificationEventType>({
  eventType,
  data,
  subject,
  ...ids
}: EventToRecord<T>): EventRow {
  const { wireName, data: schema } = EVENTS[eventType];
  return {
    eventId: newId('evt'),
    deliveryId: newId('dlv'),
    eventType,
    wireName,
    data: schema.parse(data),
    traceparent: findCurrentTraceparent() ?? undefined,
    ...ids,
    ...subject,
  };
}
