/** Replaces the credentials of existing connections, and updates other members of the input. */

import { notificationsSql } from '../../transactions/notification-channels.ts';
import type { Tables } from '../tables.ts';
import { EVENT_COLUMNS, EVENT_CTES, eventColumnsSql } from './append-events.ts';
import {
  CONNECTION_COLUMNS,
  type ConnectionInput,
  INPUT_WITH_APPS,
} from './generate-connections.ts';
import type { SharedStatement } from './shared-statements.ts';

/** SQL: stores the group's or the consumer's name in the input, if it differs from the stored name. */
const renamePartySql = (table: 'Group' | 'Consumer', party: 'group' | 'consumer') => `
    update "${table}" party set "${party}Name" = input."${party}Name", "updateTime" = input."now"
    from renewed_connections connection join input_with_apps input on input."id" = connection."id"
    where party."projectId" = connection."projectId" and party."id" = connection."${party}Id"
      and party."${party}Name" <> input."${party}Name"`;

/**
 * Renews connections with the status CREATED, each with its event. A connection has no row if it is deleted or names an
 * unknown app.
 */
export const RENEW_CONNECTIONS: SharedStatement<ConnectionInput, Tables['Connection']> = {
  // One connection per statement, because a statement changes a row only once.
  getQueue: ({ event }) => event.eventId,
  getKey: ({ id }) => id,
  text: `
  with input as (select * from jsonb_to_recordset($1::jsonb) as input(${CONNECTION_COLUMNS})),
  input_with_apps as (${INPUT_WITH_APPS}),
  renewed_connections as (
    update "Connection" connection set "providerAppId" = input."appId", "authScheme" = input."authScheme",
      "status" = 'CREATED',
      "providerWorkspaceRef" = coalesce(input."providerWorkspaceRef", connection."providerWorkspaceRef"),
      "isWorkspaceFromToken" = case when input."providerWorkspaceRef" is null
        then connection."isWorkspaceFromToken" else input."isWorkspaceFromToken" end,
      "providerMetadata" = coalesce(input."providerMetadata", connection."providerMetadata"),
      "providerConsumerRef" = input."providerConsumerRef", "credentialsSealed" = input."credentialsSealed",
      "credentialTargets" = input."credentialTargets",
      "tokenExpireTime" = input."tokenExpireTime", "refreshDueTime" = input."refreshDueTime",
      "unrefreshableSince" = input."unrefreshableSince", "refreshRejectedTime" = null, "updateTime" = input."now"
    from input_with_apps input
    where connection."projectId" = input."projectId" and connection."id" = input."id"
    returning connection.*
  ),
  renamed_groups as (${renamePartySql('Group', 'group')}
  ),
  renamed_consumers as (${renamePartySql('Consumer', 'consumer')}
  ),
  new_events as (
    select ${eventColumnsSql({
      data: `event."data" || jsonb_build_object(
        'consumerName', coalesce(input."consumerName", consumer_row."consumerName"))`,
      groupId: 'connection."groupId"',
      consumerId: 'connection."consumerId"',
    })}
    from renewed_connections connection
    join input_with_apps input on input."id" = connection."id"
    join "Consumer" consumer_row on consumer_row."projectId" = connection."projectId"
      and consumer_row."id" = connection."consumerId"
    cross join jsonb_to_record(input."event") as event(${EVENT_COLUMNS})
  ),
  ${EVENT_CTES}
  select connection."id" as "key", connection.*, ${notificationsSql('event_notifications')}
  from renewed_connections connection`,
};
