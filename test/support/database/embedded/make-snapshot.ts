/** Creates the data folder of an embedded database after all migrations, as a tar file. */
import { MessageChannel } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { PortStream } from '../../../../src/database/connect/embedded/port-stream.ts';
import { serveConnections } from '../../../../src/database/connect/embedded/run-engine.ts';
import { type OpenEngine, openEngine } from '../../../../src/database/open/open-embedded.ts';
import { createLog } from '../../../../src/kernel/log.ts';

export async function createSnapshot(): Promise<Uint8Array> {
  const log = createLog('silent');
  await using pglite = await PGlite.create();
  const database = await openEngine(serveInThisThread(pglite), log);
  await database[Symbol.asyncDispose]();
  // `template0` has a third of the files, and no test uses it.
  await pglite.exec(`update pg_database set "datistemplate" = false where "datname" = 'template0'`);
  await pglite.exec('drop database template0');
  return new Uint8Array(await (await pglite.dumpDataDir('none')).arrayBuffer());
}

/** Serves PGlite in this thread, because only then its files can be dumped. */
function serveInThisThread(pglite: PGlite): OpenEngine {
  const connections = serveConnections(pglite, (error) => {
    throw error;
  });
  const stream = () => {
    const { port1, port2 } = new MessageChannel();
    connections.add(port2);
    return new PortStream(port1) as never;
  };
  const address = { stream, user: 'postgres', database: 'postgres', ssl: false };
  return { address, [Symbol.asyncDispose]: () => connections.end() };
}
