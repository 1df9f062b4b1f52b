/**
 * These tests cover what differs behind PgBouncer in transaction mode. The vitest projects `pooler` and `pooler-flows`
 * run other tests through PgBouncer.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/database/open/open-database.ts';
import { listUnsetPlannerSettings } from '../../../src/database/open/pooler.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { onPostgres } from '../../support/app.ts';
import { getPgbouncerSkipReason, startPgbouncer } from '../../support/database/pgbouncer.ts';
import { queryRows, toQuery } from '../../support/database/query.ts';

const hasPgbouncer = onPostgres && getPgbouncerSkipReason() === null;
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');

/** Creates a database with these settings. Returns its direct URL, and its URL through a pooler. */
async function startPooledDatabase(...settings: string[]) {
  const { serverUrl, template } = inject('postgres');
  const name = `pooled_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Client({ connectionString: `${serverUrl}/postgres` });
  await admin.connect();
  await admin.query(`create database ${name} template ${template}`);
  for (const setting of settings) await admin.query(`alter database ${name} set ${setting}`);
  const pooler = await startPgbouncer(Number(new URL(serverUrl).port));
  onTestFinished(async () => {
    await pooler.stop();
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  });
  return { direct: `${serverUrl}/${name}`, pooled: `${pooler.url}/${name}` };
}

function openWithLog(env: Record<string, string>) {
  const lines: { msg: string; settings?: string[] }[] = [];
  const log = createLog('warn', { write: (line) => lines.push(JSON.parse(line)) });
  const opening = openDatabase(readConfig({ ENCRYPTION_KEY, ...env }), log);
  return { opening, lines };
}

test.runIf(hasPgbouncer)(
  'reports the settings that the pooler rejects and the role lacks',
  async () => {
    const { direct, pooled } = await startPooledDatabase(`statement_timeout = '5s'`);
    const { opening, lines } = openWithLog({ DATABASE_URL: pooled, DATABASE_LISTEN_URL: direct });
    await using database = await opening;
    expect(lines).toMatchObject([
      { msg: 'database.limits_refused', settings: ['idle_in_transaction_session_timeout'] },
      {
        msg: 'database.planner_settings_refused',
        settings: expect.arrayContaining(['enable_seqscan', 'jit']),
      },
    ]);
    const [limit] = await queryRows(
      database,
      `select current_setting('statement_timeout') as "is"`,
      [],
    );
    expect(limit).toEqual({ is: '5s' });
  },
);

test.runIf(hasPgbouncer)(
  'reports no setting if the role has every setting that the pooler rejects',
  async () => {
    const limits = [`statement_timeout = '5s'`, `idle_in_transaction_session_timeout = '10s'`];
    const planner = ['enable_seqscan = off', 'jit = off', 'plan_cache_mode = force_generic_plan'];
    const { direct, pooled } = await startPooledDatabase(...limits, ...planner);
    const { opening, lines } = openWithLog({ DATABASE_URL: pooled, DATABASE_LISTEN_URL: direct });
    await using _database = await opening;
    expect(lines).toEqual([]);
  },
);

test.runIf(hasPgbouncer)(
  'requires generic plans if the pooler keeps prepared statements',
  async () => {
    const { direct } = await startPooledDatabase();
    const client = new pg.Client({ connectionString: direct });
    await client.connect();
    onTestFinished(() => client.end());
    const listUnset = () => listUnsetPlannerSettings(client, { keepsStatements: true });
    expect(await listUnset()).toEqual(['enable_seqscan', 'jit', 'plan_cache_mode']);
    await client.query('set plan_cache_mode = force_generic_plan');
    expect(await listUnset()).toEqual(['enable_seqscan', 'jit']);
  },
);

test.runIf(hasPgbouncer)('leaves no prepared statement on a pooled connection', async () => {
  const { direct, pooled } = await startPooledDatabase();
  await using database = await openWithLog({ DATABASE_URL: pooled, DATABASE_LISTEN_URL: direct })
    .opening;
  const { reads, prisma } = database;
  const query = toQuery(database);
  const pendingReads = Array.from({ length: 40 }, (_, index) =>
    index % 2 ? reads.find('Org', { id: [`org_${index}`] }) : prisma.org.findMany({ take: 1 }),
  );
  await Promise.all(pendingReads);
  // A pooler that keeps prepared statements renames them.
  const listStatements = () =>
    query(`select name from pg_prepared_statements where name not like 'PGBOUNCER%'`, []);
  for (let attempts = 0; attempts < 10; attempts += 1) expect(await listStatements()).toEqual([]);
});

test.runIf(hasPgbouncer)(
  'listens on a direct connection, and does not mark its process as missed',
  async () => {
    const { direct, pooled } = await startPooledDatabase();
    await using database = await openWithLog({ DATABASE_URL: pooled, DATABASE_LISTEN_URL: direct })
      .opening;
    const receivedPayloads: (string | undefined)[] = [];
    await using _listening = database.listen('some_channel', (payload) =>
      receivedPayloads.push(payload),
    );
    await expect.poll(() => receivedPayloads).toEqual([undefined]);
    await queryRows(database, `select pg_notify('some_channel', 'a word')`, []);
    await expect.poll(() => receivedPayloads).toEqual([undefined, 'a word']);
    expect(await database.processes.check()).toEqual([]);
  },
);

test.runIf(hasPgbouncer)('refuses two URLs of different databases', async () => {
  const [firstDatabase, otherDatabase] = [await startPooledDatabase(), await startPooledDatabase()];
  const env = { DATABASE_URL: firstDatabase.pooled, DATABASE_LISTEN_URL: otherDatabase.direct };
  await expect(openWithLog(env).opening).rejects.toThrow(
    'DATABASE_LISTEN_URL and DATABASE_URL refer to different databases.',
  );
});
