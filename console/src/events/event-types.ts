/** The types of events, as the schema has them: a type that it gains or loses does not compile. */
import type { NotificationEventType } from '../../__generated__/useTailQuery.graphql.ts';

const TYPES: Record<NotificationEventType, true> = {
  CONNECTION_CREATED: true,
  CONNECTION_DELETED: true,
  CONNECTION_ERROR: true,
  CONNECTION_REFRESHED: true,
  CONNECTION_UPDATED: true,
  DELIVERY_FAILED: true,
  DESTINATION_WEBHOOK_DISABLED: true,
  DESTINATION_WEBHOOK_FAILING: true,
  INSTALLATION_CREATED: true,
  INSTALLATION_DELETED: true,
  INSTALLATION_UPDATED: true,
  READ_BACKFILL_DONE: true,
  READ_SCHEDULE_PAUSED: true,
  READ_TRIGGERED_DONE: true,
  READ_TRIGGERED_ERROR: true,
  SUBSCRIBE_CREATE_ERROR: true,
  WRITE_ASYNC_DONE: true,
};

export const EVENT_TYPES = Object.keys(TYPES) as NotificationEventType[];
