/** A database whose processes are frozen: it does not answer any more, and does not say so. */
import { afterAll, beforeAll, test } from 'vitest';
import { expectEnd, expectRecovery, openScene } from '../scenes/hang-scene.ts';
import { freeze, type OwnServer, startOwnServer } from '../scenes/own-server.ts';

let server: OwnServer;
beforeAll(async () => {
  server = await startOwnServer();
});
afterAll(() => server.stop());

test('frozen processes of the server: streams, requests and readiness go on, and SIGTERM ends', async () => {
  const scene = await openScene(server);
  const { thaw } = freeze([]);
  await expectRecovery(scene, () => freeze(scene.backends));
  thaw();
  const { name } = scene.database;
  freeze(await server.backends(name));
  await expectEnd(scene);
});
