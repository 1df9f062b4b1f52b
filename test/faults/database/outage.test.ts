/** A database is unreachable, busy, read-only or full. Every surface responds with 503, and the log has one line. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createKeyValue } from '../../../src/domain/access/viewer/key/api-key-value.ts';
import {
  createDedicatedDatabase,
  type DedicatedDatabase,
  type DedicatedServer,
  startDedicatedServer,
} from '../fixtures/dedicated-server.ts';
import { fillUp, mountSmallFileSystem } from '../fixtures/embedded/small-file-system.ts';
import { type Gateway, startGateway } from '../fixtures/gateway.ts';
import { IS_SHORT } from '../fixtures/settings.ts';
import {
  expectUnavailable,
  readSocketCloseCode,
  readStreamRefusal,
  type SurfaceResponse,
  sendChanges,
  sendReads,
} from '../fixtures/surfaces.ts';

const isRoot = process.getuid?.() === 0;
const ROUND_COUNT = IS_SHORT ? 1 : 3;
/** Close code of a WebSocket whose client should reconnect. */
const TRY_AGAIN_LATER = 1013;
/** Maximum time until waiting work and listening connections have recovered. */
const RECOVERY_MS_MAX = 20_000;

let server: DedicatedServer;
beforeAll(async () => {
  server = await startDedicatedServer();
});
afterAll(() => server.stop());

async function startGatewayOnDatabase(
  clause?: string,
): Promise<{ database: DedicatedDatabase; gateway: Gateway }> {
  const database = await createDedicatedDatabase(server, clause);
  const gateway = await startGateway({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: '4' });
  const responses = await Promise.all([
    ...sendReads(createTarget(database, gateway)),
    ...sendChanges(createTarget(database, gateway)),
  ]);
  expect(responses.map(({ surface, status }) => ({ surface, isGood: status < 300 }))).toEqual(
    responses.map(({ surface }) => ({ surface, isGood: true })),
  );
  return { database, gateway };
}

function createTarget({ tenant }: DedicatedDatabase, { url }: Gateway) {
  return { url, tenant };
}

const fetchStatus = async ({ url }: Gateway, path: string) => (await fetch(url + path)).status;

function listWarnings({ lines }: Gateway) {
  return lines.filter(({ level }) => ['warn', 'error', 'fatal'].includes(level));
}

/**
 * Expects one log line for each kind, in any order, and no other warning or error. Waits for the lines, because all
 * responses of a round may fail on the connections that were cut, before the gateway opens another one.
 */
async function expectLoggedOnce(gateway: Gateway, ...kinds: string[]): Promise<void> {
  const listFailures = () => listWarnings(gateway).map(({ msg, kind }) => `${msg}: ${kind}`);
  await expect
    .poll(() => listFailures().toSorted())
    .toEqual(kinds.map((kind) => `database.failed: ${kind}`).toSorted());
}

const terminateBackends = ({ name }: DedicatedDatabase) =>
  server.admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
    name,
  ]);

async function expectRecovery({
  database,
  gateway,
}: {
  database: DedicatedDatabase;
  gateway: Gateway;
}) {
  await vi.waitFor(
    async () => {
      expect(await fetchStatus(gateway, '/readyz')).toBe(200);
      const responses = await Promise.all(sendChanges(createTarget(database, gateway)));
      expect(responses.map((response) => response.status)).toEqual([200, 201]);
    },
    { timeout: RECOVERY_MS_MAX, interval: 200 },
  );
}

async function repeatRounds(send: () => Promise<SurfaceResponse>[]): Promise<SurfaceResponse[]> {
  const responses: SurfaceResponse[] = [];
  for (let round = 0; round < ROUND_COUNT; round += 1)
    responses.push(...(await Promise.all(send())));
  return responses;
}

test('responds with 503 while the server is unreachable', async () => {
  const { database, gateway } = await startGatewayOnDatabase();
  const target = createTarget(database, gateway);
  database.proxy.reset();
  expectUnavailable(await repeatRounds(() => [...sendReads(target), ...sendChanges(target)]));
  expectUnavailable([await readStreamRefusal(target)]);
  // An API key that is not cached cannot be authenticated, so the client of the socket should reconnect.
  const unknownCaller = { ...target.tenant, apiKey: createKeyValue() };
  expect(await readSocketCloseCode({ ...target, tenant: unknownCaller })).toBe(TRY_AGAIN_LATER);
  expect(await fetchStatus(gateway, '/readyz')).toBe(503);
  expect(await fetchStatus(gateway, '/livez')).toBe(200);
  const ticket = `${target.tenant.projectId}.${randomBytes(32).toString('base64url')}`;
  expect(await fetchStatus(gateway, `/oauth/connect?ticket=${ticket}`)).toBe(503);
  await expectLoggedOnce(gateway, 'UNREACHABLE');
  database.proxy.heal();
  await expectRecovery({ database, gateway });
});

test('responds with 503 while the server has no free connections', async () => {
  const { database, gateway } = await startGatewayOnDatabase();
  const target = createTarget(database, gateway);
  await server.admin.query(`alter role ${database.name} connection limit 0`);
  await terminateBackends(database);
  expectUnavailable(await repeatRounds(() => [...sendReads(target), ...sendChanges(target)]));
  expect(await fetchStatus(gateway, '/readyz')).toBe(503);
  await expectLoggedOnce(gateway, 'UNREACHABLE', 'BUSY');
  await server.admin.query(`alter role ${database.name} connection limit -1`);
  await expectRecovery({ database, gateway });
});

test('responds to changes with 503 while the server is read-only, and serves reads', async () => {
  const { database, gateway } = await startGatewayOnDatabase();
  const target = createTarget(database, gateway);
  await server.admin.query(
    `alter database ${database.name} set default_transaction_read_only = on`,
  );
  await terminateBackends(database);
  // A read-only server is reachable again when it responds to reads.
  await expect
    .poll(async () => (await Promise.all(sendReads(target))).every(({ status }) => status === 200))
    .toBe(true);
  expect(await fetchStatus(gateway, '/readyz')).toBe(503);
  expectUnavailable(await repeatRounds(() => sendChanges(target)));
  const reads = await Promise.all(sendReads(target));
  expect(reads.map((read) => read.status)).toEqual(reads.map(() => 200));
  await expectLoggedOnce(gateway, 'UNREACHABLE', 'READ_ONLY');
  // Existing connections stay read-only, as they do after a failover.
  await server.admin.query(`alter database ${database.name} reset default_transaction_read_only`);
  await expectRecovery({ database, gateway });
});

test.runIf(isRoot)(
  'responds to changes with 503 while the disk is full, and serves reads',
  async () => {
    const folder = mountSmallFileSystem(64 * 1024 * 1024);
    // The server's user needs the permission to write.
    execFileSync('chown', ['postgres', folder]);
    await server.admin.query(`create tablespace small location '${folder}'`);
    const { database, gateway } = await startGatewayOnDatabase('tablespace small');
    const target = createTarget(database, gateway);
    const freeSpace = fillUp(folder);
    // Writes until the free space in the tables' pages is used up.
    const refusals: SurfaceResponse[] = [];
    await vi.waitFor(
      async () => {
        const responses = await Promise.all(
          Array.from({ length: 10 }, () => sendChanges(target)).flat(),
        );
        refusals.push(...responses.filter(({ status }) => status >= 300));
        expect(refusals.length).toBeGreaterThan(10);
      },
      { timeout: RECOVERY_MS_MAX, interval: 0 },
    );
    expectUnavailable(refusals);
    const reads = await Promise.all(sendReads(target));
    expect(reads.map((read) => read.status)).toEqual(reads.map(() => 200));
    await expectLoggedOnce(gateway, 'FULL');
    freeSpace();
    await expectRecovery({ database, gateway });
  },
);
