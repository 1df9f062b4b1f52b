/** Stores the tokens of a refresh in place of exactly the credentials that were refreshed. */
import type { Tables } from '../tables.ts';
import { EVENT_COLUMNS, EVENT_CTES, type EventRow } from './append-events.ts';
import { selectNotifications } from './notification-channels.ts';
import type { BatchChange } from './shared-changes.ts';

type Connection = Tables['Connection'];

interface TokensToStore extends Pick<Connection, 'id' | 'projectId' | 'tokenExpireTime'> {
  /** The sealed credentials that must still be stored. */
  heldSealed: string;
  credentialsSealed: string;
  now: Date;
  /** Null if no event is published. */
  event: EventRow | null;
}

/**
 * Stores the tokens, sets the connection to CREATED and ends its refresh lease. A connection whose credentials have
 * changed since has no row in the result.
 */
export const STORE_TOKENS: BatchChange<TokensToStore, Pick<Connection, 'id'>> = {
  getQueue: ({ projectId }) => projectId,
  // Unique, because sealing uses a random nonce.
  getKey: ({ credentialsSealed }) => credentialsSealed,
  text: `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as i(
      "id" text, "projectId" text, "heldSealed" text, "credentialsSealed" text, "tokenExpireTime" timestamptz,
      "now" timestamptz, "event" jsonb)
  ),
  stored_connections as (
    update "Connection" c set "credentialsSealed" = i."credentialsSealed", "tokenExpireTime" = i."tokenExpireTime",
      "refreshRetryTime" = null, "status" = 'CREATED', "updateTime" = i."now",
      "refreshLeaseToken" = null, "refreshLeaseExpireTime" = null
    from input i
    where c."projectId" = i."projectId" and c."id" = i."id" and c."credentialsSealed" = i."heldSealed"
    returning c."id", c."credentialsSealed"
  ),
  new_events as (
    select h.* from stored_connections s
    join input i on i."credentialsSealed" = s."credentialsSealed"
    cross join jsonb_to_record(i."event") as h(${EVENT_COLUMNS})
    where jsonb_typeof(i."event") = 'object'
  ),
  ${EVENT_CTES}
  select "credentialsSealed" as "key", "id", ${selectNotifications('event_notifications')} from stored_connections`,
};
