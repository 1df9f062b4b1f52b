/** Reads the problems of several projects that need a person: rows with a problem, and counts of recent failures. */
import { type RunStatement, sqlStatement } from './statements.ts';

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
  /** Earlier failures are not counted, and earlier setup failures are not listed. */
  from: Date;
  /** The prefix of a provider's id. */
  providerPrefix: string;
}

/** Returns at most ITEMS_OF_KIND_MAX rows of each kind and project: unacknowledged ones first, then the latest. */
export function loadAttentionRows(
  run: RunStatement,
  { projectIds, from, providerPrefix }: AttentionRange,
): Promise<AttentionRow[]> {
  return run(ATTENTION_ITEMS, [projectIds, from, providerPrefix]);
}

export const ITEMS_OF_KIND_MAX = 100;
/** The maximum number of rows of a kind that are read: the rows with the newest ids. */
export const ROWS_OF_KIND_MAX = 500;

const NEWEST = `order by "id" desc limit ${ROWS_OF_KIND_MAX}`;
/** The time of the last change of a row, for rows without a time of their problem. */
const CHANGE_TIME = 'coalesce("updateTime", "createTime")';

/** SQL: the time columns of a problem that has lasted since `time`. */
const lastingSql = (time: string) => `${time} as "startTime", ${time} as "lastTime", 1 as "count"`;

/** SQL: counts the failures of `rows` since $2. Selects no row if there are none. */
const failureCountSql = (rows: string) => `
  select project."projectId", '', null, min("time"), max("time"), least(count(*), ${ROWS_OF_KIND_MAX})::int
  from (${rows}) failure where "time" >= $2 having count(*) > 0`;

/**
 * Selects subjectId, objectName, detail, startTime, lastTime and count in the current `project`. Each statement reads a
 * bounded range of an index.
 */
const PROBLEMS = {
  DESTINATION_FAILING: `
    select "id" as "subjectId", '' as "objectName", null::text as "detail", ${lastingSql('"failingSince"')}
    from "Destination" where "projectId" = project."projectId" and "failingSince" is not null ${NEWEST}`,

  CONNECTION_BAD_CREDENTIALS: `
    select "id", '', null, ${lastingSql(`coalesce("badCredentialsSince", ${CHANGE_TIME})`)}
    from "Connection" where "projectId" = project."projectId" and "status" = 'BAD_CREDENTIALS' ${NEWEST}`,

  CONNECTION_UNREFRESHABLE: `
    select "id", '', null, ${lastingSql('"unrefreshableSince"')}
    from "Connection" where "projectId" = project."projectId" and "unrefreshableSince" is not null
      and "status" <> 'BAD_CREDENTIALS' ${NEWEST}`,

  INSTALLATION_UNHEALTHY: `
    select installation."id", '', installation."healthReason", ${lastingSql('installation."time"')} from (
      select "id", "connectionId", "healthReason", coalesce("unhealthySince", ${CHANGE_TIME}) as "time"
      from "Installation" where "projectId" = project."projectId" and "healthStatus" = 'UNHEALTHY' ${NEWEST}
    ) installation where not exists (
      select from "Connection" connection
      where connection."projectId" = project."projectId" and connection."id" = installation."connectionId"
        and connection."status" = 'BAD_CREDENTIALS')`,

  SETUP_FAILED: `
    select $3 || case when "provider" like 'x-%' then project."projectId" || '_' else '' end || "provider",
      '', "error", ${lastingSql('"firstFailureTime"')}
    from "SetupFailure" where "projectId" = project."projectId" and "lastFailureTime" >= $2
    order by "provider" limit ${ROWS_OF_KIND_MAX}`,

  READ_PAUSED: `
    select object."installationId", object."objectName", object."pauseNote",
      ${lastingSql('coalesce(object."pausedSince", installation."updateTime", installation."createTime")')}
    from (
      select "installationId", "objectName", "pauseNote", "pausedSince"
      from "InstalledObject" where "projectId" = project."projectId" and "paused"
      order by "installationId" desc, "objectName" limit ${ROWS_OF_KIND_MAX}
    ) object join "Installation" installation
      on installation."projectId" = project."projectId" and installation."id" = object."installationId"`,

  PROPOSALS_PENDING: `
    select project."projectId", '', null, min("createTime"), max("createTime"), count(*)::int from (
      select "createTime" from "Proposal" where "projectId" = project."projectId" and "status" = 'PENDING' ${NEWEST}
    ) pending having count(*) > 0`,

  // Reads one index range for each type, because operations are indexed by status and type.
  OPERATIONS_FAILED: failureCountSql(`
    select operation."time"
    from unnest(enum_range(null::"OperationActionType")) as type("actionType") cross join lateral (
      select ${CHANGE_TIME} as "time" from "Operation"
      where "projectId" = project."projectId" and "status" = 'FAILURE' and "actionType" = type."actionType"
      ${NEWEST}) operation`),

  DELIVERIES_FAILED: failureCountSql(`
    select ${CHANGE_TIME} as "time" from "Delivery"
    where "projectId" = project."projectId" and "status" = 'FAILED' and not "isRetrying" ${NEWEST}`),
};

export type AttentionKind = keyof typeof PROBLEMS;

const ALL_PROBLEMS = Object.entries(PROBLEMS)
  .map(([kind, rows]) => `(select '${kind}' as "kind", problem.* from (${rows}) problem)`)
  .join(' union all ');

const ATTENTION_ITEMS = sqlStatement<AttentionRow>(`
  with item as materialized (
    select project."projectId", problem.*
    from unnest($1::text[]) as project("projectId") cross join lateral (${ALL_PROBLEMS}) problem
  ), ranked_items as (
    select item.*, acknowledgement."acknowledgedBy", acknowledgement."createTime" as "acknowledgeTime", row_number() over (
      partition by item."projectId", item."kind"
      order by acknowledgement."kind" is not null, item."lastTime" desc, item."subjectId", item."objectName") as "rank"
    from item left join "Acknowledgement" acknowledgement
      on acknowledgement."projectId" = item."projectId" and acknowledgement."kind" = item."kind"
        and acknowledgement."subjectId" = item."subjectId" and acknowledgement."objectName" = item."objectName"
        and acknowledgement."lastTime" >= item."lastTime"
  )
  select "projectId", "kind", "subjectId", "objectName", "detail", "startTime", "lastTime", "count",
    "acknowledgedBy", "acknowledgeTime"
  from ranked_items where "rank" <= ${ITEMS_OF_KIND_MAX} order by "projectId", "rank"`);
