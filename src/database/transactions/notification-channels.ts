/** The channels of notifications, which are sent after the commit of a change. Listeners read the stored rows. */

/**
 * An event was recorded, a delivery was created, or a message was put into a stream. The payload is the project's id
 * for the first two, and the destination's id for the third.
 */
export const EVENTS_CHANNEL = 'gateway_events';

/** An operation has changed. The payload is its id. */
export const OPERATIONS_CHANNEL = 'gateway_operations';

/** A provider's event was stored. */
export const PROVIDER_EVENTS_CHANNEL = 'gateway_provider_events';

/** Rows of background work may be due. The payload is the kind of work. */
export const WORK_CHANNEL = 'gateway_work';

/** A group or a consumer is being erased. */
export const ERASURES_CHANNEL = 'gateway_erasures';

/** A subscription at a provider needs maintenance. */
export const SUBSCRIPTIONS_CHANNEL = 'gateway_subscriptions';

/**
 * SQL: a column with the notifications that the caller sends, in the first row of a result. The notifications are the
 * rows of `from`.
 */
export function notificationsSql(from: string): string {
  return `case when row_number() over () = 1 then array(select "notification" from ${from}) end as "notifications"`;
}
