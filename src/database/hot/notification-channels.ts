/** The channels for hints of changes, which are told after their commit. A reader looks at the stored rows. */

/**
 * An event was recorded or a delivery created: the payload is the project's id. Or a message was put into a stream: then
 * it is the destination's.
 */
export const EVENTS_CHANNEL = 'gateway_events';

/** An operation has changed; the payload is its id. */
export const OPERATIONS_CHANNEL = 'gateway_operations';

/** A provider's event was stored. */
export const PROVIDER_EVENTS_CHANNEL = 'gateway_provider_events';

/** A group or a consumer is being erased. */
export const ERASURES_CHANNEL = 'gateway_erasures';

/** A subscription at a provider is to be looked after. */
export const SUBSCRIPTIONS_CHANNEL = 'gateway_subscriptions';

/** SQL: a column of a change, whose first row has the hints that are to be told. They are the rows of `from`. */
export function notificationsColumn(from: string): string {
  return `case when row_number() over () = 1 then array(select "hint" from ${from}) end as "hints"`;
}
