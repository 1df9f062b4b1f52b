/** Replaces the credentials of existing connections, and updates other members of the input. */
import type { Tables } from '../tables.ts';
import { EVENT_COLUMNS, EVENT_CTES } from './append-events.ts';
import {
  CONNECTION_COLUMNS,
  type ConnectionInput,
  formatRowsWithApps,
} from './generate-connections.ts';
import { selectNotifications } from './notification-channels.ts';
import type { BatchChange } from './shared-changes.ts';

/** SQL: stores the name in the input, if it differs from the stored one. */
const formatRenaming = (table: 'Group' | 'Consumer', column: 'group' | 'consumer') => `
    update "${table}" t set "${column}Name" = n."${column}Name", "updateTime" = n."now"
    from renewed_connections c join inputs_with_apps n on n."id" = c."id"
    where t."projectId" = c."projectId" and t."id" = c."${column}Id" and t."${column}Name" <> n."${column}Name"`;

/**
 * Renews connections with the status CREATED, each with its event. A connection has no row if it is deleted or names an
 * unknown app.
 */
export const RENEW_CONNECTIONS: BatchChange<ConnectionInput, Tables['Connection']> = {
  // One connection per statement, because a statement changes a row only once.
  getQueue: ({ event }) => event.eventId,
  getKey: ({ id }) => id,
  text: `
  with input as (select * from jsonb_to_recordset($1::jsonb) as g(${CONNECTION_COLUMNS})),
  inputs_with_apps as (${formatRowsWithApps('input')}),
  renewed_connections as (
    update "Connection" c set "providerAppId" = n."appId", "authScheme" = n."authScheme", "status" = 'CREATED',
      "providerWorkspaceRef" = coalesce(n."providerWorkspaceRef", c."providerWorkspaceRef"),
      "providerMetadata" = coalesce(n."providerMetadata", c."providerMetadata"),
      "providerConsumerRef" = n."providerConsumerRef", "credentialsSealed" = n."credentialsSealed",
      "tokenExpireTime" = n."tokenExpireTime", "updateTime" = n."now"
    from inputs_with_apps n where c."projectId" = n."projectId" and c."id" = n."id"
    returning c.*
  ),
  renamed_groups as (${formatRenaming('Group', 'group')}
  ),
  renamed_consumers as (${formatRenaming('Consumer', 'consumer')}
  ),
  new_events as (
    select h."eventId", h."deliveryId", h."projectId", h."eventType", h."wireName",
      h."data" || jsonb_build_object('consumerName', coalesce(n."consumerName", u."consumerName")) as "data",
      h."connectionId", h."installationId", h."operationId", h."destinationId", c."groupId", c."consumerId",
      h."traceparent"
    from renewed_connections c
    join inputs_with_apps n on n."id" = c."id"
    join "Consumer" u on u."projectId" = c."projectId" and u."id" = c."consumerId"
    cross join jsonb_to_record(n."event") as h(${EVENT_COLUMNS})
  ),
  ${EVENT_CTES}
  select c."id" as "key", c.*, ${selectNotifications('event_notifications')} from renewed_connections c`,
};
