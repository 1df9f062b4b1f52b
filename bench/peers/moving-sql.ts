/** Hand-written statements for the gateway's tables, one for each change of a write and of a connection. */

/** The rows of a write before the provider is called: $9 has its records as a JSON array. */
export const BEGIN_WRITE = `
  with operation as (
    insert into "Operation" ("id", "projectId", "integrationId", "installationId", "configId", "groupId",
      "actionType", "status", "metadata")
    values ($1, $2, $3, $4, $5, $6, 'WRITE', 'IN_PROGRESS', '{"objects":["contacts"]}')
  ), log as (
    insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message")
    values ($7, $2, $1, 'INFO', 'Writing')
  ), task as (
    insert into "WriteTask" ("id", "projectId", "installationId", "objectName", "type", "mode", "recordCount",
      "dueTime", "deadlineTime", "leaseToken", "leaseExpireTime", "attempts", "lastAttemptTime")
    values ($1, $2, $4, 'contacts', 'CREATE', $8::"WriteMode", jsonb_array_length($9::jsonb),
      now(), now() + interval '1 hour', $1, now() + interval '10 seconds', 1, now())
  )
  insert into "WriteEntry" ("taskId", "position", "projectId", "operationId", "record")
  select $1, number - 1, $2, $1, record from jsonb_array_elements($9::jsonb) with ordinality as e (record, number)`;

/** The outcomes ($3, a JSON array), the operation's end, and its event at the next position of the project's log. */
export const END_WRITE = `
  with task as (
    update "WriteTask" set "dueTime" = null, "leaseToken" = null, "leaseExpireTime" = null, "endTime" = now()
    where "id" = $1 and "projectId" = $2
  ), entries as (
    update "WriteEntry" set "outcome" = $3::jsonb -> "position" where "taskId" = $1
  ), operation as (
    update "Operation" set "status" = 'SUCCESS', "result" = 'Written', "updateTime" = now()
    where "id" = $1 and "projectId" = $2
  ), log as (
    insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message")
    values ($4, $2, $1, 'INFO', 'Written')
  )
  select pg_notify('limit', $1)`;

/** A connection with its group, its consumer, its event at the next position, and a delivery of it. */
export const CREATE_CONNECTION = `
  with g as (
    insert into "Group" ("id", "projectId", "groupRef", "groupName") values ($1, $2, $3, $3)
    on conflict ("projectId", "groupRef") do update set "groupName" = excluded."groupName" returning "id"
  ), u as (
    insert into "Consumer" ("id", "projectId", "consumerRef", "consumerName") values ($4, $2, $5, $5)
    on conflict ("projectId", "consumerRef") do update set "consumerName" = excluded."consumerName" returning "id"
  ), created as (
    insert into "Connection" ("id", "projectId", "provider", "groupId", "consumerId", "authScheme", "credentialsSealed")
    select $6, $2, 'sandbox', g."id", u."id", 'API_KEY', $7 from g, u returning "id"
  ), log as (
    insert into "EventLog" as l ("projectId", "lastPosition") values ($2, 1)
    on conflict ("projectId") do update set "lastPosition" = l."lastPosition" + 1 returning "lastPosition"
  ), event as (
    insert into "NotificationEvent" ("id", "projectId", "position", "eventType", "data", "connectionId")
    select $8, $2, log."lastPosition", 'CONNECTION_CREATED', $9::jsonb, created."id" from log, created returning "position"
  ), topic as (
    insert into "NotificationEventTopic" ("eventId", "topicId", "projectId", "position", "eventType")
    select $8, $10, $2, event."position", 'CONNECTION_CREATED' from event
  ), delivery as (
    insert into "Delivery" ("id", "projectId", "destinationId", "eventId", "eventType", "body", "nextAttemptTime")
    values ($11, $2, $12, $8, 'CONNECTION_CREATED', $9::jsonb::text, null)
  )
  select created."id", pg_notify('limit', $2) from created`;

export const ENQUEUE_MESSAGE = `
  insert into "Delivery" ("id", "projectId", "destinationId", "body", "nextAttemptTime") values ($1, $2, $3, $4, null)`;

export const RECORD_SENT = `
  with attempt as (
    insert into "DeliveryAttempt" ("id", "projectId", "deliveryId", "attemptNumber", "responseStatus", "durationMs", "createTime")
    values ($3, $2, $1, 1, 200, 1, now())
  )
  update "Delivery" set "status" = 'SUCCEEDED', "attemptCount" = 1, "updateTime" = now()
  where "id" = $1 and "projectId" = $2`;
