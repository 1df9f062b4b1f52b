/** Tests what differs through PgBouncer in transaction mode. The projects `pooler` and `pooler-flows` run other tests through it. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/database.ts';
import { listUnsetPlannerSettings } from '../../src/database/postgres/pooler.ts';
import { createLog } from '../../src/log.ts';
import { onPostgres } from '../support/app.ts';
import { getPgbouncerSkipReason, startPgbouncer } from '../support/database/pgbouncer.ts';

const hasPgbouncer = onPostgres && getPgbouncerSkipReason() === null;
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');

/** Creates a database with these settings. Returns a direct URL and one through a pooler. */
async function startPooled(...settings: string[]) {
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

function open(env: Record<string, string>) {
  const lines: { msg: string; settings?: string[] }[] = [];
  const log = createLog('warn', { write: (line) => lines.push(JSON.parse(line)) });
  const database = openDatabase(readConfig({ ENCRYPTION_KEY, ...env }), log);
  return { database, lines };
}

test.runIf(hasPgbouncer)(
  'reports the settings that the pooler rejects and the role lacks',
  async () => {
    const { direct, pooled } = await startPooled(`statement_timeout = '5s'`);
    const { database, lines } = open({ DATABASE_URL: pooled, DATABASE_LISTEN_URL: direct });
    await using opened = await database;
    expect(lines).toMatchObject([
      { msg: 'database.unlimited', settings: ['idle_in_transaction_session_timeout'] },
      {
        msg: 'database.planner_unset',
        settings: expect.arrayContaining(['enable_seqscan', 'jit']),
      },
    ]);
    const [limit] = await opened.rows.query(
      `select current_setting('statement_timeout') as "is"`,
      [],
    );
    expect(limit).toEqual({ is: '5s' });
  },
);

test.runIf(hasPgbouncer)(
  'reports no setting if the role has all that the pooler rejects',
  async () => {
    const limits = [`statement_timeout = '5s'`, `idle_in_transaction_session_timeout = '10s'`];
    const planner = ['enable_seqscan = off', 'jit = off', 'plan_cache_mode = force_generic_plan'];
    const { direct, pooled } = await startPooled(...limits, ...planner);
    const { database, lines } = open({ DATABASE_URL: pooled, DATABASE_LISTEN_URL: direct });
    await using _opened = await database;
    expect(lines).toEqual([]);
  },
);

test.runIf(hasPgbouncer)(
  'requires generic plans if the pooler keeps prepared statements',
  async () => {
    const { direct } = await startPooled();
    const client = new pg.Client({ connectionString: direct });
    await client.connect();
    onTestFinished(() => client.end());
    const listMissing = () => listUnsetPlannerSettings(client, { keepsStatements: true });
    expect(await listMissing()).toEqual(['enable_seqscan', 'jit', 'plan_cache_mode']);
    await client.query('set plan_cache_mode = force_generic_plan');
    expect(await listMissing()).toEqual(['enable_seqscan', 'jit']);
  },
);

test.runIf(hasPgbouncer)('leaves no prepared statement on a pooled connection', async () => {
  const { direct, pooled } = await startPooled();
  await using opened = await open({ DATABASE_URL: pooled, DATABASE_LISTEN_URL: direct }).database;
  const { rows, prisma } = opened;
  const reads = Array.from({ length: 40 }, (_, index) =>
    index % 2 ? rows.find('Org', { id: [`org_${index}`] }) : prisma.org.findMany({ take: 1 }),
  );
  await Promise.all(reads);
  // A pooler that keeps prepared statements gives them names of its own.
  const listStatements = () =>
    rows.query(`select name from pg_prepared_statements where name not like 'PGBOUNCER%'`, []);
  for (let attempts = 0; attempts < 10; attempts += 1) expect(await listStatements()).toEqual([]);
});

test.runIf(hasPgbouncer)(
  'listens on a direct connection, and sees its own process as running',
  async () => {
    const { direct, pooled } = await startPooled();
    await using opened = await open({ DATABASE_URL: pooled, DATABASE_LISTEN_URL: direct }).database;
    const received: (string | undefined)[] = [];
    await using _listening = opened.listen('some_channel', (payload) => received.push(payload));
    await expect.poll(() => received).toEqual([undefined]);
    await opened.rows.query(`select pg_notify('some_channel', 'a word')`, []);
    await expect.poll(() => received).toEqual([undefined, 'a word']);
    expect(await opened.processes.check()).toEqual([]);
  },
);

test.runIf(hasPgbouncer)('refuses two URLs of different databases', async () => {
  const [first, other] = [await startPooled(), await startPooled()];
  const env = { DATABASE_URL: first.pooled, DATABASE_LISTEN_URL: other.direct };
  await expect(open(env).database).rejects.toThrow(
    'DATABASE_LISTEN_URL and DATABASE_URL refer to different databases.',
  );
});
