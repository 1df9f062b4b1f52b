/**
 * Migrations convert and keep the rows that a database already has.
 *
 * @module-tag all/rows
 */
import { afterAll, expect, test } from 'vitest';
import { findNotice, listMigrations } from '../../../src/database/migrate/migrate.ts';
import { openUnmigratedPglite } from '../../support/database/embedded/embedded-databases.ts';

/** Inserts an installation, and operations, events and deliveries of deleted installations. */
const INSTALLATION_ROWS = `
  insert into "Org" ("id", "label") values ('org', 'Acme');
  insert into "Project" ("id", "orgId", "name", "appName") values ('prj', 'org', 'acme', 'Acme');
  insert into "Group" ("id", "projectId", "groupRef", "groupName") values ('grp', 'prj', 'north', 'North');
  insert into "Consumer" ("id", "projectId", "consumerRef", "consumerName") values ('csm', 'prj', 'ann', 'Ann');
  insert into "Connection" ("id", "projectId", "provider", "groupId", "consumerId", "authScheme")
    values ('con', 'prj', 'sandbox', 'grp', 'csm', 'NONE');
  insert into "Integration" ("id", "projectId", "name", "provider", "latestRevisionId")
    values ('int', 'prj', 'crm', 'sandbox', 'rev');
  insert into "Installation" ("id", "projectId", "integrationId", "groupId", "connectionId", "configId", "createdBy")
    values ('ins', 'prj', 'int', 'grp', 'con', 'cfg', 'test');
  insert into "Operation" ("id", "projectId", "integrationId", "installationId", "configId", "actionType", "status", "metadata")
    select id, 'prj', 'int', installation, 'cfg', 'READ', 'SUCCESS', '{}'
    from (values ('installed', 'ins'), ('uninstalled', 'gone'), ('sent', 'gone too'), ('unknown', 'nowhere')) v(id, installation);
  insert into "NotificationEvent" ("id", "projectId", "position", "eventType", "data", "installationId") values
    ('uninstalled', 'prj', 1, 'INSTALLATION_DELETED', '{"groupRef":"north","consumerRef":"ann"}', 'gone'),
    ('disabled', 'prj', 2, 'DESTINATION_WEBHOOK_DISABLED', '{"projectId":"prj"}', null);
  insert into "Delivery" ("id", "projectId", "destinationId", "eventId", "operationId", "body") values
    ('event', 'prj', 'dst', 'uninstalled', null, '{}'),
    ('records', 'prj', 'dst', null, 'sent', '{"groupRef":"north","consumerRef":"ann","result":[{"a":"\\u0000"}]}')`;

/**
 * Inserts revisions and a config that name destinations. A destination counts only if the latest revision or the
 * config names it.
 */
const DESTINATION_ROWS = `
  insert into "Revision" ("id", "projectId", "integrationId", "specVersion", "content") values
    ('old', 'prj', 'int', '1.0.0', '{"read":{"objects":[{"destination":"before"}]}}'),
    ('rev', 'prj', 'int', '1.0.0', '{"name":"crm","proxy":null,"read":{"objects":[{"destination":"a"},{"destination":"a"}]},
      "subscribe":{"objects":[{"destination":"b"},{"destination":null}]}}');
  insert into "InstallationConfig" ("id", "projectId", "installationId", "content") values
    ('cfg', 'prj', 'ins', '{"read":[{"destination":"own"},{"destination":null}],"write":[{"objectName":"x"}]}')`;

/** Inserts an installation that fails, one that has recovered, and one with a failed subscription. */
const HEALTH_ROWS = `
  insert into "Group" ("id", "projectId", "groupRef", "groupName")
    select 'grp ' || id, 'prj', id, id from unnest(array['fails', 'recovers', 'unsubscribed']) id;
  insert into "Installation" ("id", "projectId", "integrationId", "groupId", "connectionId", "configId", "createdBy")
    select id, 'prj', 'int', 'grp ' || id, 'con', 'cfg', 'test' from unnest(array['fails', 'recovers', 'unsubscribed']) id;
  insert into "Operation" ("id", "projectId", "integrationId", "installationId", "configId", "actionType", "status", "metadata")
    select installation || n, 'prj', 'int', installation, 'cfg', 'READ', status::"OperationStatus", '{}'
    from (values ('fails', 1, 'SUCCESS'), ('fails', 2, 'FAILURE'), ('fails', 3, 'FAILURE'), ('fails', 4, 'FAILURE'),
      ('recovers', 1, 'FAILURE'), ('recovers', 2, 'SUCCESS'), ('recovers', 3, 'FAILURE')) v(installation, n, status);
  insert into "ObjectSubscription" ("projectId", "installationId", "objectName", "provider", "connectionId", "kinds",
      "otherEvents", "watchFields", "status", "error")
    values ('prj', 'unsubscribed', 'contacts', 'sandbox', 'con', '{}', '{}', '{}', 'FAILED', 'No.')`;

/** Inserts counts of operations and of deliveries, which took 64 ms, for two hours of a day and one of the next day. */
const ACTIVITY_ROWS = `
  insert into "ActivityCount" ("projectId", "grain", "time", "kind", "key", "first", "second", "third", "durations")
  select 'prj', 'hour', time::timestamptz, kind, key, 2, 1, 0,
    case kind when 'delivery' then array_fill(0, array[24]) || 1 || array_fill(0, array[39]) else '{}' end
  from unnest(array['2026-05-01T00:00:00Z', '2026-05-01T02:00:00Z', '2026-05-02T01:00:00Z']) time,
    (values ('operation', 'READ SUCCESS'), ('delivery', 'dst'), ('record', '')) v(kind, key)`;

/** Inserts counts of records that are not added up yet. */
const DELTA_ROWS = `
  insert into "ActivityDelta" ("projectId", "time", "kind", "key", "first", "second", "third")
    values ('prj', now(), 'record', '', 3, 0, 0), ('prj', now(), 'record', '', 0, 2, 1), ('prj', now(), 'stream', 'dst', 4, 0, 0)`;

const LOG_ROWS = `
  insert into "Operation" ("id", "projectId", "integrationId", "installationId", "configId", "actionType", "status", "metadata")
    values ('opr', 'prj', 'int', 'ins', 'cfg', 'READ', 'SUCCESS', '{}');
  insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message")
    select id, 'prj', 'opr', 'INFO', '' from unnest(array['a', 'b', 'c']) id;
  insert into "Delivery" ("id", "projectId", "destinationId", "body") values ('dlv', 'prj', 'dst', '{}');
  insert into "DeliveryAttempt" ("id", "projectId", "deliveryId", "attemptNumber", "durationMs")
    values ('att', 'prj', 'dlv', 1, 1)`;

const MEMBER_ROWS = `
  insert into "Builder" ("id", "idpProvider", "idpRef") values ('bld', 'issuer', 'ada');
  insert into "OrgMember" ("orgId", "builderId") values ('org', 'bld');
  insert into "Invite" ("id", "orgId", "invitedEmail", "status", "pendingEmail", "expireTime")
    values ('inv', 'org', 'eve@example.com', 'PENDING', 'eve@example.com', now())`;

/** Rows that a database gets before a migration, by the end of the migration's name. */
const ROWS_BY_MIGRATION: Record<string, string[]> = {
  ends_of_life: [INSTALLATION_ROWS, DESTINATION_ROWS],
  installation_health: [HEALTH_ROWS],
  activity_in_blocks: [ACTIVITY_ROWS],
  key_of_operation_log: [LOG_ROWS],
  org_roles: [MEMBER_ROWS],
  clear_names: ['delete from "ActivityDelta"', DELTA_ROWS],
};

/** Runs all migrations on a database that gets rows in between. Returns the notices since `key_of_operation_log`. */
async function migrateFilledDatabase() {
  const database = await openUnmigratedPglite();
  const session = { query: (text: string, values: unknown[]) => database.query(text, values) };
  const notices: object[] = [];
  let collectsNotices = false;
  for (const { name, sql } of listMigrations()) {
    const suffix = name.replace(/^\d+_/, '');
    for (const rows of ROWS_BY_MIGRATION[suffix] ?? []) await database.exec(rows);
    if (suffix === 'key_of_operation_log') {
      await database.exec('analyze');
      collectsNotices = true;
    }
    const notice = collectsNotices && (await findNotice(session as never, sql));
    if (notice) notices.push(notice);
    await database.exec(sql);
  }
  return { database, notices };
}

const { database, notices } = await migrateFilledDatabase();
afterAll(() => database.close());

test('fills in the group and the consumer of stored rows', async () => {
  const listOwners = async (table: string, ids: string[]) => {
    const { rows } = await database.query<Record<'id' | 'groupId' | 'consumerId', string>>(
      `select "id", "groupId", "consumerId" from "${table}" where "id" = any($1) order by "id"`,
      [ids],
    );
    return rows.map(({ id, groupId, consumerId }) => `${id}: ${groupId} ${consumerId}`);
  };
  const operationIds = ['installed', 'sent', 'uninstalled', 'unknown'];
  expect(await listOwners('Operation', operationIds)).toEqual([
    'installed: grp csm',
    'sent: grp csm',
    'uninstalled: grp csm',
    'unknown: null null',
  ]);
  expect(await listOwners('NotificationEvent', ['disabled', 'uninstalled'])).toEqual([
    'disabled: null null',
    'uninstalled: grp csm',
  ]);
  expect(await listOwners('Delivery', ['event', 'records'])).toEqual([
    'event: grp csm',
    'records: grp csm',
  ]);
});

test('gives existing members and invites the role ADMIN', async () => {
  for (const table of ['OrgMember', 'Invite']) {
    const { rows } = await database.query(`select "role" from "${table}"`);
    expect(rows).toEqual([{ role: 'ADMIN' }]);
  }
});

test('indexes the destinations that stored integrations and installations name', async () => {
  const { rows } = await database.query(
    'select "destinationName", "usedById", "integrationId", "installationId" from "DestinationUse" order by 1',
  );
  const byIntegration = { usedById: 'int', integrationId: 'int', installationId: null };
  expect(rows).toEqual([
    { destinationName: 'a', ...byIntegration },
    { destinationName: 'b', ...byIntegration },
    { destinationName: 'own', usedById: 'ins', integrationId: null, installationId: 'ins' },
  ]);
});

test('computes the health of stored installations', async () => {
  const { rows } = await database.query(
    `select "id", "consecutiveFailures" as "failures", "healthStatus" as "status", "healthReason" as "reason"
     from "Installation" order by 1`,
  );
  const healthy = { status: 'HEALTHY', reason: null };
  const createUnhealthy = (reason: string) => ({ status: 'UNHEALTHY', reason });
  expect(rows).toEqual([
    { id: 'fails', failures: 3, ...createUnhealthy('Its last 3 operations have failed.') },
    { id: 'ins', failures: 0, ...healthy },
    { id: 'recovers', failures: 1, ...healthy },
    {
      id: 'unsubscribed',
      failures: 0,
      ...createUnhealthy('Its subscriptions do not work: contacts: No.'),
    },
  ]);
});

test('converts stored activity counts to rows of many buckets', async () => {
  const { rows } = await database.query(
    `select to_char("time" at time zone 'UTC', 'DD HH24') as "from", "key", "total", "failed", "p50Ms", "p99Ms"
     from "ActivityCount" where "grain" = 'hour' order by "time", "key" desc`,
  );
  const days = [
    { from: '01 00', total: [2, 0, 2], failed: [1, 0, 1], p50Ms: [64, 0, 64], p99Ms: [64, 0, 64] },
    { from: '02 00', total: [0, 2], failed: [0, 1], p50Ms: [0, 64], p99Ms: [0, 64] },
  ];
  const without = { failed: [], p50Ms: [], p99Ms: [] };
  expect(rows).toEqual(
    days.flatMap(({ p50Ms, p99Ms, ...day }) => [
      { ...day, ...without, key: 'written', total: day.failed },
      { ...day, ...without, key: 'received', total: day.total.map(() => 0) },
      { ...day, ...without, key: 'read' },
      { ...day, key: 'dst', p50Ms, p99Ms },
      { ...day, key: 'READ SUCCESS', p50Ms: [], p99Ms: [] },
    ]),
  );
  const { rows: remaining } = await database.query('select count(*)::int from "ActivityHistogram"');
  expect(remaining).toEqual([{ count: 3 }]);
});

test('separates read records, written records and received events', async () => {
  const { rows } = await database.query(
    `select "kind", "key", sum("total")::int as "total", sum("failed")::int as "failed"
     from "ActivityDelta" group by 1, 2 order by 1, 2`,
  );
  expect(rows).toEqual([
    { kind: 'record', key: 'read', total: 3, failed: 0 },
    { kind: 'record', key: 'received', total: 1, failed: 0 },
    { kind: 'record', key: 'written', total: 2, failed: 0 },
    { kind: 'stream', key: 'dst', total: 4, failed: 0 },
  ]);
});

test('keeps the rows when the project is added to a primary key, and estimates the duration', async () => {
  expect(notices.length).toBeGreaterThan(5);
  expect(notices[0]).toEqual({ rows: 3, bytes: expect.any(Number), mayTakeSeconds: 1 });
  const { rows } = await database.query<{ id: string }>(
    'select "id" from "OperationLog" order by "id"',
  );
  expect(rows.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  // An ID is unique in a project, and may occur in another project.
  const insertLog = (project: string) =>
    database.query(
      `insert into "OperationLog" ("id", "projectId", "operationId", "severity", "message")
       values ('a', $1, 'opr', 'INFO', '')`,
      [project],
    );
  await expect(insertLog('prj')).rejects.toThrow('OperationLog_pkey');
  await expect(insertLog('other')).rejects.toThrow('OperationLog_projectId_operationId_fkey');
  const { rows: unvalidated } = await database.query(
    `select conname from pg_constraint where not convalidated or contype = 'f' and confupdtype <> 'a'`,
  );
  expect(unvalidated).toEqual([]);
});
