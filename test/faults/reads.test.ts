import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/database.ts';
import { createLog } from '../../src/log.ts';
import { createRandom } from './scenes/random.ts';
import { beginBackfill, expectEachPageEnqueuedOnce } from './scenes/read-scene.ts';
import {
  prepareEmbedded,
  prepareOnPostgres,
  type Scene,
  type Server,
  startServer,
} from './scenes/write-scene.ts';

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

async function operations({ client }: Server, { projectIdOrName: idOrName }: Scene) {
  const { project } = await client.query(OPERATIONS, { idOrName });
  return project.operations.nodes as {
    status: string;
    result: string | null;
    metadata: { progress: { recordsProcessed: number } };
  }[];
}

async function expectEveryRecord(scene: Scene): Promise<void> {
  scene.sandbox.seed('contacts', RECORDS);
  scene.sandbox.faults.set({
    delayMs: PAGE_DELAY_MS,
    times: 1_000_000,
    pathPrefix: '/objects/contacts/records',
  });
  let server = await startServer(scene);
  await beginBackfill(server, scene);
  const processed = async () =>
    (await operations(server, scene))[0]?.metadata.progress.recordsProcessed ?? 0;
  const pollOptions = { timeout: 5 * MINUTE_MS, interval: 10 };
  for (const { records, delayMs } of planKills()) {
    await expect.poll(processed, pollOptions).toBeGreaterThanOrEqual(records);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await server.kill();
    server = await startServer(scene);
  }
  const ended = async () => (await operations(server, scene)).map(({ status }) => status);
  await expect.poll(ended, pollOptions).toEqual(['SUCCEEDED']);
  expect(await operations(server, scene)).toMatchObject([
    { result: `[contacts] Read completed (${RECORDS} records)` },
  ]);
  await server.kill();
  await expectDeliveries(scene);
}

async function expectDeliveries({ env, sandbox }: Scene): Promise<void> {
  await using database = await openDatabase(readConfig(env), createLog('silent'));
  await expectEachPageEnqueuedOnce(database, sandbox);
}

test(`a backfill of ${RECORDS} records enqueues each once over ${KILLS} SIGKILLs (PostgreSQL)`, async () => {
  await expectEveryRecord(await prepareOnPostgres());
});

test(`a backfill of ${RECORDS} records enqueues each once over ${KILLS} SIGKILLs (embedded)`, async () => {
  await expectEveryRecord(await prepareEmbedded());
});
