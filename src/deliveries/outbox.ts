/**
 * The outbox: the table Delivery as workers see it. Its statements are written by hand because each of
 * them handles many deliveries. A delivery is due when its nextAttemptTime has come and nobody holds it;
 * leases are told by the database's clock, the same for all processes.
 */

import {
  changeFound,
  isAtPlaceOf,
  type Missed,
  missedColumn,
  rowsByKey,
} from '../database/keyed-rows.ts';
import {
  acrossProjects,
  forProjects,
  type IsAsked,
  sent,
} from '../database/projects/all-projects.ts';
import { type Part, type ProjectGroup, partsOf } from '../database/projects/project-groups.ts';
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
  urlSealed: string | null;
  maskedHeaders: Record<string, string> | null;
  headersSealed: string | null;
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

/** The projects of a statement; null: all. */
export type ProjectIds = readonly string[] | null;

/** Destinations take turns in the order of these. */
export type DestinationKey = Pick<ClaimedRow, 'projectId' | 'destinationId'>;

export interface ClaimOrder {
  projectIds: ProjectIds;
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
export const owedSql = (after: string, isAsked: IsAsked) => `
  with recursive owed as (
    (select "projectId", "destinationId" as "id", "nextAttemptTime" as "earliest" from "Delivery"
      where ${isAsked('"projectId"')} and "nextAttemptTime" is not null
        and ("projectId", "destinationId") > (${after})
      order by "projectId", "destinationId", "nextAttemptTime" limit 1)
    union all
    select following.* from owed cross join lateral (
      select "projectId", "destinationId", "nextAttemptTime" from "Delivery"
      where ${isAsked('"projectId"')} and "nextAttemptTime" is not null
        and ("projectId", "destinationId") > (owed."projectId", owed."id")
      order by "projectId", "destinationId", "nextAttemptTime" limit 1) following
  )`;

/** SQL: when a worker has something to do next, that others have not begun or may have left; null if nothing waits. */
export const earliestDue = (isAsked: IsAsked) => `
  ${owedSql("'', ''", isAsked)}
  select least(
    (select min(owed."earliest") from owed
      join "Destination" d on d."projectId" = owed."projectId" and d."id" = owed."id"
      where d."status" = 'ENABLED'),
    (select now() from "Delivery" where ${isAsked('"projectId"')} and "afterId" is not null and "status" = 'PENDING' limit 1))`;

const OWED = acrossProjects(
  'projects that are owed deliveries',
  (isAsked) => `
  select t."projectId" from "Destination" t
  where ${isAsked('t."projectId"')} and t."status" = 'ENABLED' and exists (
    select 1 from "Delivery" d where d."projectId" = t."projectId" and d."destinationId" = t."id"
      and d."nextAttemptTime" <= greatest(now(), $1))
  group by t."projectId"`,
);

/** Which of the projects are owed something that is due, also if it is held. */
export async function findOwed(
  query: RunQuery,
  projectIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const owed = await query<{ projectId: string }>(...sent(OWED, projectIds, [now]));
  return owed.map(({ projectId }) => projectId);
}

const destinationOf = (row: string, id: string, columns: readonly string[]) =>
  rowsByKey('Destination', { projectId: `${row}."projectId"`, id: `${row}."${id}"` }, { columns });

/** Takes due deliveries of enabled destinations, one destination after the other. */
const CLAIM = acrossProjects(
  'deliveries that are due',
  (isAsked) => `
  ${owedSql('$1, $2', isAsked)}, due as materialized (
    select delivery.* from owed
    left join unnest($3::text[], $4::int[]) as known("id", "free") on known."id" = owed."id"
    cross join ${destinationOf('owed', 'id', ['status', 'failingSince'])} destination
    cross join lateral (
      select ready.* from (
        select ctid as "place", owed."projectId", octet_length("body") as "bytes" from "Delivery"
        where "projectId" = owed."projectId" and "destinationId" = owed."id"
          and "nextAttemptTime" <= greatest(now(), $6) and ${isFreeSql()}
        order by "projectId", "destinationId", "nextAttemptTime" limit 200
        for update skip locked) ready
      limit coalesce(known."free", $7::int)) delivery
    where owed."earliest" <= greatest(now(), $6)
      and destination."status" = 'ENABLED' and ($5::boolean or destination."failingSince" is null)
    limit $8
  ), chosen as (
    select "place", "projectId", sum("bytes") over (rows unbounded preceding) - "bytes" as "bytesBefore" from due
  ), within_bytes as (
    select "place", "projectId" from chosen where "bytesBefore" < $9
  ), claimed as (
    update "Delivery" d set
      "leaseToken" = $10, "leaseExpireTime" = now() + $11::int * interval '1 millisecond'
    from within_bytes w where ${isAtPlaceOf('d', { with: 'within_bytes', as: 'w' })}
    returning d."id", d."projectId", d."destinationId", d."body", d."attemptCount", d."leaseToken", d."traceparent",
      d."orderKey" is not null as "isOrdered"
  )
  select d.*, t."url", t."urlSealed", t."maskedHeaders", t."headersSealed", t."failingSince" is not null as "isFailing", t."signingSecretSealed",
    t."previousSecretSealed", t."previousSecretExpireTime",
    (extract(epoch from clock_timestamp()) * 1000)::float8 as "claimedMs"
  from claimed d cross join ${destinationOf('d', 'destinationId', [
    'url',
    'urlSealed',
    'maskedHeaders',
    'headersSealed',
    'failingSince',
    'signingSecretSealed',
    'previousSecretSealed',
    'previousSecretExpireTime',
  ])} t`,
);

export function claimDue(query: RunQuery, order: ClaimOrder): Promise<ClaimedRow[]> {
  const values = [
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
  ];
  return query<ClaimedRow>(...sent(CLAIM, order.projectIds, values));
}

/** SQL, of `d`: a form in which no index that has the status offers itself. */
export const IS_PENDING = `d."status" is not distinct from 'PENDING'`;

const WAITING_AT_ONCE = 1_000;

const RELEASE_NEXT = forProjects(
  (isAsked) => `
  with found as materialized (
    select d."place", ended."projectId" from unnest($1::text[], $2::text[]) as ended("projectId", "id")
    cross join ${rowsByKey(
      'Delivery',
      { afterId: 'ended."id"' },
      {
        beside: { projectId: 'ended."projectId"' },
        columns: ['status'],
        condition: '"afterId" is not null',
        limit: WAITING_AT_ONCE,
      },
    )} d
    where d."status" = 'PENDING' and ${isAsked('ended."projectId"')}
  ), released as (
    update "Delivery" d set "afterId" = null, "nextAttemptTime" = now()
    from found f where ${isAtPlaceOf('d', { with: 'found', as: 'f' })} and ${IS_PENDING}
    returning 1
  )
  select ${missedColumn('found', 'released')}`,
);

/** Those that waited for the end of these are due. */
export async function releaseNext(
  query: RunQuery,
  { projectIds, rows: ended }: Part<RowKey>,
): Promise<void> {
  await changeFound(() => query<Missed>(...sent(RELEASE_NEXT, projectIds, keyColumns(ended))));
}

const ORPHANS = acrossProjects(
  'deliveries that wait for one that has ended',
  (isAsked) => `select d."projectId", d."afterId" as "id" from "Delivery" d
   left join "Delivery" before on before."projectId" = d."projectId" and before."id" = d."afterId"
   where ${isAsked('d."projectId"')} and d."afterId" is not null and d."status" = 'PENDING' and before."status" is distinct from 'PENDING'
   limit ${WAITING_AT_ONCE}`,
);

/** Those whose predecessor's end was recorded by a process that ended before it could release them. */
export async function releaseOrphans(query: RunQuery, group: ProjectGroup): Promise<void> {
  const ended = await query<RowKey>(...sent(ORPHANS, group.projectIds(), []));
  if (ended.length === 0) return;
  for (const part of partsOf(group, ended, ({ projectId }) => projectId)) {
    await releaseNext(query, part);
  }
}

const RELEASE = forProjects(
  (isAsked) => `
  with found as materialized (
    select d."place", claimed."projectId" from unnest($1::text[], $2::text[]) as claimed("projectId", "id")
    cross join ${rowsByKey('Delivery', { projectId: 'claimed."projectId"', id: 'claimed."id"' }, { columns: ['leaseToken'] })} d
    where d."leaseToken" = any($3) and ${isAsked('claimed."projectId"')}
  ), released as (
    update "Delivery" d set "leaseToken" = null, "leaseExpireTime" = null
    from found f where ${isAtPlaceOf('d', { with: 'found', as: 'f' })} and d."leaseToken" = any($3)
    returning 1
  )
  select ${missedColumn('found', 'released')}`,
);

/** Gives back what was claimed and not sent: it is due again at once. */
export async function release(
  query: RunQuery,
  { projectIds, rows: claimed }: Part<Pick<ClaimedRow, 'projectId' | 'id' | 'leaseToken'>>,
): Promise<void> {
  const tokens = new Set(claimed.map(({ leaseToken }) => leaseToken));
  const values = [...keyColumns(claimed), [...tokens]];
  await changeFound(() => query<Missed>(...sent(RELEASE, projectIds, values)));
}
