/**
 * A database fails in each way that databases do. Every surface reports it, and the log has one line about
 * it.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createKeyValue } from '../../../src/domain/viewer/key/key-value.ts';
import { fillUp, smallFileSystem } from '../fixtures/embedded/small-file-system.ts';
import { type Gateway, startGateway } from '../fixtures/gateway.ts';
import {
  createOwnDatabase,
  type OwnDatabase,
  type OwnServer,
  startOwnServer,
} from '../fixtures/own-server.ts';
import {
  changeBy,
  expectUnavailable,
  readBy,
  type SurfaceResponse,
  socketRefusal,
  streamRefusal,
} from '../fixtures/surfaces.ts';

const isRoot = process.getuid?.() === 0;
/** FAULTS_SHORT=1 runs the short form. */
const ROUNDS = process.env.FAULTS_SHORT === '1' ? 1 : 3;
/** Close code of a WebSocket whose client should reconnect. */
const TRY_AGAIN_LATER = 1013;
/** Time until work that waits for the database, and listening connections, are restarted. */
const BACK_MS = 20_000;

let server: OwnServer;
beforeAll(async () => {
  server = await startOwnServer();
});
afterAll(() => server.stop());

async function open(clause?: string): Promise<{ database: OwnDatabase; gateway: Gateway }> {
  const database = await createOwnDatabase(server, clause);
  const gateway = await startGateway({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: '4' });
  const responses = await Promise.all([
    ...readBy(at(database, gateway)),
    ...changeBy(at(database, gateway)),
  ]);
  expect(responses.map(({ surface, status }) => ({ surface, isGood: status < 300 }))).toEqual(
    responses.map(({ surface }) => ({ surface, isGood: true })),
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
 * Expects one log line for each kind, however many requests failed, and no internal error. The order is not
 * fixed: either an ended connection or the attempt to open another fails first.
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
      const responses = await Promise.all(changeBy(at(database, gateway)));
      expect(responses.map((response) => response.status)).toEqual([200, 201]);
    },
    { timeout: BACK_MS, interval: 200 },
  );
}

async function rounds(ask: () => Promise<SurfaceResponse>[]): Promise<SurfaceResponse[]> {
  const responses: SurfaceResponse[] = [];
  for (let round = 0; round < ROUNDS; round += 1) responses.push(...(await Promise.all(ask())));
  return responses;
}

test('responds with 503 while the server is unreachable', async () => {
  const { database, gateway } = await open();
  const where = at(database, gateway);
  database.proxy.reset();
  expectUnavailable(await rounds(() => [...readBy(where), ...changeBy(where)]));
  expectUnavailable([await streamRefusal(where)]);
  // An API key that is not cached cannot be authenticated, so the client of the socket should reconnect.
  const stranger = { ...where.tenant, apiKey: createKeyValue() };
  expect(await socketRefusal({ ...where, tenant: stranger })).toBe(TRY_AGAIN_LATER);
  expect(await status(gateway, '/readyz')).toBe(503);
  expect(await status(gateway, '/livez')).toBe(200);
  const ticket = `${where.tenant.projectId}.${randomBytes(32).toString('base64url')}`;
  expect(await status(gateway, `/oauth/connect?ticket=${ticket}`)).toBe(503);
  expectToldOnce(gateway, 'UNREACHABLE');
  database.proxy.heal();
  await expectBack({ database, gateway });
});

test('responds with 503 while the server has no free connections', async () => {
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

test('responds to changes with 503 while the server is read-only, and serves reads', async () => {
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
  // As after a failover, existing connections still lead to the old server.
  await server.admin.query(`alter database ${database.name} reset default_transaction_read_only`);
  await expectBack({ database, gateway });
});

test.runIf(isRoot)(
  'responds to changes with 503 while the disk is full, and serves reads',
  async () => {
    const folder = smallFileSystem(64 * 1024 * 1024);
    // The server's user must be able to write to it.
    execFileSync('chown', ['postgres', folder]);
    await server.admin.query(`create tablespace small location '${folder}'`);
    const { database, gateway } = await open('tablespace small');
    const where = at(database, gateway);
    const makeRoom = fillUp(folder);
    // Writes until the free space in the tables' pages is used up.
    const refused: SurfaceResponse[] = [];
    await vi.waitFor(
      async () => {
        const responses = await Promise.all(
          Array.from({ length: 10 }, () => changeBy(where)).flat(),
        );
        refused.push(...responses.filter(({ status }) => status >= 300));
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
  },
);
