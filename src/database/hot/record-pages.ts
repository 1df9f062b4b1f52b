/** Records a page of a read: the deliveries of its records and the read's progress, both or neither. */
import type { Tables } from '../tables.ts';
import { changeAndNotify, type Transaction } from '../transaction.ts';
import { STREAM_CTES } from './append-events.ts';
import {
  EVENTS_CHANNEL,
  OPERATIONS_CHANNEL,
  selectNotifications,
} from './notification-channels.ts';
import type { BatchChange } from './shared-changes.ts';

type ReadRun = Tables['ReadRun'];
type OperationLog = Tables['OperationLog'];

/** A page of a read. The claim with `leaseToken` must still hold the run. */
export interface PageToRecord
  extends Pick<
    ReadRun,
    'operationId' | 'projectId' | 'installationId' | 'objectName' | 'leaseToken'
  > {
  now: Date;
  count: number;
  progress: Pick<
    ReadRun,
    'cursor' | 'planKey' | 'pagesRead' | 'recordsRead' | 'estimatedTotal' | 'waiting'
  >;
  /** The operation's new metadata. Null leaves it unchanged until the operation ends. */
  metadata: object | null;
  line: Pick<OperationLog, 'id' | 'severity' | 'message'> & { details: object };
  /** The name of the destination. */
  destination: string;
  /** In the order of delivery, each with the id of its delivery. */
  messages: { id: string; body: string }[];
  groupId: string | null;
  consumerId: string | null;
  traceparent: string | null;
}

/** True for each required row that exists. If one is missing, nothing is recorded. */
interface RequiredRows {
  hasObject: boolean;
  hasRun: boolean;
  hasDestination: boolean;
}

/** The updated run. Its columns are null if the page was not recorded. */
export type RecordedPage = RequiredRows & (ReadRun | Record<keyof ReadRun, null>);

/** Locks objects before their runs, as pausing does, and runs before logs. */
export const RECORD_PAGES: BatchChange<PageToRecord, RecordedPage> = {
  // A claim has one page at a time, so pages of other claims are in other queues.
  getQueue: ({ operationId, leaseToken }) => `${operationId} ${leaseToken}`,
  getKey: ({ operationId }) => operationId,
  text: `
  with input as (
    select * from jsonb_to_record($1::jsonb -> 0) as i(
      "operationId" text, "projectId" text, "installationId" text, "objectName" text, "leaseToken" text,
      "now" timestamptz, "count" int, "progress" jsonb, "metadata" jsonb, "line" jsonb, "destination" text,
      "messages" jsonb, "groupId" text, "consumerId" text, "traceparent" text)
  ),
  objects as (
    select i."projectId", i."operationId" from input i
    join "InstalledObject" o on o."projectId" = i."projectId" and o."installationId" = i."installationId"
      and o."objectName" = i."objectName"
    for no key update of o
  ),
  runs as (
    select i."projectId", i."operationId" from objects o
    join input i on i."operationId" = o."operationId"
    join "ReadRun" r on r."projectId" = i."projectId" and r."operationId" = i."operationId"
      and r."leaseToken" = i."leaseToken"
    for no key update of r
  ),
  destinations as (
    select i."operationId", d."id" as "destinationId", d."type" = 'STREAM' as "isStream" from runs r
    join input i on i."operationId" = r."operationId"
    join "Destination" d on d."projectId" = i."projectId" and d."name" = i."destination"
    for key share of d
  ),
  recorded_pages as (
    select i.*, d."destinationId", d."isStream" from destinations d
    join input i on i."operationId" = d."operationId"
  ),
  updated_objects as (
    update "InstalledObject" o set "lastReadTime" = i."now",
      "recordsRead" = least(o."recordsRead"::bigint + i."count", 2147483647)
    from recorded_pages i
    where o."projectId" = i."projectId" and o."installationId" = i."installationId"
      and o."objectName" = i."objectName"
  ),
  advanced_runs as (
    update "ReadRun" r set "cursor" = p."cursor", "planKey" = p."planKey", "pagesRead" = p."pagesRead",
      "recordsRead" = p."recordsRead", "estimatedTotal" = p."estimatedTotal", "waiting" = p."waiting",
      "failures" = 0
    from recorded_pages i cross join jsonb_to_record(i."progress") as p(
      "cursor" text, "planKey" text, "pagesRead" int, "recordsRead" int, "estimatedTotal" int, "waiting" text)
    where r."projectId" = i."projectId" and r."operationId" = i."operationId"
    returning r.*
  ),
  log_lines as (
    insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message", "details")
    select l."id", i."projectId", i."operationId", l."severity", l."message", l."details"
    from recorded_pages i cross join jsonb_to_record(i."line") as l(
      "id" text, "severity" "LogSeverity", "message" text, "details" jsonb)
  ),
  updated_operations as (
    update "Operation" o set "metadata" = i."metadata", "updateTime" = i."now",
      "result" = case when a."paused" then o."result" end
    from recorded_pages i join advanced_runs a on a."operationId" = i."operationId"
    where o."projectId" = i."projectId" and o."id" = i."operationId" and o."status" = 'IN_PROGRESS'
      and i."metadata" is not null
    returning o."id"
  ),
  messages as (
    select m."message" ->> 'id' as "id", m."message" ->> 'body' as "body", m."nth", i."projectId",
      i."operationId", i."destinationId", i."isStream", i."groupId", i."consumerId", i."traceparent"
    from recorded_pages i
    cross join jsonb_array_elements(i."messages") with ordinality as m("message", "nth")
  ),
  deliveries as (
    insert into "Delivery" ("id", "projectId", "destinationId", "operationId", "groupId", "consumerId",
      "traceparent", "body")
    select "id", "projectId", "destinationId", "operationId", "groupId", "consumerId", "traceparent", "body"
    from messages where not "isStream" order by "nth"
    returning "projectId"
  ),
  log_ends as (
    insert into "EventLog" as l ("projectId")
    select distinct "projectId" from messages where "isStream"
    on conflict ("projectId") do update set "lastPosition" = l."lastPosition"
    returning l."projectId"
  ),
  to_stream as (
    select 'msg' || substr("id", 4) as "id", "projectId", "destinationId", "nth", "groupId", "consumerId", "body"
    from messages where "isStream"
  ),
  ${STREAM_CTES},
  notifications as (
    select '${EVENTS_CHANNEL} ' || "projectId" as "notification" from (select distinct "projectId" from deliveries) d
    union all select '${EVENTS_CHANNEL} ' || "destinationId" from stream_ends
    union all select '${OPERATIONS_CHANNEL} ' || "id" from updated_operations
  )
  select i."operationId" as "key", o."operationId" is not null as "hasObject",
    r."operationId" is not null as "hasRun", d."operationId" is not null as "hasDestination", a.*,
    ${selectNotifications('notifications')}
  from input i
  left join objects o on o."operationId" = i."operationId"
  left join runs r on r."operationId" = i."operationId"
  left join destinations d on d."operationId" = i."operationId"
  left join advanced_runs a on a."operationId" = i."operationId"`,
};

/** Records a page in a transaction that then ends the read. Other events of the project may wait for its commit. */
export async function recordPageInTransaction(
  tx: Transaction,
  row: PageToRecord,
): Promise<RecordedPage | null> {
  const values = [JSON.stringify([row])];
  const [recordedPage = null] = await changeAndNotify<RecordedPage>(tx, RECORD_PAGES.text, values);
  return recordedPage;
}
