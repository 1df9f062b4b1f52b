/**
 * Statements read only related rows, even if their tables have grown from a few rows to 8,000 rows since the last
 * analyze.
 *
 * @module-tag all/rows
 */
import { describe, expect, test } from 'vitest';
import { END_UNREPORTED_WRITES, END_WRITES } from '../../src/database/statements/hot/end-writes.ts';
import {
  claimDueDeliveries,
  releaseClaims,
  releaseSuccessors,
} from '../../src/deliveries/outbox.ts';
import { type AttemptRecord, recordAttempts } from '../../src/deliveries/record-attempts.ts';
import { writes } from '../../src/domain/data/operation/write/write-run.ts';
import { newId } from '../../src/kernel/ids.ts';
import { getSharedApp, onCitus, type TestApp } from '../support/app.ts';
import { toQuery } from '../support/database/query.ts';
import { countRowsRead } from '../support/database/rows-read.ts';
import { createWriter } from '../support/fixtures/writes.ts';
import { claimDueRows } from '../support/work/due-work.ts';

const MANY_ROWS = 8_000;
const BATCH_SIZE = 100;
/** A statement must end within five seconds, even on a busy machine. */
const ROWS_PER_INSERT = 4_000;
type Range = [from: number, to: number];
/**
 * The first check of a foreign key in a session may use the wrong index and read all rows. It must not do so
 * for each key.
 */
const ROWS_MAX = 3 * MANY_ROWS;
const TABLES = ['Operation', 'WriteTask', 'WriteEntry', 'Delivery'] as const;

type YoungProject = Awaited<ReturnType<typeof createYoungProject>>;

/** Creates a project whose number of due deliveries and writes can grow. */
async function createYoungProject(app: TestApp) {
  const { database } = app.app.services;
  const query = toQuery(database);
  const { projectId, integrationId, installationId, configId } = await createWriter(app);
  const [destinationId, name] = [newId('dst'), 'webhook'];
  const to = { type: 'WEBHOOK', url: 'https://receiver.test', signingSecretSealed: '' } as const;
  await database.prisma.destination.create({
    data: { id: destinationId, projectId, name, ...to },
  });
  let rowCount = 0;
  const id = (prefix: string, n = 'n') => `'${prefix}_' || lpad((${n})::text, 26, '0')`;
  const insert = async (table: string, columns: Record<string, string>, [from, to]: Range) => {
    const names = Object.keys(columns).map((column) => `"${column}"`);
    const text = `insert into "${table}" ("projectId", ${names.join(', ')})
      select $1, ${Object.values(columns).join(', ')} from generate_series($2::int, $3::int) n`;
    for (let index = from; index <= to; index += ROWS_PER_INSERT) {
      await query(text, [projectId, index, Math.min(to, index + ROWS_PER_INSERT - 1)]);
    }
  };
  return {
    app,
    projectId,
    installationId,
    destinationId,
    /** Adds deliveries and writes. Each second delivery waits for the previous delivery. */
    async grow(count: number) {
      const range: Range = [rowCount + 1, rowCount + count];
      rowCount += count;
      const operation = {
        ...{ integrationId: `'${integrationId}'`, installationId: `'${installationId}'` },
        ...{ configId: `'${configId}'`, actionType: `'WRITE'::"OperationActionType"` },
        ...{ status: `'IN_PROGRESS'::"OperationStatus"`, metadata: `'{}'::jsonb` },
      };
      await insert('Operation', { id: id('opr'), ...operation }, range);
      const task = {
        ...{ installationId: `'${installationId}'`, objectName: `'contacts'`, recordCount: '1' },
        ...{ type: `'CREATE'::"WriteType"`, mode: `'ASYNCHRONOUS'::"WriteMode"` },
        ...{ dueTime: 'now()', deadlineTime: `now() + interval '1 day'` },
      };
      await insert('WriteTask', { id: id('opr'), ...task }, range);
      const writeEntry = { taskId: id('opr'), operationId: id('opr'), position: '0' };
      // Only the newest tasks get entries, because checking an entry's foreign key may read all tasks.
      const newest: Range = [rowCount - Math.min(count, BATCH_SIZE) + 1, rowCount];
      await insert('WriteEntry', { ...writeEntry, record: `'{}'::jsonb` }, newest);
      const delivery = {
        ...{ destinationId: `'${destinationId}'`, body: `'{}'`, orderKey: 'n / 2' },
        ...{ nextAttemptTime: `case when n % 2 = 0 then now() - interval '1 hour' end` },
        ...{ afterId: `case when n % 2 = 1 then ${id('dlv', 'n - 1')} end` },
      };
      await insert('Delivery', { id: id('dlv'), ...delivery }, range);
    },
    newest: (prefix: string) =>
      Array.from(
        { length: Math.min(rowCount, BATCH_SIZE) },
        (_, offset) => `${prefix}_${String(rowCount - offset).padStart(26, '0')}`,
      ),
  };
}

async function sendDeliveries({ app, projectId, destinationId }: YoungProject): Promise<void> {
  const { database, now: clock } = app.app.services;
  const [now, leaseToken] = [clock(), newId('opr')];
  const room = { rows: 2 * BATCH_SIZE, bytes: 1e9, failing: 2 * BATCH_SIZE };
  const order = {
    ...{ projectIds: null, afterProjectId: '', lastDestinationByProject: new Map() },
    ...{
      freeRowsByDestination: new Map(),
      freeRowsDefault: 2 * BATCH_SIZE,
      capacities: { byProject: new Map(), other: room },
      ...room,
    },
    ...{ leaseToken, leaseMs: 60_000, now },
  };
  const claimedRows = await claimDueDeliveries(database.run, order);
  const attempt = {
    ...{ projectId, destinationId, leaseToken, startTime: now, durationMs: 1, event: null },
    ...{ responseStatus: 200, responseBody: null, error: null, failureReason: null },
  };
  const createResult = (deliveryId: string, status: AttemptRecord['status']): AttemptRecord => {
    const attemptId = newId('att');
    return { ...attempt, attemptId, deliveryId, status, nextAttemptTime: null };
  };
  const toBatch = <R>(rows: R[]) => ({ projectIds: null, rows });
  const half = Math.ceil(claimedRows.length / 2);
  const times = {
    now,
    disableThreshold: { failingSince: now, failedAttempts: 1 },
    reportSince: now,
  };
  const succeededResults = claimedRows
    .slice(0, half)
    .map(({ id }) => createResult(id, 'SUCCEEDED'));
  const failedResults = claimedRows.slice(half).map(({ id }) => createResult(id, 'FAILED'));
  for (const records of [succeededResults, failedResults]) {
    const { recorded } = await recordAttempts(database, toBatch(records), times);
    expect(recorded).toBe(records.length);
  }
  await releaseSuccessors(database.run, toBatch(claimedRows));
  await releaseClaims(database.run, toBatch(await claimDueDeliveries(database.run, order)));
}

async function runWrites({ app, projectId, installationId }: YoungProject): Promise<void> {
  const { services } = app.app;
  const query = toQuery(services.database);
  const now = services.now();
  const claims = await claimDueRows(services, writes, projectId);
  expect(claims).not.toEqual([]);
  const ends = claims.map(({ id: operationId, leaseToken }) => ({
    ...{ projectId, installationId, operationId, leaseToken, now, metadata: {}, event: null },
    ...{ status: 'SUCCESS', result: 'Wrote a record.', outcomes: [{}] },
    lastLine: { id: newId('log'), severity: 'INFO', message: 'Wrote a record.' },
  }));
  const half = Math.ceil(ends.length / 2);
  for (const [{ text }, inputs] of [
    [END_WRITES, ends.slice(0, half)],
    [END_UNREPORTED_WRITES, ends.slice(half)],
  ] as const) {
    expect(await query(text, [JSON.stringify(inputs)])).toHaveLength(inputs.length);
  }
}

/** Writes need more than one row: with one row, two indexes seem equally good to the planner. */
const BURSTS = [
  { few: 1, handlers: { sendDeliveries } },
  { few: 20, handlers: { sendDeliveries, runWrites } },
];

describe.skipIf(onCitus).each(BURSTS)('after $few rows', async ({ few, handlers }) => {
  const app = await getSharedApp();

  test('reads only related rows in each statement of a burst', async () => {
    const query = toQuery(app.app.services.database);
    const young = await createYoungProject(app);
    for (const table of TABLES) {
      await query(`alter table "${table}" set (autovacuum_enabled = off)`, []);
    }
    await young.grow(few);
    await query('vacuum analyze', []);
    // PostgreSQL caches plans that it made for small tables.
    for (const work of Object.values(handlers)) await countRowsRead(() => work(young), TABLES);
    await young.grow(MANY_ROWS);
    for (const [name, work] of Object.entries(handlers)) {
      const read = await countRowsRead(() => work(young), TABLES);
      const largest = read.reduce((most, count) => (count.rows > most.rows ? count : most));
      expect(read.length, name).toBeGreaterThanOrEqual(4);
      expect(largest.rows, `${largest.mode}: ${largest.text}`).toBeLessThan(ROWS_MAX);
    }
  });
});
