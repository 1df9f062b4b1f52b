/** Moves the rows of a new project to the past, and adds rows in the past. The demo uses them as its history. */
import { ID_DIGITS, TIME_DIGITS } from '../ids.ts';
import { run, sql } from './statements.ts';
import type { Table, Tables } from './tables.ts';
import type { Transaction } from './transaction.ts';

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
  // The duration of each operation stays.
  await run(
    tx,
    sql`update "Operation" set "updateTime" = "updateTime" - ("createTime" - ${idTimeSql('id')}) where ${isOfProject}`,
  );
  for (const [table, column] of Object.entries(ID_COLUMNS)) {
    await run(
      tx,
      sql`update ${sql.table(table)} set "createTime" = ${idTimeSql(column)} where ${isOfProject}`,
    );
  }
  await run(
    tx,
    sql`update "OperationLog" set "timestamp" = ${idTimeSql('id')} where ${isOfProject}`,
  );
  await run(
    tx,
    sql`update "Integration" set "updateTime" = ${idTimeSql('latestRevisionId')}
      where ${isOfProject} and "updateTime" is not null`,
  );
  await run(
    tx,
    sql`update "Project" set "createTime" = ${idTimeSql('id')} where "id" = ${projectId}`,
  );
  await run(tx, sql`update "Org" set "createTime" = ${idTimeSql('id')} where "id" = ${orgId}`);
  await run(
    tx,
    sql`update "OrgMember" set "createTime" = ${idTimeSql('orgId')} where "orgId" = ${orgId}`,
  );
}

/** SQL: the time that an id contains: milliseconds, in digits of five bits. */
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

/** SQL: the number of a new row of `ActivityDelta`. A cluster's shards have no default for it. */
const NEXT_DELTA = sql`nextval('"ActivityDelta_number_seq"')`;

/**
 * Replaces the activity of a project with counts of its stored rows. The triggers count rows at the time of the
 * statement that stores them.
 */
export async function recountActivity(tx: Transaction, projectId: string): Promise<void> {
  await tx.activityDelta.deleteMany({ where: { projectId } });
  await tx.activityCount.deleteMany({ where: { projectId } });
  await tx.activityHistogram.deleteMany({ where: { projectId } });
  await run(
    tx,
    sql`insert into "ActivityDelta" ("projectId", "time", "kind", "key", "first", "number")
      select "projectId", ${minuteSql('createTime')}, 'operation', "actionType" || ' ' || "status", count(*), ${NEXT_DELTA}
      from "Operation" where "projectId" = ${projectId} group by 1, 2, 4`,
  );
  await run(
    tx,
    sql`insert into "ActivityDelta" ("projectId", "time", "kind", "key", "first", "second", "number")
      select "projectId", ${minuteSql('updateTime')}, 'record', '',
        coalesce(sum(("metadata"->'progress'->>'recordsProcessed')::int), 0),
        coalesce(sum(jsonb_array_length("metadata"->'successfulRecordIds')), 0), ${NEXT_DELTA}
      from "Operation" where "projectId" = ${projectId} and "updateTime" is not null group by 1, 2`,
  );
  await run(
    tx,
    sql`insert into "ActivityDelta" ("projectId", "time", "kind", "key", "bucket", "first", "second", "number")
      select attempt."projectId", ${minuteSql('attempt.createTime')}, 'delivery', delivery."destinationId",
        activity_bucket(attempt."durationMs"), count(*), count(*) filter (where attempt."error" is not null), ${NEXT_DELTA}
      from "DeliveryAttempt" attempt
      join "Delivery" delivery on delivery."projectId" = attempt."projectId" and delivery."id" = attempt."deliveryId"
      where attempt."projectId" = ${projectId} group by 1, 2, 4, 5`,
  );
  await run(
    tx,
    sql`insert into "ActivityDelta" ("projectId", "time", "kind", "key", "first", "number")
      select "projectId", ${minuteSql('createTime')}, 'stream', "destinationId", count(*), ${NEXT_DELTA}
      from "StreamMessage" where "projectId" = ${projectId} group by 1, 2, 4`,
  );
}

function minuteSql(column: string) {
  return sql<Date>`date_trunc('minute', ${sql.ref(column)}, 'UTC')`;
}
