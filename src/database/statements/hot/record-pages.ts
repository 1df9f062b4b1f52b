/** Records a page of a read: stores the deliveries of its records together with the progress of the read. */

import {
  EVENTS_CHANNEL,
  notificationsSql,
  OPERATIONS_CHANNEL,
} from '../../transactions/notification-channels.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import type { Tables } from '../tables.ts';
import { STREAM_CTES } from './append-events.ts';
import { runInTransaction, type SharedStatement } from './shared-statements.ts';

type ReadRun = Tables['ReadRun'];
type OperationLog = Tables['OperationLog'];

/** A page of a read. The claim with `leaseToken` must still hold the run. */
export interface PageToRecord
  extends Pick<
    ReadRun,
    'operationId' | 'projectId' | 'installationId' | 'objectName' | 'leaseToken' | 'readType'
  > {
  now: Date;
  count: number;
  progress: Pick<
    ReadRun,
    | 'cursor'
    | 'earlierCursorHash'
    | 'planKey'
    | 'pagesRead'
    | 'recordsRead'
    | 'estimatedTotal'
    | 'pendingRecords'
  >;
  /** The operation's new metadata. Null leaves it unchanged until the operation ends. */
  metadata: object | null;
  line: Pick<OperationLog, 'id' | 'severity' | 'message'> & { details: object };
  /** The hashes of the object's delivered entries, in base64. Null leaves them unchanged. */
  deliveredHashes: string | null;
  /** The page is recorded only if the object still has this number of pages of triggered reads. Null accepts any. */
  triggeredPages: number | null;
  /** The name of the destination. */
  destination: string;
  /** In the order of delivery, each with the id of its delivery. */
  messages: { id: string; body: string }[];
  groupId: string | null;
  consumerId: string | null;
  traceparent: string | null;
}

/** True for each requirement that is met. If one is not, nothing is recorded. */
interface Requirements {
  hasObject: boolean;
  /** True if the object has the required number of pages of triggered reads. */
  hasTriggeredPages: boolean;
  hasRun: boolean;
  hasDestination: boolean;
}

/** The updated run. Its columns are null if the page was not recorded. */
export type RecordedPage = Requirements & (ReadRun | Record<keyof ReadRun, null>);

/** Locks objects before their runs, as pausing does, and runs before logs. */
export const RECORD_PAGES: SharedStatement<PageToRecord, RecordedPage> = {
  // A claim has one page at a time, so pages of other claims are in other queues.
  getQueue: ({ operationId, leaseToken }) => `${operationId} ${leaseToken}`,
  getKey: ({ operationId }) => operationId,
  text: `
  with input as (
    select * from jsonb_to_record($1::jsonb -> 0) as input(
      "operationId" text, "projectId" text, "installationId" text, "objectName" text, "leaseToken" text,
      "readType" text, "now" timestamptz, "count" int, "progress" jsonb, "metadata" jsonb, "line" jsonb,
      "deliveredHashes" text, "triggeredPages" int, "destination" text, "messages" jsonb,
      "groupId" text, "consumerId" text, "traceparent" text)
  ),
  objects as (
    select input."operationId", coalesce(object."triggeredPages" = input."triggeredPages", true) as "hasTriggeredPages"
    from input
    join "InstalledObject" object on object."projectId" = input."projectId"
      and object."installationId" = input."installationId" and object."objectName" = input."objectName"
    for no key update of object
  ),
  runs as (
    select input."projectId", input."operationId" from objects
    join input on input."operationId" = objects."operationId"
    join "ReadRun" run on run."projectId" = input."projectId" and run."operationId" = input."operationId"
      and run."leaseToken" = input."leaseToken"
    where objects."hasTriggeredPages"
    for no key update of run
  ),
  destinations as (
    select input."operationId", destination."id" as "destinationId", destination."type" = 'STREAM' as "isStream"
    from runs
    join input on input."operationId" = runs."operationId"
    join "Destination" destination on destination."projectId" = input."projectId"
      and destination."name" = input."destination"
    for key share of destination
  ),
  recorded_pages as (
    select input.*, destinations."destinationId", destinations."isStream" from destinations
    join input on input."operationId" = destinations."operationId"
  ),
  updated_objects as (
    update "InstalledObject" object set "lastReadTime" = page."now",
      "recordsRead" = least(object."recordsRead"::bigint + page."count", 2147483647),
      "triggeredPages" = object."triggeredPages" + (page."readType" = 'TRIGGERED')::int
    from recorded_pages page
    where object."projectId" = page."projectId" and object."installationId" = page."installationId"
      and object."objectName" = page."objectName"
  ),
  delivered_entries as (
    insert into "DeliveredEntries" as delivered ("projectId", "installationId", "objectName", "hashes")
    select "projectId", "installationId", "objectName", decode("deliveredHashes", 'base64')
    from recorded_pages where "deliveredHashes" is not null
    on conflict ("projectId", "installationId", "objectName") do update set "hashes" = excluded."hashes"
  ),
  advanced_runs as (
    update "ReadRun" run set "cursor" = progress."cursor", "earlierCursorHash" = progress."earlierCursorHash",
      "planKey" = progress."planKey",
      "pagesRead" = progress."pagesRead", "recordsRead" = progress."recordsRead",
      "estimatedTotal" = progress."estimatedTotal", "pendingRecords" = progress."pendingRecords", "failures" = 0
    from recorded_pages page cross join jsonb_to_record(page."progress") as progress(
      "cursor" text, "earlierCursorHash" text, "planKey" text, "pagesRead" int, "recordsRead" int, "estimatedTotal" int, "pendingRecords" text)
    where run."projectId" = page."projectId" and run."operationId" = page."operationId"
    returning run.*
  ),
  log_lines as (
    insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message", "details")
    select line."id", page."projectId", page."operationId", line."severity", line."message", line."details"
    from recorded_pages page cross join jsonb_to_record(page."line") as line(
      "id" text, "severity" "LogSeverity", "message" text, "details" jsonb)
  ),
  updated_operations as (
    update "Operation" operation set "metadata" = page."metadata", "updateTime" = page."now",
      "result" = case when run."paused" then operation."result" end
    from recorded_pages page join advanced_runs run on run."operationId" = page."operationId"
    where operation."projectId" = page."projectId" and operation."id" = page."operationId"
      and operation."status" = 'IN_PROGRESS' and page."metadata" is not null
    returning operation."id"
  ),
  messages as (
    select message."json" ->> 'id' as "id", message."json" ->> 'body' as "body", message."nth", page."projectId",
      page."operationId", page."destinationId", page."isStream", page."groupId", page."consumerId", page."traceparent"
    from recorded_pages page
    cross join jsonb_array_elements(page."messages") with ordinality as message("json", "nth")
  ),
  deliveries as (
    insert into "Delivery" ("id", "projectId", "destinationId", "operationId", "groupId", "consumerId",
      "traceparent", "body")
    select "id", "projectId", "destinationId", "operationId", "groupId", "consumerId", "traceparent", "body"
    from messages where not "isStream" order by "nth"
    returning "projectId"
  ),
  log_ends as (
    insert into "EventLog" as log ("projectId")
    select distinct "projectId" from messages where "isStream"
    on conflict ("projectId") do update set "lastPosition" = log."lastPosition"
    returning log."projectId"
  ),
  to_stream as (
    select 'msg' || substr("id", 4) as "id", "projectId", "destinationId", "nth", "groupId", "consumerId", "body"
    from messages where "isStream"
  ),
  ${STREAM_CTES},
  notifications as (
    select '${EVENTS_CHANNEL} ' || "projectId" as "notification"
    from (select distinct "projectId" from deliveries) project
    union all select '${EVENTS_CHANNEL} ' || "destinationId" from stream_ends
    union all select '${OPERATIONS_CHANNEL} ' || "id" from updated_operations
  )
  select input."operationId" as "key", objects."operationId" is not null as "hasObject",
    coalesce(objects."hasTriggeredPages", false) as "hasTriggeredPages",
    runs."operationId" is not null as "hasRun", destinations."operationId" is not null as "hasDestination",
    advanced_runs.*, ${notificationsSql('notifications')}
  from input
  left join objects on objects."operationId" = input."operationId"
  left join runs on runs."operationId" = input."operationId"
  left join destinations on destinations."operationId" = input."operationId"
  left join advanced_runs on advanced_runs."operationId" = input."operationId"`,
};

/** Records a page in a transaction that then ends the read. Other events of the project may wait for its commit. */
export async function recordPageInTransaction(
  tx: Transaction,
  row: PageToRecord,
): Promise<RecordedPage | null> {
  const [recordedPage = null] = await runInTransaction(tx, RECORD_PAGES, [row]);
  return recordedPage;
}
