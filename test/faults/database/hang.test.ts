/** The processes of a database server are frozen: it does not respond, and connections stay open. */
import { afterAll, beforeAll, test } from 'vitest';
import { expectEnd, expectRecovery, openFixture } from '../fixtures/hang-fixture.ts';
import { freeze, type OwnServer, startOwnServer } from '../fixtures/own-server.ts';

let server: OwnServer;
beforeAll(async () => {
  server = await startOwnServer();
});
afterAll(() => server.stop());

test('streams, requests and readiness recover from frozen server processes, and SIGTERM works', async () => {
  const fixture = await openFixture(server);
  const { thaw } = freeze([]);
  await expectRecovery(fixture, () => freeze(fixture.backends));
  thaw();
  const { name } = fixture.database;
  freeze(await server.backends(name));
  await expectEnd(fixture);
});
