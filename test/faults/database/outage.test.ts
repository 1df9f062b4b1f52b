/** A database that fails, in each way that one does: every surface says so, and the log says it once. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newKeyValue } from '../../../src/domain/viewer/key/key-value.ts';
import { fillUp, smallFileSystem } from '../scenes/embedded/small-file-system.ts';
import { type Gateway, startGateway } from '../scenes/gateway.ts';
import {
  createOwnDatabase,
  type OwnDatabase,
  type OwnServer,
  startOwnServer,
} from '../scenes/own-server.ts';
import {
  changeBy,
  expectUnavailable,
  type Met,
  readBy,
  socketRefusal,
  streamRefusal,
} from '../scenes/surfaces.ts';

const isRoot = process.getuid?.() === 0;
/** FAULTS_SHORT=1 is the short form. */
const ROUNDS = process.env.FAULTS_SHORT === '1' ? 1 : 3;
/** What a WebSocket is closed with whose client is to come again. */
const TRY_AGAIN_LATER = 1013;
/** Restarts of what waits for the database, and connections of its own, take a moment. */
const BACK_MS = 20_000;

let server: OwnServer;
beforeAll(async () => {
  server = await startOwnServer();
});
afterAll(() => server.stop());

async function open(clause?: string): Promise<{ database: OwnDatabase; gateway: Gateway }> {
  const database = await createOwnDatabase(server, clause);
  const gateway = await startGateway({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: '4' });
  const answers = await Promise.all([
    ...readBy(at(database, gateway)),
    ...changeBy(at(database, gateway)),
  ]);
  expect(answers.map(({ surface, status }) => ({ surface, isGood: status < 300 }))).toEqual(
    answers.map(({ surface }) => ({ surface, isGood: true })),
  );
  return { database, gateway };
}

function at({ tenant }: OwnDatabase, { url }: Gateway) {
  return { url, tenant };
}

const status = async ({ url }: Gateway, path: string) => (await fetch(url + path)).status;

function warnings({ lines }: Gateway) {
  return lines.filter(({ level }) => ['warn', 'error', 'fatal'].includes(level));
}

/**
 * One line for each kind, however many have met it, and none of an internal error. In which order they come
 * depends on who asks first: a connection that was ended, or one that is opened in its place.
 */
function expectToldOnce(gateway: Gateway, ...kinds: string[]) {
  expect(
    warnings(gateway)
      .map(({ msg, kind }) => `${msg}: ${kind}`)
      .toSorted(),
  ).toEqual(kinds.map((kind) => `database.failed: ${kind}`).toSorted());
}

const endBackends = ({ name }: OwnDatabase) =>
  server.admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
    name,
  ]);

async function expectBack({ database, gateway }: { database: OwnDatabase; gateway: Gateway }) {
  await vi.waitFor(
    async () => {
      expect(await status(gateway, '/readyz')).toBe(200);
      const answers = await Promise.all(changeBy(at(database, gateway)));
      expect(answers.map((answer) => answer.status)).toEqual([200, 201]);
    },
    { timeout: BACK_MS, interval: 200 },
  );
}

async function rounds(ask: () => Promise<Met>[]): Promise<Met[]> {
  const answers: Met[] = [];
  for (let round = 0; round < ROUNDS; round += 1) answers.push(...(await Promise.all(ask())));
  return answers;
}

test('a server that is gone', async () => {
  const { database, gateway } = await open();
  const where = at(database, gateway);
  database.proxy.cut();
  expectUnavailable(await rounds(() => [...readBy(where), ...changeBy(where)]));
  expectUnavailable([await streamRefusal(where)]);
  // A key that is not known yet can't be looked up: the socket's client is to come again.
  const stranger = { ...where.tenant, apiKey: newKeyValue() };
  expect(await socketRefusal({ ...where, tenant: stranger })).toBe(TRY_AGAIN_LATER);
  expect(await status(gateway, '/readyz')).toBe(503);
  expect(await status(gateway, '/livez')).toBe(200);
  const ticket = `${where.tenant.projectId}.${randomBytes(32).toString('base64url')}`;
  expect(await status(gateway, `/oauth/connect?ticket=${ticket}`)).toBe(503);
  expectToldOnce(gateway, 'UNREACHABLE');
  database.proxy.heal();
  await expectBack({ database, gateway });
});

test('a server that has no connections left', async () => {
  const { database, gateway } = await open();
  const where = at(database, gateway);
  await server.admin.query(`alter role ${database.name} connection limit 0`);
  await endBackends(database);
  expectUnavailable(await rounds(() => [...readBy(where), ...changeBy(where)]));
  expect(await status(gateway, '/readyz')).toBe(503);
  expectToldOnce(gateway, 'UNREACHABLE', 'BUSY');
  await server.admin.query(`alter role ${database.name} connection limit -1`);
  await expectBack({ database, gateway });
});

test('a server that takes no changes, as a standby does', async () => {
  const { database, gateway } = await open();
  const where = at(database, gateway);
  await server.admin.query(
    `alter database ${database.name} set default_transaction_read_only = on`,
  );
  await endBackends(database);
  await vi.waitFor(async () => expect(await status(gateway, '/readyz')).toBe(200));
  expectUnavailable(await rounds(() => changeBy(where)));
  const reads = await Promise.all(readBy(where));
  expect(reads.map((read) => read.status)).toEqual(reads.map(() => 200));
  expectToldOnce(gateway, 'UNREACHABLE', 'READ_ONLY');
  // As after a failover: the connections that are there lead to the old server for as long as they stay.
  await server.admin.query(`alter database ${database.name} reset default_transaction_read_only`);
  await expectBack({ database, gateway });
});

test.runIf(isRoot)('a disk that is full', async () => {
  const folder = smallFileSystem(64 * 1024 * 1024);
  // The server's user writes to it.
  execFileSync('chown', ['postgres', folder]);
  await server.admin.query(`create tablespace small location '${folder}'`);
  const { database, gateway } = await open('tablespace small');
  const where = at(database, gateway);
  const makeRoom = fillUp(folder);
  // Until the pages that the tables have are full.
  const refused: Met[] = [];
  await vi.waitFor(
    async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => changeBy(where)).flat());
      refused.push(...answers.filter(({ status }) => status >= 300));
      expect(refused.length).toBeGreaterThan(10);
    },
    { timeout: BACK_MS, interval: 0 },
  );
  expectUnavailable(refused);
  const reads = await Promise.all(readBy(where));
  expect(reads.map((read) => read.status)).toEqual(reads.map(() => 200));
  expectToldOnce(gateway, 'FULL');
  makeRoom();
  await expectBack({ database, gateway });
});
