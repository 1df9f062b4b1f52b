/** Stores the tokens of a refresh. They replace exactly the credentials that were refreshed. */

import { notificationsSql } from '../../transactions/notification-channels.ts';
import type { Tables } from '../tables.ts';
import { EVENT_COLUMNS, EVENT_CTES, type EventRow } from './append-events.ts';
import type { SharedStatement } from './shared-statements.ts';

type Connection = Tables['Connection'];

interface TokensToStore
  extends Pick<Connection, 'id' | 'projectId' | 'tokenExpireTime' | 'refreshDueTime'> {
  /** The sealed credentials that must still be stored. */
  heldSealed: string;
  credentialsSealed: string;
  now: Date;
  /** Null if no event is published. */
  event: EventRow | null;
}

/**
 * Stores the tokens, sets the connection to CREATED and ends its refresh lease. A connection that a request has set to
 * BAD_CREDENTIALS keeps this status until a request succeeds. A connection whose credentials have changed since has no row
 * in the result.
 */
export const STORE_TOKENS: SharedStatement<TokensToStore, Pick<Connection, 'id'>> = {
  getQueue: ({ projectId }) => projectId,
  // Unique, because sealing uses a random nonce.
  getKey: ({ credentialsSealed }) => credentialsSealed,
  text: `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as input(
      "id" text, "projectId" text, "heldSealed" text, "credentialsSealed" text, "tokenExpireTime" timestamptz,
      "refreshDueTime" timestamptz, "now" timestamptz, "event" jsonb)
  ),
  stored_connections as (
    update "Connection" connection set "credentialsSealed" = input."credentialsSealed",
      "tokenExpireTime" = input."tokenExpireTime", "refreshDueTime" = input."refreshDueTime", "refreshRejectedTime" = null,
      "status" = case when connection."status" = 'BAD_CREDENTIALS' and connection."refreshRejectedTime" is null
        then connection."status" else 'CREATED' end,
      "updateTime" = input."now", "refreshLeaseToken" = null, "refreshLeaseExpireTime" = null
    from input
    where connection."projectId" = input."projectId" and connection."id" = input."id"
      and connection."credentialsSealed" = input."heldSealed"
    returning connection."id", connection."credentialsSealed"
  ),
  new_events as (
    select event.* from stored_connections connection
    join input on input."credentialsSealed" = connection."credentialsSealed"
    cross join jsonb_to_record(input."event") as event(${EVENT_COLUMNS})
    where jsonb_typeof(input."event") = 'object'
  ),
  ${EVENT_CTES}
  select "credentialsSealed" as "key", "id", ${notificationsSql('event_notifications')} from stored_connections`,
};
