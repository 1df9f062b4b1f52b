/**
 * The outbox: the table Delivery as workers see it. Its statements are written by hand because each of
 * them handles many deliveries. A delivery is due when its nextAttemptTime has come and nobody holds it;
 * leases are told by the database's clock, the same for all processes.
 */
import { acrossProjects } from '../database/all-projects.ts';
import { APPENDING, EVENT_COLUMNS, type EventRow } from '../database/changes/append-events.ts';
import { hintsColumn } from '../database/changes/hint-channels.ts';
import type { Database } from '../database/database.ts';
import type { Hint } from '../database/hints/notifications.ts';
import { keyColumns, type RowKey } from '../database/row-keys.ts';
import type { RunQuery } from '../database/rows.ts';
import { isFreeSql } from '../work/lease.ts';

/** A delivery that this process may send until its lease ends, and where to. */
export interface ClaimedRow {
  id: string;
  projectId: string;
  destinationId: string;
  body: string;
  /** Attempts before this one. */
  attemptCount: number;
  leaseToken: string;
  url: string;
  headers: Record<string, string> | null;
  isFailing: boolean;
  /** Another one may wait for its end. */
  isOrdered: boolean;
  signingSecretSealed: string;
  previousSecretSealed: string | null;
  previousSecretExpireTime: Date | null;
  /** Of the trace in which it was owed. */
  traceparent: string | null;
  /** The database's clock at the claim, in milliseconds. */
  claimedMs: number;
}

/** Destinations take turns in the order of these. */
export type DestinationKey = Pick<ClaimedRow, 'projectId' | 'destinationId'>;

export interface ClaimOrder {
  /** Destinations up to this one have had their turn. */
  after: DestinationKey;
  /** How many each destination may have: these, and others the default. */
  free: ReadonlyMap<string, number>;
  freeByDefault: number;
  takesFailing: boolean;
  rows: number;
  bytes: number;
  leaseToken: string;
  leaseMs: number;
  /** The database's clock, as far as it is known here: what it says itself counts too. */
  now: Date;
}

/**
 * Walks from one destination with pending deliveries to the next, one entry of the index for each: a dead
 * destination with a hundred thousand due deliveries costs no more than one with a single one.
 */
const owedSql = (after: string) => `
  with recursive owed as (
    (select "projectId", "destinationId" as "id", "nextAttemptTime" as "earliest" from "Delivery"
      where "nextAttemptTime" is not null and ("projectId", "destinationId") > (${after})
      order by "projectId", "destinationId", "nextAttemptTime" limit 1)
    union all
    select following.* from owed cross join lateral (
      select "projectId", "destinationId", "nextAttemptTime" from "Delivery"
      where "nextAttemptTime" is not null and ("projectId", "destinationId") > (owed."projectId", owed."id")
      order by "projectId", "destinationId", "nextAttemptTime" limit 1) following
  )`;

/** SQL: when a worker has something to do next, that others have not begun or may have left; null if nothing waits. */
export const EARLIEST_DUE = `
  ${owedSql("'', ''")}
  select least(
    (select min(owed."earliest") from owed
      join "Destination" d on d."projectId" = owed."projectId" and d."id" = owed."id"
      where d."status" = 'ENABLED'),
    (select now() from "Delivery" where "afterId" is not null and "status" = 'PENDING' limit 1))`;

/** Takes due deliveries of enabled destinations, one destination after the other. */
const CLAIM = acrossProjects(
  'deliveries that are due',
  `
  ${owedSql('$1, $2')}, due as materialized (
    select delivery.* from owed
    left join unnest($3::text[], $4::int[]) as known("id", "free") on known."id" = owed."id"
    cross join lateral (
      select "projectId", "id" from "Destination"
      where "projectId" = owed."projectId" and "id" = owed."id" and "status" = 'ENABLED'
        and ($5::boolean or "failingSince" is null)
      limit 1) destination
    cross join lateral (
      select ready.* from (
        select "projectId", "id", octet_length("body") as "bytes" from "Delivery"
        where "projectId" = destination."projectId" and "destinationId" = destination."id"
          and "nextAttemptTime" <= greatest(now(), $6) and ${isFreeSql()}
        order by "projectId", "destinationId", "nextAttemptTime" limit 200
        for update skip locked) ready
      limit coalesce(known."free", $7::int)) delivery
    where owed."earliest" <= greatest(now(), $6)
    limit $8
  ), chosen as (
    select "projectId", "id", sum("bytes") over (rows unbounded preceding) - "bytes" as "bytesBefore" from due
  )
  update "Delivery" d set
    "leaseToken" = $10, "leaseExpireTime" = now() + $11::int * interval '1 millisecond'
  from chosen, "Destination" t
  where chosen."bytesBefore" < $9 and d."projectId" = chosen."projectId" and d."id" = chosen."id"
    and t."id" = d."destinationId" and t."projectId" = d."projectId"
  returning d."id", d."projectId", d."destinationId", d."body", d."attemptCount", d."leaseToken", d."traceparent",
    t."url", t."headers", t."failingSince" is not null as "isFailing", t."signingSecretSealed",
    d."orderKey" is not null as "isOrdered",
    t."previousSecretSealed", t."previousSecretExpireTime",
    (extract(epoch from clock_timestamp()) * 1000)::float8 as "claimedMs"`,
);

export function claimDue(query: RunQuery, order: ClaimOrder): Promise<ClaimedRow[]> {
  return query<ClaimedRow>(CLAIM, [
    order.after.projectId,
    order.after.destinationId,
    [...order.free.keys()],
    [...order.free.values()],
    order.takesFailing,
    order.now,
    order.freeByDefault,
    order.rows,
    order.bytes,
    order.leaseToken,
    order.leaseMs,
  ]);
}

/** The outcome of one attempt, and what its delivery becomes. */
export interface AttemptRecord {
  attemptId: string;
  projectId: string;
  deliveryId: string;
  destinationId: string;
  leaseToken: string;
  startTime: Date;
  durationMs: number;
  responseStatus: number | null;
  responseBody: string | null;
  error: string | null;
  /** The event that it is given up, if it is. */
  event: EventRow | null;
  status: 'PENDING' | 'SUCCEEDED' | 'FAILED';
  failureReason: string | null;
  nextAttemptTime: Date | null;
}

export interface Hopelessness {
  /** A destination that has had no success since this time is disabled, if it also has `failedAttempts` failures. */
  failingSince: Date;
  failedAttempts: number;
}

/** Destinations that have failed so long that somebody has to hear of it. */
export interface Failing {
  /** To be disabled. */
  hopeless: DestinationKey[];
  /** To be told of: no event has told it yet. */
  untold: DestinationKey[];
}

const failingSql = (condition: string) => `(
    select coalesce(json_agg(json_build_object('projectId', "projectId", 'destinationId', "id")), '[]')
    from worse where ${condition})`;

/**
 * Records attempts, what becomes of their deliveries, and how often their destinations fail. A result whose
 * claim was taken over meanwhile changes nothing: the newer claim's result counts.
 */
const recordSql = (isGivenUp: boolean) => `
  with result as (
    select * from json_to_recordset($1::json) as r("attemptId" text, "projectId" text,
      "deliveryId" text, "destinationId" text, "leaseToken" text, "startTime" timestamptz, "durationMs" int,
      "responseStatus" int, "responseBody" text, "event" jsonb, "error" text, "status" text, "failureReason" text,
      "nextAttemptTime" timestamptz)
  ), recorded as (
    update "Delivery" d set
      "status" = r."status"::"DeliveryStatus", "failureReason" = r."failureReason",
      "attemptCount" = d."attemptCount" + 1, "nextAttemptTime" = r."nextAttemptTime",
      "leaseToken" = null, "leaseExpireTime" = null, "updateTime" = $2
    from result r
    where d."projectId" = r."projectId" and d."id" = r."deliveryId" and d."leaseToken" = r."leaseToken" and d."status" = 'PENDING'
    returning r.*, d."attemptCount", d."eventType", d."operationId"
  ), attempt as (
    insert into "DeliveryAttempt" ("id", "projectId", "deliveryId", "attemptNumber",
      "responseStatus", "responseBody", "error", "durationMs", "createTime")
    select "attemptId", "projectId", "deliveryId", "attemptCount",
      "responseStatus", "responseBody", "error", "durationMs", "startTime" from recorded
  ), health as (
    select "projectId", "destinationId" as "id", bool_or("status" = 'SUCCEEDED') as "works",
      count(*)::int as "attempts", min("startTime") as "since"
    from recorded group by 1, 2
  ), better as (
    update "Destination" d set "failingSince" = null, "failedAttempts" = 0, "isFailingTold" = false
    from health h
    where d."projectId" = h."projectId" and d."id" = h."id" and h."works" and d."failingSince" is not null
  ), worse as (
    update "Destination" d set
      "failingSince" = coalesce(d."failingSince", h."since"),
      "failedAttempts" = d."failedAttempts" + h."attempts"
    from health h where d."projectId" = h."projectId" and d."id" = h."id" and not h."works"
    returning d."projectId", d."id", d."failingSince", d."failedAttempts", d."isFailingTold"
  )${isGivenUp ? GIVEN_UP : ''}
  select (select count(*)::int from recorded) as "recorded",
    ${failingSql('"failingSince" <= $3 and "failedAttempts" >= $4')} as "hopeless",
    ${failingSql('"failingSince" <= $5 and not "isFailingTold"')} as "untold"${isGivenUp ? `, ${hintsColumn('event_hints')}` : ''}`;

/**
 * Members of a `with`: the events that deliveries are given up. A delivery of such an event, or of an event about its
 * destination's state, makes none.
 */
const GIVEN_UP = `,
  happened as (
    select h."eventId", h."deliveryId", h."projectId", h."eventType", h."wireName",
      h."data" || jsonb_strip_nulls(jsonb_build_object('destinationName', t."name",
        'operationId', r."operationId", 'attempts', r."attemptCount")) as "data",
      h."connectionId", h."installationId", h."operationId", h."destinationId", h."groupId", h."consumerId", h."traceparent"
    from recorded r
    join "Destination" t on t."id" = r."destinationId" and t."projectId" = r."projectId"
    cross join jsonb_to_record(r."event") as h(${EVENT_COLUMNS})
    where r."status" = 'FAILED' and (r."eventType" is null or r."eventType" not in
      ('DELIVERY_FAILED', 'DESTINATION_WEBHOOK_FAILING', 'DESTINATION_WEBHOOK_DISABLED'))
  ), ${APPENDING}`;

const RECORD = recordSql(false);
const RECORD_WITH_GIVEN_UP = recordSql(true);

/** How many were recorded, and destinations that have failed for long. */
export async function recordAttempts(
  { rows, tell }: Pick<Database, 'rows' | 'tell'>,
  attempts: readonly AttemptRecord[],
  { now, hopeless, tellSince }: { now: Date; hopeless: Hopelessness; tellSince: Date },
): Promise<{ recorded: number } & Failing> {
  const isGivenUp = attempts.some(({ event }) => event !== null);
  const text = isGivenUp ? RECORD_WITH_GIVEN_UP : RECORD;
  type Recorded = { recorded: number } & Failing & { hints?: Hint[] };
  const [row] = await rows.query<Recorded>(text, [
    JSON.stringify(attempts),
    now,
    hopeless.failingSince,
    hopeless.failedAttempts,
    tellSince,
  ]);
  const { hints = [], ...recorded } = row ?? { recorded: 0, hopeless: [], untold: [] };
  tell(hints);
  return recorded;
}

const RELEASE_NEXT = `
  update "Delivery" d set "afterId" = null, "nextAttemptTime" = now()
  from unnest($1::text[], $2::text[]) as ended("projectId", "id")
  where d."projectId" = ended."projectId" and d."afterId" = ended."id" and d."status" = 'PENDING'`;

/** Those that waited for the end of these are due. */
export async function releaseNext(query: RunQuery, ended: readonly RowKey[]): Promise<void> {
  await query(RELEASE_NEXT, keyColumns(ended));
}

const WAITING_AT_ONCE = 1_000;
const ORPHANS = acrossProjects(
  'deliveries that wait for one that has ended',
  `select d."projectId", d."afterId" as "id" from "Delivery" d
   left join "Delivery" before on before."projectId" = d."projectId" and before."id" = d."afterId"
   where d."afterId" is not null and d."status" = 'PENDING' and before."status" is distinct from 'PENDING'
   limit ${WAITING_AT_ONCE}`,
);

/** Those whose predecessor's end was recorded by a process that ended before it could release them. */
export async function releaseOrphans(query: RunQuery): Promise<void> {
  const ended = await query<RowKey>(ORPHANS, []);
  if (ended.length > 0) await releaseNext(query, ended);
}

const RELEASE = `
  update "Delivery" d set "leaseToken" = null, "leaseExpireTime" = null
  from unnest($1::text[], $2::text[]) as claimed("projectId", "id")
  where d."projectId" = claimed."projectId" and d."id" = claimed."id" and d."leaseToken" = any($3)`;

/** Gives back what was claimed and not sent: it is due again at once. */
export async function release(
  query: RunQuery,
  claimed: readonly Pick<ClaimedRow, 'projectId' | 'id' | 'leaseToken'>[],
): Promise<void> {
  const tokens = new Set(claimed.map(({ leaseToken }) => leaseToken));
  await query(RELEASE, [...keyColumns(claimed), [...tokens]]);
}
