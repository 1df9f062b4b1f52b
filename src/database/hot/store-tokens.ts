/** Stores the tokens of a refresh in place of exactly the credentials that were refreshed. */
import type { Tables } from '../tables.ts';
import { APPENDING, EVENT_COLUMNS, type EventRow } from './append-events.ts';
import { notificationsColumn } from './notification-channels.ts';
import type { ChangeOfMany } from './shared-changes.ts';

type Connection = Tables['Connection'];

export interface TokensToStore extends Pick<Connection, 'id' | 'projectId' | 'tokenExpireTime'> {
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
export const STORE_TOKENS: ChangeOfMany<TokensToStore, Pick<Connection, 'id'>> = {
  lineOf: ({ projectId }) => projectId,
  // Unique, because sealing uses a random nonce.
  keyOf: ({ credentialsSealed }) => credentialsSealed,
  text: `
  with given as (
    select * from jsonb_to_recordset($1::jsonb) as g(
      "id" text, "projectId" text, "heldSealed" text, "credentialsSealed" text, "tokenExpireTime" timestamptz,
      "now" timestamptz, "event" jsonb)
  ),
  stored as (
    update "Connection" c set "credentialsSealed" = g."credentialsSealed", "tokenExpireTime" = g."tokenExpireTime",
      "refreshRetryTime" = null, "status" = 'CREATED', "updateTime" = g."now",
      "refreshLeaseToken" = null, "refreshLeaseExpireTime" = null
    from given g
    where c."projectId" = g."projectId" and c."id" = g."id" and c."credentialsSealed" = g."heldSealed"
    returning c."id", c."credentialsSealed"
  ),
  happened as (
    select h.* from stored s
    join given g on g."credentialsSealed" = s."credentialsSealed"
    cross join jsonb_to_record(g."event") as h(${EVENT_COLUMNS})
    where jsonb_typeof(g."event") = 'object'
  ),
  ${APPENDING}
  select "credentialsSealed" as "of", "id", ${notificationsColumn('event_notifications')} from stored`,
};
