/** Records a page of a read: the deliveries of its records and the read's progress, both or neither. */
import type { Tables } from '../tables.ts';
import { changeAndNotify, type Transaction } from '../transaction.ts';
import { STREAMING } from './append-events.ts';
import {
  EVENTS_CHANNEL,
  notificationsColumn,
  OPERATIONS_CHANNEL,
} from './notification-channels.ts';
import type { ChangeOfMany } from './shared-changes.ts';

type ReadRun = Tables['ReadRun'];
type OperationLog = Tables['OperationLog'];

/** A page, read under the claim of that lease token. */
export interface PageRow
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
  /** In their order, each with the id of its delivery. */
  messages: { id: string; body: string }[];
  groupId: string | null;
  consumerId: string | null;
  traceparent: string | null;
}

/** Which of the needed rows exist. If one is missing, nothing is recorded. */
interface Found {
  hasObject: boolean;
  hasRun: boolean;
  hasDestination: boolean;
}

/** The updated run if the page was recorded, else nulls. */
export type RecordedPage = Found & (ReadRun | Record<keyof ReadRun, null>);

/** Locks objects before their runs, as pausing does, and runs before logs. */
export const RECORD_PAGES: ChangeOfMany<PageRow, RecordedPage> = {
  // A claim has one page at a time, so pages of other claims are other lines.
  lineOf: ({ operationId, leaseToken }) => `${operationId} ${leaseToken}`,
  keyOf: ({ operationId }) => operationId,
  text: `
  with given as (
    select * from jsonb_to_record($1::jsonb -> 0) as g(
      "operationId" text, "projectId" text, "installationId" text, "objectName" text, "leaseToken" text,
      "now" timestamptz, "count" int, "progress" jsonb, "metadata" jsonb, "line" jsonb, "destination" text,
      "messages" jsonb, "groupId" text, "consumerId" text, "traceparent" text)
  ),
  objects as (
    select g."projectId", g."operationId" from given g
    join "InstalledObject" o on o."projectId" = g."projectId" and o."installationId" = g."installationId"
      and o."objectName" = g."objectName"
    for no key update of o
  ),
  runs as (
    select g."projectId", g."operationId" from objects o
    join given g on g."operationId" = o."operationId"
    join "ReadRun" r on r."projectId" = g."projectId" and r."operationId" = g."operationId"
      and r."leaseToken" = g."leaseToken"
    for no key update of r
  ),
  destinations as (
    select g."operationId", d."id" as "destinationId", d."type" = 'STREAM' as "isStream" from runs r
    join given g on g."operationId" = r."operationId"
    join "Destination" d on d."projectId" = g."projectId" and d."name" = g."destination"
    for key share of d
  ),
  recorded as (
    select g.*, d."destinationId", d."isStream" from destinations d
    join given g on g."operationId" = d."operationId"
  ),
  counted as (
    update "InstalledObject" o set "lastReadTime" = g."now",
      "recordsRead" = least(o."recordsRead"::bigint + g."count", 2147483647)
    from recorded g
    where o."projectId" = g."projectId" and o."installationId" = g."installationId"
      and o."objectName" = g."objectName"
  ),
  advanced as (
    update "ReadRun" r set "cursor" = p."cursor", "planKey" = p."planKey", "pagesRead" = p."pagesRead",
      "recordsRead" = p."recordsRead", "estimatedTotal" = p."estimatedTotal", "waiting" = p."waiting",
      "failures" = 0
    from recorded g cross join jsonb_to_record(g."progress") as p(
      "cursor" text, "planKey" text, "pagesRead" int, "recordsRead" int, "estimatedTotal" int, "waiting" text)
    where r."projectId" = g."projectId" and r."operationId" = g."operationId"
    returning r.*
  ),
  lines as (
    insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message", "details")
    select l."id", g."projectId", g."operationId", l."severity", l."message", l."details"
    from recorded g cross join jsonb_to_record(g."line") as l(
      "id" text, "severity" "LogSeverity", "message" text, "details" jsonb)
  ),
  noted as (
    update "Operation" o set "metadata" = g."metadata", "updateTime" = g."now",
      "result" = case when a."paused" then o."result" end
    from recorded g join advanced a on a."operationId" = g."operationId"
    where o."projectId" = g."projectId" and o."id" = g."operationId" and o."status" = 'IN_PROGRESS'
      and g."metadata" is not null
    returning o."id"
  ),
  messages as (
    select m."message" ->> 'id' as "id", m."message" ->> 'body' as "body", m."nth", g."projectId",
      g."operationId", g."destinationId", g."isStream", g."groupId", g."consumerId", g."traceparent"
    from recorded g
    cross join jsonb_array_elements(g."messages") with ordinality as m("message", "nth")
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
  ${STREAMING},
  notifications as (
    select '${EVENTS_CHANNEL} ' || "projectId" as "notification" from (select distinct "projectId" from deliveries) d
    union all select '${EVENTS_CHANNEL} ' || "destinationId" from stream_ends
    union all select '${OPERATIONS_CHANNEL} ' || "id" from noted
  )
  select g."operationId" as "of", o."operationId" is not null as "hasObject",
    r."operationId" is not null as "hasRun", d."operationId" is not null as "hasDestination", a.*,
    ${notificationsColumn('notifications')}
  from given g
  left join objects o on o."operationId" = g."operationId"
  left join runs r on r."operationId" = g."operationId"
  left join destinations d on d."operationId" = g."operationId"
  left join advanced a on a."operationId" = g."operationId"`,
};

/** Records a page in a transaction that then ends the read. Other events of the project may wait for its commit. */
export async function recordPageIn(tx: Transaction, row: PageRow): Promise<RecordedPage | null> {
  const values = [JSON.stringify([row])];
  const [found = null] = await changeAndNotify<RecordedPage>(tx, RECORD_PAGES.text, values);
  return found;
}
