/**
 * While a server has the embedded database open, no other process can open it. The owner of the data folder can request
 * a copy of the files instead, as a crash would leave them, and open the copy. The server copies between two statements.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { StartRefused } from '../../../kernel/errors.ts';
import { isSameSecret } from '../../../kernel/secrets.ts';
import { DATABASE_FOLDER } from './data-folder.ts';
import type { Engine } from './engine.ts';

/** Contains the address at which the server provides copies, and a token that proves access to the data folder. */
const SERVICE_FILE = 'snapshots.json';
const SNAPSHOT_PREFIX = 'snapshot-';
const TOKEN_BYTES = 32;

interface Service {
  port: number;
  token: string;
}

/** Provides copies on the loopback interface until it is disposed of. */
export async function serveSnapshots(dataDir: string, engine: Engine): Promise<AsyncDisposable> {
  removeLeftovers(dataDir);
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const server = createServer((incoming, response) => {
    const sending = isOwner(incoming, token)
      ? sendCopy(dataDir, engine, response)
      : sendForbidden(response);
    void sending.catch((error: Error) => response.destroy(error));
  });
  // A copy in use does not delay the end of the server.
  server.unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const service: Service = { port: (server.address() as AddressInfo).port, token };
  writeFileSync(join(dataDir, SERVICE_FILE), JSON.stringify(service), { mode: 0o600 });
  return {
    async [Symbol.asyncDispose]() {
      rmSync(join(dataDir, SERVICE_FILE), { force: true });
      server.close();
      server.closeAllConnections();
    },
  };
}

function isOwner({ headers }: IncomingMessage, token: string): boolean {
  const expected = Buffer.from(`Bearer ${token}`);
  const received = Buffer.from(headers.authorization ?? '');
  return isSameSecret(received, expected);
}

async function sendForbidden(response: ServerResponse): Promise<void> {
  response.writeHead(403).end();
}

/** Sends the path of a new copy, which exists while the connection is open. */
async function sendCopy(dataDir: string, engine: Engine, response: ServerResponse): Promise<void> {
  const folder = join(dataDir, `${SNAPSHOT_PREFIX}${randomUUID()}`);
  response.once('close', () => rmSync(folder, { recursive: true, force: true }));
  const failure = await engine.copyTo(join(folder, DATABASE_FOLDER));
  if (failure !== null) response.writeHead(500).end(failure);
  // If the borrower has disconnected, its copy must be removed.
  else if (response.closed) rmSync(folder, { recursive: true, force: true });
  else response.writeHead(200).write(folder);
}

/** Removes copies of a server that was killed. */
function removeLeftovers(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith(SNAPSHOT_PREFIX))
      rmSync(join(dataDir, name), { recursive: true, force: true });
  }
}

interface Snapshot extends Disposable {
  /**
   * A data folder that contains only a database. It is removed when the snapshot is disposed of or the process ends.
   */
  folder: string;
}

/** Requests a copy from the server that has the data folder open. Throws StartRefused if it provides none. */
export async function borrowSnapshot(dataDir: string): Promise<Snapshot> {
  try {
    const { port, token } = JSON.parse(
      readFileSync(join(dataDir, SERVICE_FILE), 'utf8'),
    ) as Service;
    const headers = { authorization: `Bearer ${token}` };
    const copyRequest = request({ host: '127.0.0.1', port, method: 'POST', headers }).end();
    const [response] = (await once(copyRequest, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(await text(response));
    const [chunk] = (await once(response, 'data')) as [Buffer];
    const folder = chunk.toString();
    // If the server ends, the copy stays usable.
    for (const end of [copyRequest, response]) end.on('error', () => {});
    return {
      folder,
      [Symbol.dispose]() {
        copyRequest.destroy();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (cause) {
    throw new StartRefused(
      `The server that uses ${dataDir} provides no copy of its database (${(cause as Error).message}). Stop that server first.`,
      { cause },
    );
  }
}
