/** The processes of a database server are frozen: it does not respond, and connections stay open. */
import { afterAll, beforeAll, test } from 'vitest';
import {
  type DedicatedServer,
  freeze,
  startDedicatedServer,
} from '../fixtures/dedicated-server.ts';
import { expectExit, expectRecovery, startHangFixture } from '../fixtures/hang-fixture.ts';

let server: DedicatedServer;
beforeAll(async () => {
  server = await startDedicatedServer();
});
afterAll(() => server.stop());

test('recovers streams, requests and readiness from frozen server processes, and exits on SIGTERM', async () => {
  const fixture = await startHangFixture(server);
  await expectRecovery(fixture, () => freeze(fixture.backends));
  const { name } = fixture.database;
  freeze(await server.backends(name));
  await expectExit(fixture);
});
