/** Reads the problems of several projects that need a person: rows with a problem, and counts of recent failures. */
import type { RunQuery } from '../rows.ts';

export interface AttentionRow {
  projectId: string;
  kind: AttentionKind;
  /** The id of the row or of the provider. For a count, the id of the project. */
  subjectId: string;
  /** The object whose reads are paused. Empty for other kinds. */
  objectName: string;
  /** A human-readable reason, if one is stored. */
  detail: string | null;
  startTime: Date;
  lastTime: Date;
  count: number;
  /** Null unless an acknowledgement covers `lastTime`. */
  acknowledgedBy: string | null;
  acknowledgeTime: Date | null;
}

interface AttentionRange {
  projectIds: readonly string[];
  /** Earlier failures are not counted, and earlier mistakes in the setup are not listed. */
  from: Date;
  /** The prefix of a provider's id. */
  providerPrefix: string;
}

/** Returns at most ITEMS_OF_KIND_MAX rows of each kind and project: unacknowledged ones first, then the latest. */
export function findAttentionItems(
  query: RunQuery,
  { projectIds, from, providerPrefix }: AttentionRange,
): Promise<AttentionRow[]> {
  return query<AttentionRow>(ATTENTION_ITEMS, [projectIds, from, providerPrefix]);
}

export const ITEMS_OF_KIND_MAX = 100;
/** The maximum number of rows that are read of a kind: those with the newest ids. */
export const ROWS_OF_KIND_MAX = 500;

const NEWEST = `order by "id" desc limit ${ROWS_OF_KIND_MAX}`;
/** When a row reached its status, if nothing has changed it since. */
const CHANGE_TIME = 'coalesce("updateTime", "createTime")';

/** SQL: the time columns of a problem that has lasted since `time`. */
const formatLasting = (time: string) =>
  `${time} as "startTime", ${time} as "lastTime", 1 as "count"`;

/** SQL: counts the failures of `rows` since $2. Selects no row if there are none. */
const formatFailureCount = (rows: string) => `
  select p."projectId", '', null, min("time"), max("time"), least(count(*), ${ROWS_OF_KIND_MAX})::int
  from (${rows}) failure where "time" >= $2 having count(*) > 0`;

/**
 * Selects subjectId, objectName, detail, startTime, lastTime and count in the project `p`. Each statement reads a
 * bounded range of an index.
 */
const PROBLEMS = {
  DESTINATION_FAILING: `
    select "id" as "subjectId", '' as "objectName", null::text as "detail", ${formatLasting('"failingSince"')}
    from "Destination" where "projectId" = p."projectId" and "failingSince" is not null ${NEWEST}`,

  CONNECTION_BAD_CREDENTIALS: `
    select "id", '', null, ${formatLasting(`coalesce("badCredentialsSince", ${CHANGE_TIME})`)}
    from "Connection" where "projectId" = p."projectId" and "status" = 'BAD_CREDENTIALS' ${NEWEST}`,

  INSTALLATION_UNHEALTHY: `
    select i."id", '', i."healthReason", ${formatLasting('i."time"')} from (
      select "id", "connectionId", "healthReason", coalesce("unhealthySince", ${CHANGE_TIME}) as "time"
      from "Installation" where "projectId" = p."projectId" and "healthStatus" = 'UNHEALTHY' ${NEWEST}
    ) i where not exists (
      select from "Connection" c
      where c."projectId" = p."projectId" and c."id" = i."connectionId" and c."status" = 'BAD_CREDENTIALS')`,

  SETUP_FAILED: `
    select $3 || "provider", '', "error", ${formatLasting('"firstFailureTime"')}
    from "SetupFailure" where "projectId" = p."projectId" and "lastFailureTime" >= $2
    order by "provider" limit ${ROWS_OF_KIND_MAX}`,

  READ_PAUSED: `
    select o."installationId", o."objectName", o."pauseNote",
      ${formatLasting('coalesce(o."pausedSince", i."updateTime", i."createTime")')}
    from (
      select "installationId", "objectName", "pauseNote", "pausedSince"
      from "InstalledObject" where "projectId" = p."projectId" and "paused"
      order by "installationId" desc, "objectName" limit ${ROWS_OF_KIND_MAX}
    ) o join "Installation" i on i."projectId" = p."projectId" and i."id" = o."installationId"`,

  PROPOSALS_PENDING: `
    select p."projectId", '', null, min("createTime"), max("createTime"), count(*)::int from (
      select "createTime" from "Proposal" where "projectId" = p."projectId" and "status" = 'PENDING' ${NEWEST}
    ) pending having count(*) > 0`,

  // Operations are indexed by status and type, so each type is a range of its own.
  OPERATIONS_FAILED: formatFailureCount(`
    select o."time" from unnest(enum_range(null::"OperationActionType")) as t("actionType") cross join lateral (
      select ${CHANGE_TIME} as "time" from "Operation"
      where "projectId" = p."projectId" and "status" = 'FAILURE' and "actionType" = t."actionType" ${NEWEST}) o`),

  DELIVERIES_FAILED: formatFailureCount(`
    select ${CHANGE_TIME} as "time" from "Delivery"
    where "projectId" = p."projectId" and "status" = 'FAILED' and not "isRetrying" ${NEWEST}`),
};

export type AttentionKind = keyof typeof PROBLEMS;

const ALL_PROBLEMS = Object.entries(PROBLEMS)
  .map(([kind, rows]) => `(select '${kind}' as "kind", problem.* from (${rows}) problem)`)
  .join(' union all ');

const ATTENTION_ITEMS = `
  with item as materialized (
    select p."projectId", i.* from unnest($1::text[]) as p("projectId") cross join lateral (${ALL_PROBLEMS}) i
  ), ranked_items as (
    select item.*, a."acknowledgedBy", a."createTime" as "acknowledgeTime", row_number() over (
      partition by item."projectId", item."kind"
      order by a."kind" is not null, item."lastTime" desc, item."subjectId", item."objectName") as "rank"
    from item left join "Acknowledgement" a
      on a."projectId" = item."projectId" and a."kind" = item."kind" and a."subjectId" = item."subjectId"
        and a."objectName" = item."objectName" and a."lastTime" >= item."lastTime"
  )
  select "projectId", "kind", "subjectId", "objectName", "detail", "startTime", "lastTime", "count",
    "acknowledgedBy", "acknowledgeTime"
  from ranked_items where "rank" <= ${ITEMS_OF_KIND_MAX} order by "projectId", "rank"`;
