/** The processes of a database server are frozen: it does not respond, and connections stay open. */
import { afterAll, beforeAll, test } from 'vitest';
import { expectEnd, expectRecovery, openScene } from '../scenes/hang-scene.ts';
import { freeze, type OwnServer, startOwnServer } from '../scenes/own-server.ts';

let server: OwnServer;
beforeAll(async () => {
  server = await startOwnServer();
});
afterAll(() => server.stop());

test('streams, requests and readiness recover from frozen server processes, and SIGTERM works', async () => {
  const scene = await openScene(server);
  const { thaw } = freeze([]);
  await expectRecovery(scene, () => freeze(scene.backends));
  thaw();
  const { name } = scene.database;
  freeze(await server.backends(name));
  await expectEnd(scene);
});
