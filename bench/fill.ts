/**
 * Fills a database by set-based SQL, with the same rows for the same seed. Row n of a table belongs to shard n mod 12.
 * The first ten shards belong to the measured project. The others belong to two more projects, whose rows are mixed into
 * every index.
 */
import type pg from 'pg';
import { createVault } from '../src/kernel/secrets.ts';

export const ENCRYPTION_KEY = Buffer.alloc(32, 7);
export const PROJECT_NAME = 'bench';

/** Rows of the measured project. */
export interface Sizes {
  operations: number;
  connections: number;
  events: number;
}

const SHARDS = 12;
const MEASURED_SHARDS = 10;
/** The time between two ids. */
const STEP_MS = 200;
const FIRST_MS = Date.UTC(2025, 0, 1);
/** With fewer rows, some relations would have no row to refer to. */
const ROWS_MIN = 200;

/** Fills the tables of a migrated database. The sessions belong to a superuser, and work concurrently. */
export async function fillDatabase(
  sessions: pg.Client[],
  sizes: Sizes,
  seed: number,
): Promise<void> {
  const fillPlaceholders = createStatementFormatter(sizes, seed);
  await loadRows(
    sessions,
    [INSERTS.map(fillPlaceholders), DERIVED_INSERTS.map(fillPlaceholders)],
    seed,
  );
}

/**
 * Runs statements that insert rows. The lists run one after the other, and the statements of one list concurrently. Then
 * rebuilds the indexes and analyzes the tables.
 */
export async function loadRows(
  sessions: pg.Client[],
  lists: string[][],
  seed: number,
): Promise<void> {
  const [mainSession] = sessions;
  if (!mainSession) throw new RangeError('A fill needs a session.');
  for (const session of sessions) await session.query(createSettings(seed));
  const { rows: indexes } = await mainSession.query<{ name: string; definition: string }>(INDEXES);
  for (const { name } of indexes) await mainSession.query(`drop index ${name}`);
  for (const texts of lists) await runStatements(sessions, texts);
  const definitions = indexes.map(({ definition }) => definition);
  await runStatements(sessions, definitions);
  for (const session of sessions) await session.query('set session_replication_role = default');
  await mainSession.query('vacuum (analyze)');
}

/** Runs the statements. Each session takes the next statement when it has finished the previous one. */
async function runStatements(sessions: pg.Client[], texts: string[]): Promise<void> {
  const remainingTexts = texts.values();
  await Promise.all(
    sessions.map(async (session) => {
      for (const text of remainingTexts) await session.query(text);
    }),
  );
}

/** Skips foreign keys: the references are correct by construction, and checking millions of them takes minutes. */
const createSettings = (seed: number) => `${FUNCTIONS.replaceAll(':seed', String(seed))}
  set session_replication_role = replica;
  set maintenance_work_mem = '512MB'`;

function createStatementFormatter(sizes: Sizes, seed: number): (statement: string) => string {
  const countPerShard = (rows: number) => Math.ceil(Math.max(rows, ROWS_MIN) / MEASURED_SHARDS);
  const rowsPerShard = {
    operations: countPerShard(sizes.operations),
    connections: countPerShard(sizes.connections),
    events: countPerShard(sizes.events),
    groups: Math.ceil(countPerShard(sizes.connections) / 10),
    consumers: Math.ceil(countPerShard(sizes.connections) / 2),
  };
  const sealed = createSealedText();
  return (statement) => {
    let text = statement.replaceAll(':sealed', sealed).replaceAll(':seed', `'${seed}'`);
    for (const [name, rows] of Object.entries(rowsPerShard)) {
      text = text.replaceAll(`:${name}`, String(rows));
    }
    return text;
  };
}

/** Selects the indexes to drop before the fill: building an index afterwards takes half of the time. */
const INDEXES = `
  select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
  join pg_class on pg_class.oid = indexrelid
  where relnamespace = 'public'::regnamespace
    and not exists (select from pg_constraint where conindid = indexrelid)`;

/** Returns a sealed value for all rows. No measured work opens it. */
function createSealedText(): string {
  const location = { table: 'Connection', column: 'credentialsSealed', row: '', projectId: '' };
  return createVault([ENCRYPTION_KEY]).seal('{}', location);
}

/**
 * Functions for TypeIDs: 48 bits of time in ten base32 digits, then version, variant and bits of a hash. They are
 * immutable, so that PostgreSQL inlines them. Numbers are cast to text, because joining a number to text is not immutable.
 */
const FUNCTIONS = `
  create function pg_temp.time_of(n bigint) returns timestamptz language sql immutable as
    $$ select to_timestamp((${FIRST_MS} + n * ${STEP_MS}) / 1000.0) $$;
  create function pg_temp.id_of(prefix text, n bigint) returns text language sql immutable as
    $$ select prefix || '_' || ${formatTimeDigits(`(${FIRST_MS} + n * ${STEP_MS})`)} || 'e'
         || overlay(substr(md5(':seed' || prefix || n::text), 1, 15) placing '8' from 3 for 1) $$;
  create function pg_temp.project_of(n bigint) returns text language sql immutable as
    $$ select pg_temp.id_of('prj', greatest(n % ${SHARDS}, ${MEASURED_SHARDS - 1}) - ${MEASURED_SHARDS - 1}) $$;
  create function pg_temp.in_shard(n bigint, k bigint) returns bigint language sql immutable as
    $$ select ${SHARDS} * k + n % ${SHARDS} $$;`;

function formatTimeDigits(ms: string): string {
  const digits = Array.from({ length: 10 }, (_, index) => 5 * (9 - index));
  const digit = (shift: number) =>
    `substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((${ms} >> ${shift}) & 31)::int, 1)`;
  return digits.map(digit).join(' || ');
}

/** `n` numbers the rows over all shards, and `k` numbers them within a shard. */
const generateRows = (perShard: string) =>
  `(select n, n / ${SHARDS} as k from generate_series(0::bigint, ${perShard}::bigint * ${SHARDS} - 1) n) s`;

const INSERTS = [
  `insert into "Org" (id, label) select pg_temp.id_of('org', n), 'Org ' || n from generate_series(0, 2) n`,
  `insert into "Project" (id, "orgId", name, "appName", "createTime")
   select pg_temp.id_of('prj', n), pg_temp.id_of('org', n),
     case n when 0 then '${PROJECT_NAME}' else 'other-' || n end, 'App ' || n, pg_temp.time_of(n)
   from generate_series(0, 2) n`,
  `insert into "Group" (id, "projectId", "groupRef", "groupName", "createTime")
   select pg_temp.id_of('grp', n), pg_temp.project_of(n), 'group-' || n, 'Group ' || n, pg_temp.time_of(n)
   from ${generateRows(':groups')}`,
  `insert into "Consumer" (id, "projectId", "consumerRef", "consumerName", "createTime")
   select pg_temp.id_of('csm', n), pg_temp.project_of(n), 'consumer-' || n, 'Consumer ' || n, pg_temp.time_of(n)
   from ${generateRows(':consumers')}`,
  `insert into "ProviderApp" (id, "projectId", provider, "clientId", "clientSecretSealed", scopes, "createTime")
   select pg_temp.id_of('app', n), pg_temp.project_of(n), case k % 2 when 0 then 'hubspot' else 'salesforce' end,
     'client-' || n, ':sealed', array['read', 'write'], pg_temp.time_of(n)
   from ${generateRows('4')}`,
  `insert into "Connection" (id, "projectId", provider, "groupId", "consumerId", "providerAppId", "authScheme",
     status, "credentialsSealed", "createTime")
   select pg_temp.id_of('con', n), pg_temp.project_of(n),
     case k / :consumers % 2 when 0 then 'hubspot' else 'salesforce' end,
     pg_temp.id_of('grp', pg_temp.in_shard(n, k % :groups)),
     pg_temp.id_of('csm', pg_temp.in_shard(n, k % :consumers)),
     pg_temp.id_of('app', pg_temp.in_shard(n, k % 2 * 2 + k / :consumers % 2)),
     'OAUTH2_AUTHORIZATION_CODE', case k % 20 when 7 then 'BAD_CREDENTIALS' else 'WORKING' end::"ConnectionStatus",
     ':sealed', pg_temp.time_of(n)
   from ${generateRows(':connections')}`,
  `insert into "Integration" (id, "projectId", name, provider, "latestRevisionId", "createTime")
   select pg_temp.id_of('int', n), pg_temp.project_of(n), 'sync-' || n, 'hubspot',
     pg_temp.id_of('rev', n), pg_temp.time_of(n)
   from ${generateRows('10')}`,
  `insert into "Revision" (id, "projectId", "integrationId", "specVersion", content, "createTime")
   select pg_temp.id_of('rev', n), pg_temp.project_of(n), pg_temp.id_of('int', n), '1.0.0', '{}', pg_temp.time_of(n)
   from ${generateRows('10')}`,
  `insert into "Installation" (id, "projectId", "integrationId", "groupId", "connectionId", "configId",
     "createdBy", "healthStatus", "createTime")
   select pg_temp.id_of('ins', n), pg_temp.project_of(n), pg_temp.id_of('int', pg_temp.in_shard(n, k % 10)),
     pg_temp.id_of('grp', pg_temp.in_shard(n, k / 10 % :groups)),
     pg_temp.id_of('con', pg_temp.in_shard(n, k / 10 % :groups)),
     pg_temp.id_of('cfg', n), 'api:bench',
     case k % 20 when 7 then 'UNHEALTHY' else 'HEALTHY' end::"InstallationHealth", pg_temp.time_of(n)
   from ${generateRows(':connections')}`,
  `insert into "InstallationConfig" (id, "projectId", "installationId", content, "createTime")
   select pg_temp.id_of('cfg', n), pg_temp.project_of(n), pg_temp.id_of('ins', n), '{}', pg_temp.time_of(n)
   from ${generateRows(':connections')}`,
  `insert into "Operation" (id, "projectId", "integrationId", "installationId", "configId", "groupId", "actionType",
     status, result, metadata, "createTime", "updateTime")
   select pg_temp.id_of('opr', n), pg_temp.project_of(n), pg_temp.id_of('int', pg_temp.in_shard(n, k % 10)),
     pg_temp.id_of('ins', pg_temp.in_shard(n, k % :connections)),
     pg_temp.id_of('cfg', pg_temp.in_shard(n, k % :connections)),
     pg_temp.id_of('grp', pg_temp.in_shard(n, k % :connections / 10 % :groups)),
     case k % 3 when 0 then 'WRITE' else 'READ' end::"OperationActionType",
     case k % 25 when 7 then 'FAILURE' else 'SUCCESS' end::"OperationStatus",
     '[contacts] ' || n % 200 || ' records',
     jsonb_build_object('objects', array['contacts'], 'successfulRecordIds', array['rec-' || n]),
     pg_temp.time_of(n), pg_temp.time_of(n) + interval '2 seconds'
   from ${generateRows(':operations')}`,
  `insert into "Topic" (id, "projectId", name) select pg_temp.id_of('top', n), pg_temp.project_of(n), 'topic-' || n
   from ${generateRows('1')}`,
  `insert into "EventTopicRoute" (id, "projectId", "eventType", "topicId")
   select pg_temp.id_of('etr', n), pg_temp.project_of(n), 'CONNECTION_CREATED', pg_temp.id_of('top', n)
   from ${generateRows('1')} where n = 0 or n >= ${MEASURED_SHARDS}`,
  `insert into "NotificationEvent" (id, "projectId", position, "eventType", data, "connectionId", "createTime")
   select pg_temp.id_of('evt', n), pg_temp.project_of(n),
     case when n % ${SHARDS} < ${MEASURED_SHARDS} then k * ${MEASURED_SHARDS} + n % ${SHARDS} else k end + 1,
     'CONNECTION_CREATED',
     jsonb_build_object('projectId', pg_temp.project_of(n), 'connectionId',
       pg_temp.id_of('con', pg_temp.in_shard(n, k % :connections)), 'provider', 'hubspot',
       'groupRef', 'group-' || n, 'consumerRef', 'consumer-' || n, 'consumerName', 'Consumer ' || n),
     pg_temp.id_of('con', pg_temp.in_shard(n, k % :connections)), pg_temp.time_of(n)
   from ${generateRows(':events')}`,
  // One row per bucket of 90 days, as if the project had done work of each kind in each bucket.
  ...[
    { grain: 'hour', block: 'day', buckets: 24 },
    { grain: 'day', block: 'month', buckets: 31 },
  ].map(
    ({ grain, block, buckets }) =>
      `insert into "ActivityCount" ("projectId", grain, time, kind, key, total, failed, "p50Ms", "p95Ms", "p99Ms")
       select pg_temp.project_of(n), '${grain}', time, kind, key, counts, counts, counts, counts, counts
       from generate_series(0, ${SHARDS - 1}) n,
         generate_series(timestamptz '2025-01-01Z', '2025-03-31Z', '1 ${block}') time,
         (values ('operation', 'READ SUCCESS'), ('operation', 'READ FAILURE'), ('operation', 'WRITE SUCCESS'),
           ('operation', 'WRITE FAILURE'), ('delivery', 'dst_a'), ('delivery', 'dst_b'), ('record', 'read'), ('stream', 'dst_c')) v(kind, key),
         (select array_agg(1 + hashtext(:seed || i::text) & 1023) as counts from generate_series(1, ${buckets}) i) c
       where n in (0, ${MEASURED_SHARDS}, ${MEASURED_SHARDS + 1})`,
  ),
];

/** Rows that depend on the other tables. */
const DERIVED_INSERTS = [
  `insert into "NotificationEventTopic" ("eventId", "topicId", "projectId", position, "eventType")
   select id, pg_temp.id_of('top', case when "projectId" = pg_temp.project_of(0) then (position - 1) % ${MEASURED_SHARDS}
       when "projectId" = pg_temp.project_of(${MEASURED_SHARDS}) then ${MEASURED_SHARDS} else ${MEASURED_SHARDS} + 1 end), "projectId", position, "eventType"
   from "NotificationEvent"`,
  `insert into "EventLog" ("projectId", "lastPosition")
   select "projectId", max(position) from "NotificationEvent" group by 1`,
  `insert into "SearchWord" ("projectId", kind, "sortKey", "rowId")
   select "projectId", 'Group', word || ' ' || id, id
   from "Group" cross join lateral search_words(array["groupRef", "groupName"]) word`,
];
