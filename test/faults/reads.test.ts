import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/database.ts';
import { createLog } from '../../src/log.ts';
import { createRandom } from './fixtures/random.ts';
import { beginBackfill, expectEachPageEnqueuedOnce } from './fixtures/read-fixture.ts';
import {
  type Fixture,
  prepareEmbedded,
  prepareOnPostgres,
  type Server,
  startServer,
} from './fixtures/write-fixture.ts';

/** FAULTS_SHORT=1 runs the short form. FAULT_SEED changes the moments of the kills. */
const SHORT = process.env.FAULTS_SHORT === '1';
const RECORDS = SHORT ? 3_000 : 100_000;
const KILLS = SHORT ? 3 : 20;
const SEED = Number(process.env.FAULT_SEED ?? 1);
const MINUTE_MS = 60_000;
/** Pages are slow enough that a kill occurs between two of them or during one. */
const PAGE_DELAY_MS = SHORT ? 100 : 10;

const OPERATIONS = `query ($idOrName: String!) {
  project(idOrName: $idOrName) {
    operations(first: 10, actionType: READ) {
      nodes { id status result metadata { progress { recordsProcessed } } }
    }
  }
}`;

/** Returns the kills: each occurs `delayMs` after the read has processed this number of records. */
function planKills(): { records: number; delayMs: number }[] {
  const random = createRandom(SEED);
  return Array.from({ length: KILLS }, () => ({
    records: Math.ceil(random() * RECORDS * 0.95),
    delayMs: random() * 2 * PAGE_DELAY_MS,
  })).sort((a, b) => a.records - b.records);
}

async function operations({ client }: Server, { projectIdOrName: idOrName }: Fixture) {
  const { project } = await client.query(OPERATIONS, { idOrName });
  return project.operations.nodes as {
    status: string;
    result: string | null;
    metadata: { progress: { recordsProcessed: number } };
  }[];
}

async function expectEveryRecord(fixture: Fixture): Promise<void> {
  fixture.sandbox.seed('contacts', RECORDS);
  fixture.sandbox.faults.set({
    delayMs: PAGE_DELAY_MS,
    times: 1_000_000,
    pathPrefix: '/objects/contacts/records',
  });
  let server = await startServer(fixture);
  await beginBackfill(server, fixture);
  const processed = async () =>
    (await operations(server, fixture))[0]?.metadata.progress.recordsProcessed ?? 0;
  const pollOptions = { timeout: 5 * MINUTE_MS, interval: 10 };
  for (const { records, delayMs } of planKills()) {
    await expect.poll(processed, pollOptions).toBeGreaterThanOrEqual(records);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await server.kill();
    server = await startServer(fixture);
  }
  const ended = async () => (await operations(server, fixture)).map(({ status }) => status);
  await expect.poll(ended, pollOptions).toEqual(['SUCCEEDED']);
  expect(await operations(server, fixture)).toMatchObject([
    { result: `[contacts] Read completed (${RECORDS} records)` },
  ]);
  await server.kill();
  await expectDeliveries(fixture);
}

async function expectDeliveries({ env, sandbox }: Fixture): Promise<void> {
  await using database = await openDatabase(readConfig(env), createLog('silent'));
  await expectEachPageEnqueuedOnce(database, sandbox);
}

test(`a backfill of ${RECORDS} records enqueues each once over ${KILLS} SIGKILLs (PostgreSQL)`, async () => {
  await expectEveryRecord(await prepareOnPostgres());
});

// The short form kills a server on the embedded database in writes-embedded.test.ts only.
test.skipIf(SHORT)(
  `a backfill of ${RECORDS} records enqueues each once over ${KILLS} SIGKILLs (embedded)`,
  async () => {
    await expectEveryRecord(await prepareEmbedded());
  },
);
