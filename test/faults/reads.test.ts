import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open/open-database.ts';
import { createLog } from '../../src/kernel/log.ts';
import { readConfig } from '../../src/settings/config.ts';
import { createRandom } from './fixtures/random.ts';
import { expectEachPageEnqueuedOnce, startBackfill } from './fixtures/read-fixture.ts';
import { IS_SHORT, KILL_COUNT, SEED } from './fixtures/settings.ts';
import {
  type Fixture,
  prepareEmbedded,
  prepareOnPostgres,
  type Server,
  startServer,
} from './fixtures/write-fixture.ts';

const RECORD_COUNT = IS_SHORT ? 3_000 : 100_000;
const MINUTE_MS = 60_000;
/** Pages are so slow that a kill occurs during a page or between two pages. */
const PAGE_DELAY_MS = IS_SHORT ? 100 : 10;

const LIST_READS = `query Reads($idOrName: String!) {
  project(idOrName: $idOrName) {
    operations(first: 10, actionType: READ) {
      nodes { id status result metadata { progress { recordsProcessed } } }
    }
  }
}`;

/** Plans kills. Each occurs `delayMs` after the read has processed this number of records. */
function planKills(): { records: number; delayMs: number }[] {
  const random = createRandom(SEED);
  return Array.from({ length: KILL_COUNT }, () => ({
    records: Math.ceil(random() * RECORD_COUNT * 0.95),
    delayMs: random() * 2 * PAGE_DELAY_MS,
  })).sort((a, b) => a.records - b.records);
}

async function listReads({ client }: Server, { projectIdOrName: idOrName }: Fixture) {
  const { project } = await client.query(LIST_READS, { idOrName });
  return project.operations.nodes as {
    status: string;
    result: string | null;
    metadata: { progress: { recordsProcessed: number } };
  }[];
}

async function expectEveryRecordOnce(fixture: Fixture): Promise<void> {
  fixture.sandbox.seed('contacts', RECORD_COUNT);
  fixture.sandbox.faults.set({
    delayMs: PAGE_DELAY_MS,
    times: 1_000_000,
    pathPrefix: '/objects/contacts/records',
  });
  let server = await startServer(fixture);
  await startBackfill(server, fixture);
  const countProcessed = async () =>
    (await listReads(server, fixture))[0]?.metadata.progress.recordsProcessed ?? 0;
  const pollOptions = { timeout: 5 * MINUTE_MS, interval: 10 };
  for (const { records, delayMs } of planKills()) {
    await expect.poll(countProcessed, pollOptions).toBeGreaterThanOrEqual(records);
    await delay(delayMs);
    await server.kill();
    server = await startServer(fixture);
  }
  const listStatuses = async () => (await listReads(server, fixture)).map(({ status }) => status);
  await expect.poll(listStatuses, pollOptions).toEqual(['SUCCEEDED']);
  expect(await listReads(server, fixture)).toMatchObject([
    { result: `[contacts] Read completed (${RECORD_COUNT} records)` },
  ]);
  await server.kill();
  await using database = await openDatabase(readConfig(fixture.env), createLog('silent'));
  await expectEachPageEnqueuedOnce(database, fixture.sandbox);
}

test(`enqueues each of ${RECORD_COUNT} records once in a backfill with ${KILL_COUNT} SIGKILLs (PostgreSQL)`, async () => {
  await expectEveryRecordOnce(await prepareOnPostgres());
});

// The short form kills a server on the embedded database in writes-embedded.test.ts only.
test.skipIf(IS_SHORT)(
  `enqueues each of ${RECORD_COUNT} records once in a backfill with ${KILL_COUNT} SIGKILLs (embedded)`,
  async () => {
    await expectEveryRecordOnce(await prepareEmbedded());
  },
);
