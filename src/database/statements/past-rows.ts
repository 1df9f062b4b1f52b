/** Moves the rows of a new project to the past, and inserts rows in the past. The demo uses them as its history. */
import type { RawBuilder } from 'kysely';
import { ID_DIGITS, TIME_DIGITS } from '../../kernel/ids.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { run, sql } from './statements.ts';
import type { Table, Tables } from './tables.ts';

/** The tables with a creation time, and the column with the id that has the same time. */
const ID_COLUMNS = {
  ApiKey: 'id',
  ProviderApp: 'id',
  Group: 'id',
  Consumer: 'id',
  Connection: 'id',
  Integration: 'id',
  Revision: 'id',
  Installation: 'id',
  InstallationConfig: 'id',
  ObjectSubscription: 'installationId',
  Topic: 'id',
  Destination: 'id',
  EventTopicRoute: 'id',
  TopicDestinationRoute: 'id',
  NotificationEvent: 'id',
  NotificationEventTopic: 'eventId',
  Delivery: 'id',
  StreamMessage: 'id',
  Operation: 'id',
  RecordedRequest: 'id',
} as const satisfies Partial<Record<Table, string>>;

/** Sets the times of a project's rows to the times in their ids. The rows must have been created by `withAgedIds`. */
export async function moveRowsToIdTimes(
  tx: Transaction,
  { id: projectId, orgId }: Pick<Tables['Project'], 'id' | 'orgId'>,
): Promise<void> {
  const isOfProject = sql`"projectId" = ${projectId}`;
  const setTime = (
    table: Table,
    timeColumn: string,
    idColumn: string,
    condition: RawBuilder<unknown>,
  ) =>
    run(
      tx,
      sql`update ${sql.table(table)} set ${sql.ref(timeColumn)} = ${idTimeSql(idColumn)} where ${condition}`,
    );
  // Operations keep their durations.
  await run(
    tx,
    sql`update "Operation" set "updateTime" = "updateTime" - ("createTime" - ${idTimeSql('id')}) where ${isOfProject}`,
  );
  for (const [table, idColumn] of Object.entries(ID_COLUMNS)) {
    await setTime(table as Table, 'createTime', idColumn, isOfProject);
  }
  await setTime('OperationLog', 'timestamp', 'id', isOfProject);
  const isUpdated = sql`${isOfProject} and "updateTime" is not null`;
  await setTime('Integration', 'updateTime', 'latestRevisionId', isUpdated);
  await setTime('Project', 'createTime', 'id', sql`"id" = ${projectId}`);
  await setTime('Org', 'createTime', 'id', sql`"id" = ${orgId}`);
  await setTime('OrgMember', 'createTime', 'orgId', sql`"orgId" = ${orgId}`);
}

/** SQL: the time in an id. Each digit is five bits of a number of milliseconds. */
function idTimeSql(column: string) {
  const digit = sql`substr(split_part(${sql.ref(column)}, '_', 2), "place", 1)`;
  return sql<Date>`(
    select to_timestamp(sum((strpos(${sql.lit(ID_DIGITS)}, ${digit}) - 1) * 32::numeric ^ (${sql.lit(TIME_DIGITS)} - "place")) / 1000)
    from generate_series(1, ${sql.lit(TIME_DIGITS)}) "place")`;
}

/** Inserts complete rows in one statement. */
export async function insertRows<T extends Table>(
  tx: Transaction,
  table: T,
  rows: readonly Tables[T][],
): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const columns = sql.join(Object.keys(first).map((name) => sql.ref(name)));
  await run(
    tx,
    sql`insert into ${sql.table(table)} (${columns})
      select ${columns} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::jsonb)`,
  );
}

/**
 * Replaces the activity of a project with counts of its stored rows. The triggers have counted the rows at the time of
 * the statement that stored them.
 */
export async function recountActivity(tx: Transaction, projectId: string): Promise<void> {
  const where = { projectId };
  await tx.activityDelta.deleteMany({ where });
  await tx.activityCount.deleteMany({ where });
  await tx.activityHistogram.deleteMany({ where });
  const isOfProject = sql`"projectId" = ${projectId}`;
  // The shards of a cluster have no default for "number".
  await run(
    tx,
    sql`insert into "ActivityDelta" ("projectId", "time", "kind", "key", "bucket", "total", "failed", "number")
      select "projectId", date_trunc('minute', "time", 'UTC'), "kind", "key", "bucket",
        sum("total"), sum("failed"), nextval('"ActivityDelta_number_seq"')
      from (
        select "projectId", "createTime" as "time", 'operation' as "kind",
          "actionType" || ' ' || "status" as "key", 0 as "bucket", 1 as "total", 0 as "failed"
        from "Operation" where ${isOfProject}
        union all
        select "projectId", "updateTime", 'record', 'read', 0,
          ("metadata"->'progress'->>'recordsProcessed')::int, 0
        from "Operation" where ${isOfProject} and "updateTime" is not null and "metadata" ? 'progress'
        union all
        select "projectId", "updateTime", 'record', 'written', 0,
          jsonb_array_length("metadata"->'successfulRecordIds'), 0
        from "Operation" where ${isOfProject} and "updateTime" is not null and "metadata" ? 'successfulRecordIds'
        union all
        select "projectId", "createTime", 'stream', "destinationId", 0, 1, 0
        from "StreamMessage" where ${isOfProject}
        union all
        select attempt."projectId", attempt."createTime", 'delivery', delivery."destinationId",
          activity_bucket(attempt."durationMs"), 1, (attempt."error" is not null)::int
        from "DeliveryAttempt" attempt
        join "Delivery" delivery
          on delivery."projectId" = attempt."projectId" and delivery."id" = attempt."deliveryId"
        where attempt."projectId" = ${projectId}
      ) activity
      group by 1, 2, 3, 4, 5`,
  );
}
