/**
 * Claims and releases deliveries of the outbox, which is the table Delivery. The SQL is hand-written, because each
 * statement handles many deliveries. A delivery is due if its nextAttemptTime has passed and no process holds its
 * lease. Leases use the database's clock, which all processes share.
 */

import type { KeyObject } from 'node:crypto';
import { isFreeSql } from '../database/leases/lease.ts';
import type { Database } from '../database/open/database.ts';
import {
  isAtPositionSql,
  type MissedCount,
  missedCountSql,
  repeatUntilAllChanged,
  rowsByKeySql,
} from '../database/statements/keyed-rows.ts';
import {
  acrossProjects,
  bindProjects,
  forProjects,
  type InProjects,
} from '../database/statements/projects/all-projects.ts';
import { batchRows, type RowBatch } from '../database/statements/projects/shard-groups.ts';
import { type RowKey, toKeyColumns } from '../database/statements/row-keys.ts';
import type { RunStatement } from '../database/statements/statements.ts';
import type { MaskText } from '../work/secret-mask.ts';
import type { TargetHeaders } from './target-secrets.ts';

/** A delivery that this process may send until its lease ends, with its target. */
export interface ClaimedRow {
  id: string;
  projectId: string;
  destinationId: string;
  body: string;
  /** The number of earlier attempts. */
  attemptCount: number;
  leaseToken: string;
  url: string;
  urlSealed: string | null;
  maskedHeaders: Record<string, string> | null;
  headersSealed: string | null;
  isFailing: boolean;
  /** True if another delivery may wait for this delivery. */
  isOrdered: boolean;
  signingSecretSealed: string;
  previousSecretSealed: string | null;
  previousSecretExpireTime: Date | null;
  /** The trace in which it was enqueued. */
  traceparent: string | null;
  /** The database's clock at the claim, in milliseconds. */
  claimedMs: number;
}

/** The target of a destination's messages, with decrypted values. */
export interface DeliveryTarget {
  keys: readonly KeyObject[];
  url: string;
  headers: TargetHeaders;
  /** Masks the values of the URL and the headers, and the signing secrets. */
  mask: MaskText;
}

export interface ClaimedDelivery {
  row: ClaimedRow;
  bodyBytes: number;
  /** Null if the destination's secrets can't be opened: the attempt fails without being sent. */
  target: DeliveryTarget | null;
  /** The latest start of an attempt by performance.now(). A later attempt could outlast its lease. */
  startByMs: number;
  /** The database's clock minus performance.now(). */
  clockOffsetMs: number;
}

/** The deliveries that a claim may take for a project. */
export interface ProjectCapacity {
  rows: number;
  bytes: number;
  /** The part of `rows` for failing destinations. */
  failing: number;
}

/** The projects of a statement. Null means all projects. */
export type ProjectIds = readonly string[] | null;

export type DestinationKey = Pick<ClaimedRow, 'projectId' | 'destinationId'>;

interface ClaimOrder {
  projectIds: ProjectIds;
  /** Projects take turns in the order of their ids. Projects up to this id have had their turn. */
  afterProjectId: string;
  /** The last destination that has had its turn, by project. */
  lastDestinationByProject: ReadonlyMap<string, string>;
  /** How many deliveries of each destination may be claimed. Default: `freeRowsDefault`. */
  freeRowsByDestination: ReadonlyMap<string, number>;
  freeRowsDefault: number;
  /** The free capacity of each project. Other projects have the capacity `other`. */
  capacities: { byProject: ReadonlyMap<string, ProjectCapacity>; other: ProjectCapacity };
  rows: number;
  bytes: number;
  leaseToken: string;
  leaseMs: number;
  /** The process's estimate of the database's clock. The statement uses the later of the two times. */
  now: Date;
}

/**
 * Selects the destinations with pending deliveries by a recursive scan that reads one index entry for each. A destination
 * with a hundred thousand due deliveries costs no more than a destination with one.
 */
export const selectPendingSql = (after: string, inProjects: InProjects) => `
  with recursive pending_destination as (
    (select "projectId", "destinationId" as "id", "nextAttemptTime" as "earliest" from "Delivery"
      where ${inProjects('"projectId"')} and "nextAttemptTime" is not null
        and ("projectId", "destinationId") > (${after})
      order by "projectId", "destinationId", "nextAttemptTime" limit 1)
    union all
    select following.* from pending_destination cross join lateral (
      select "projectId", "destinationId", "nextAttemptTime" from "Delivery"
      where ${inProjects('"projectId"')} and "nextAttemptTime" is not null
        and ("projectId", "destinationId") > (pending_destination."projectId", pending_destination."id")
      order by "projectId", "destinationId", "nextAttemptTime" limit 1) following
  )`;

/** Selects the time at which the next delivery is due. Null if none is pending. */
export const selectEarliestDueSql = (inProjects: InProjects) => `
  ${selectPendingSql("'', ''", inProjects)}
  select least(
    (select min(pending_destination."earliest") from pending_destination
      join "Destination" destination on destination."projectId" = pending_destination."projectId"
        and destination."id" = pending_destination."id"
      where destination."status" = 'ENABLED'),
    (select now() from "Delivery"
      where ${inProjects('"projectId"')} and "afterId" is not null and "status" = 'PENDING' limit 1))`;

const PROJECTS_WITH_DUE_DELIVERIES = acrossProjects<{ projectId: string }>(
  'projects with due deliveries',
  (inProjects) => `
  select destination."projectId" from "Destination" destination
  where ${inProjects('destination."projectId"')} and destination."status" = 'ENABLED' and exists (
    select 1 from "Delivery" delivery
    where delivery."projectId" = destination."projectId" and delivery."destinationId" = destination."id"
      and delivery."nextAttemptTime" <= greatest(now(), $1))
  group by destination."projectId"`,
);

/** Returns the projects with due deliveries, even if a process holds the deliveries. */
export async function listProjectsWithDueDeliveries(
  run: RunStatement,
  projectIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const rows = await run(...bindProjects(PROJECTS_WITH_DUE_DELIVERIES, projectIds, [now]));
  return rows.map(({ projectId }) => projectId);
}

/** Selects the projects with pending deliveries by a recursive scan that reads one index entry for each. */
const selectPendingProjectsSql = (after: string, inProjects: InProjects) => `
  with recursive pending_project as (
    (select "projectId" from "Delivery"
      where ${inProjects('"projectId"')} and "nextAttemptTime" is not null and "projectId" > ${after}
      order by "projectId", "destinationId", "nextAttemptTime" limit 1)
    union all
    select following.* from pending_project cross join lateral (
      select "projectId" from "Delivery"
      where ${inProjects('"projectId"')} and "nextAttemptTime" is not null
        and "projectId" > pending_project."projectId"
      order by "projectId", "destinationId", "nextAttemptTime" limit 1) following
  )`;

/** Selects the destinations of `capacity."projectId"` with pending deliveries, like `selectPendingSql`. */
const SELECT_PENDING_OF_PROJECT = `
  with recursive pending_destination as (
    (select "destinationId" as "id", "nextAttemptTime" as "earliest" from "Delivery"
      where "projectId" = capacity."projectId" and "nextAttemptTime" is not null
        and "destinationId" > capacity."after"
      order by "projectId", "destinationId", "nextAttemptTime" limit 1)
    union all
    select following.* from pending_destination cross join lateral (
      select "destinationId", "nextAttemptTime" from "Delivery"
      where "projectId" = capacity."projectId" and "nextAttemptTime" is not null
        and "destinationId" > pending_destination."id"
      order by "projectId", "destinationId", "nextAttemptTime" limit 1) following
  )`;

/** The columns of a destination that the sender of a delivery needs. */
const TARGET_COLUMNS = [
  'url',
  'urlSealed',
  'maskedHeaders',
  'headersSealed',
  'signingSecretSealed',
  'previousSecretSealed',
  'previousSecretExpireTime',
] as const;

/**
 * Claims due deliveries of enabled destinations, project by project and destination by destination. No project exceeds
 * its capacity, so that a project with many due deliveries does not delay others.
 */
const CLAIM = acrossProjects<ClaimedRow>(
  'deliveries that are due',
  (inProjects) => `
  ${selectPendingProjectsSql('$1', inProjects)}, due as materialized (
    select delivery.* from pending_project
    left join unnest($2::text[], $3::text[], $4::int[], $5::int[], $6::int[])
      as project_state("id", "after", "rows", "bytes", "failing") on project_state."id" = pending_project."projectId"
    cross join lateral (
      select pending_project."projectId", coalesce(project_state."after", '') as "after",
        coalesce(project_state."rows", $7::int) as "rows", coalesce(project_state."bytes", $8::int) as "bytes",
        coalesce(project_state."failing", $9::int) as "failing") capacity
    cross join lateral (
      ${SELECT_PENDING_OF_PROJECT}
      select "place", "projectId", "bytes" from (
        select ready.*, sum("bytes") over until_here - "bytes" as "bytesBefore",
          count(*) filter (where "isFailing") over until_here as "failing"
        from (
          select free.*, destination."failingSince" is not null as "isFailing" from pending_destination
          left join unnest($10::text[], $11::int[]) as destination_state("id", "free")
            on destination_state."id" = pending_destination."id"
          cross join ${rowsByKeySql(
            'Destination',
            { projectId: 'capacity."projectId"', id: 'pending_destination."id"' },
            { columns: ['status', 'failingSince'] },
          )} destination
          cross join lateral (
            select locked.* from (
              select ctid as "place", capacity."projectId", octet_length("body") as "bytes" from "Delivery"
              where "projectId" = capacity."projectId" and "destinationId" = pending_destination."id"
                and "nextAttemptTime" <= greatest(now(), $12) and ${isFreeSql()}
              order by "projectId", "destinationId", "nextAttemptTime" limit 200
              for update skip locked) locked
            limit coalesce(destination_state."free", $13::int)) free
          where pending_destination."earliest" <= greatest(now(), $12)
            and destination."status" = 'ENABLED' and (capacity."failing" > 0 or destination."failingSince" is null)
          limit capacity."rows") ready
        window until_here as (rows unbounded preceding)) counted
      where "bytesBefore" < capacity."bytes" and (not "isFailing" or "failing" <= capacity."failing")
    ) delivery
    limit $14
  ), chosen as (
    select "place", "projectId", sum("bytes") over (rows unbounded preceding) - "bytes" as "bytesBefore" from due
  ), within_bytes as (
    select "place", "projectId" from chosen where "bytesBefore" < $15
  ), claimed as (
    update "Delivery" delivery set
      "leaseToken" = $16, "leaseExpireTime" = now() + $17::int * interval '1 millisecond'
    from within_bytes where ${isAtPositionSql('delivery', 'within_bytes')}
    returning delivery."id", delivery."projectId", delivery."destinationId", delivery."body",
      delivery."attemptCount", delivery."leaseToken", delivery."traceparent",
      delivery."orderKey" is not null as "isOrdered"
  )
  select claimed.*, ${TARGET_COLUMNS.map((column) => `destination."${column}"`).join(', ')},
    destination."failingSince" is not null as "isFailing",
    (extract(epoch from clock_timestamp()) * 1000)::float8 as "claimedMs"
  from claimed cross join ${rowsByKeySql(
    'Destination',
    { projectId: 'claimed."projectId"', id: 'claimed."destinationId"' },
    { columns: [...TARGET_COLUMNS, 'failingSince'] },
  )} destination`,
);

export function claimDueDeliveries(run: RunStatement, order: ClaimOrder): Promise<ClaimedRow[]> {
  const { lastDestinationByProject, capacities } = order;
  const projects = [
    ...new Set([...lastDestinationByProject.keys(), ...capacities.byProject.keys()]),
  ].map((id) => ({
    ...(capacities.byProject.get(id) ?? capacities.other),
    id,
    after: lastDestinationByProject.get(id) ?? '',
  }));
  const values = [
    order.afterProjectId,
    projects.map(({ id }) => id),
    projects.map(({ after }) => after),
    projects.map(({ rows }) => rows),
    projects.map(({ bytes }) => bytes),
    projects.map(({ failing }) => failing),
    capacities.other.rows,
    capacities.other.bytes,
    capacities.other.failing,
    [...order.freeRowsByDestination.keys()],
    [...order.freeRowsByDestination.values()],
    order.now,
    order.freeRowsDefault,
    order.rows,
    order.bytes,
    order.leaseToken,
    order.leaseMs,
  ];
  return run(...bindProjects(CLAIM, order.projectIds, values));
}

/**
 * SQL: true if `delivery` is pending. This form of the comparison keeps the planner from choosing an index that contains
 * the status.
 */
export const IS_PENDING = `delivery."status" is not distinct from 'PENDING'`;

const RELEASED_MAX = 1_000;

const RELEASE_SUCCESSORS = forProjects<MissedCount>(
  (inProjects) => `
  with selected as materialized (
    select delivery."place", ended."projectId" from unnest($1::text[], $2::text[]) as ended("projectId", "id")
    cross join ${rowsByKeySql(
      'Delivery',
      { afterId: 'ended."id"' },
      {
        alsoEqual: { projectId: 'ended."projectId"' },
        columns: ['status'],
        condition: '"afterId" is not null',
        limit: RELEASED_MAX,
      },
    )} delivery
    where delivery."status" = 'PENDING' and ${inProjects('ended."projectId"')}
  ), released as (
    update "Delivery" delivery set "afterId" = null, "nextAttemptTime" = now()
    from selected where ${isAtPositionSql('delivery', 'selected')} and ${IS_PENDING}
    returning 1
  )
  select ${missedCountSql('selected', 'released')}`,
);

/** Makes the deliveries due that waited for one of the ended deliveries. */
export async function releaseSuccessors(
  run: RunStatement,
  { projectIds, rows: endedDeliveries }: RowBatch<RowKey>,
): Promise<void> {
  await repeatUntilAllChanged(() =>
    run(...bindProjects(RELEASE_SUCCESSORS, projectIds, toKeyColumns(endedDeliveries))),
  );
}

const ORPHANS = acrossProjects<RowKey>(
  'deliveries that wait for an ended delivery',
  (inProjects) => `
  select delivery."projectId", delivery."afterId" as "id" from "Delivery" delivery
  left join "Delivery" predecessor on predecessor."projectId" = delivery."projectId"
    and predecessor."id" = delivery."afterId"
  where ${inProjects('delivery."projectId"')} and delivery."afterId" is not null
    and delivery."status" = 'PENDING' and predecessor."status" is distinct from 'PENDING'
  limit ${RELEASED_MAX}`,
);

/**
 * Releases deliveries whose predecessor has ended. They remain if a process recorded the end and then stopped before it
 * released them.
 */
export async function releaseOrphans(
  database: Pick<Database, 'run' | 'shardGroup'>,
): Promise<void> {
  const { run, shardGroup } = database;
  const endedDeliveries = await run(...bindProjects(ORPHANS, shardGroup.projectIds(), []));
  if (endedDeliveries.length === 0) return;
  for (const batch of batchRows(database, endedDeliveries, ({ projectId }) => projectId)) {
    await releaseSuccessors(run, batch);
  }
}

const RELEASE_CLAIMS = forProjects<MissedCount>(
  (inProjects) => `
  with selected as materialized (
    select delivery."place", claimed."projectId" from unnest($1::text[], $2::text[]) as claimed("projectId", "id")
    cross join ${rowsByKeySql(
      'Delivery',
      { projectId: 'claimed."projectId"', id: 'claimed."id"' },
      { columns: ['leaseToken'] },
    )} delivery
    where delivery."leaseToken" = any($3) and ${inProjects('claimed."projectId"')}
  ), released as (
    update "Delivery" delivery set "leaseToken" = null, "leaseExpireTime" = null
    from selected where ${isAtPositionSql('delivery', 'selected')} and delivery."leaseToken" = any($3)
    returning 1
  )
  select ${missedCountSql('selected', 'released')}`,
);

/** Releases claimed deliveries that were not sent. They are due again immediately. */
export async function releaseClaims(
  run: RunStatement,
  { projectIds, rows: claimedRows }: RowBatch<Pick<ClaimedRow, 'projectId' | 'id' | 'leaseToken'>>,
): Promise<void> {
  const tokens = new Set(claimedRows.map(({ leaseToken }) => leaseToken));
  const values = [...toKeyColumns(claimedRows), [...tokens]];
  await repeatUntilAllChanged(() => run(...bindProjects(RELEASE_CLAIMS, projectIds, values)));
}
