/** The peers, and how each is started and queried. */
import { findFreePort } from '../test/support/process/free-port.ts';
import { type Filled, KEY_TEXT } from './database.ts';
import { POSTGRAPHILE_DOCUMENTS } from './peers/postgraphile-documents.ts';
import { type Server, startServer } from './processes/server.ts';
import { DOCUMENTS, type Documents } from './workloads.ts';

export const PEERS = ['limit', 'mercurius', 'postgraphile', 'apollo', 'gateway'] as const;
export type PeerName = (typeof PEERS)[number];

/** Packages of bench/package.json, which the project itself does not install. */
const PACKAGES: { [N in PeerName]?: string } = {
  mercurius: 'mercurius',
  postgraphile: 'postgraphile',
  apollo: '@apollo/server',
};

/** Returns the peers whose packages are installed, and reports the others. */
export function listInstalledPeers(): PeerName[] {
  const missing = PEERS.filter((name) => !isInstalled(PACKAGES[name]));
  if (missing.length > 0) {
    console.error(`Skipped without \`npm ci --prefix bench\`: ${missing.join(', ')}.`);
  }
  return PEERS.filter((name) => !missing.includes(name));
}

function isInstalled(name: string | undefined): boolean {
  if (!name) return true;
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

const POOL_SIZE = '16';
/** Too high for any measured work to reach. */
const NO_RATE_LIMIT = '100000000';

export interface Peer extends AsyncDisposable {
  name: PeerName;
  server: Server;
  documents: Documents;
  headers: Record<string, string>;
}

/** The gateway runs with all production features: keys, scopes, limits, costs, and a log line per request. */
export const GATEWAY_ENV = {
  ENCRYPTION_KEY: KEY_TEXT,
  DEMO: 'false',
  DATABASE_POOL_SIZE: POOL_SIZE,
  RATE_LIMIT_PER_SECOND: NO_RATE_LIMIT,
  RATE_LIMIT_BURST: NO_RATE_LIMIT,
  // The rows have a fixed date, so that a seed produces the same ones on any day.
  RETENTION_DAYS: '3650',
};

export async function startPeer(name: PeerName, filled: Filled): Promise<Peer> {
  const server = await (name === 'gateway' ? startGateway(filled) : startOther(name, filled));
  return {
    name,
    server,
    documents: name === 'postgraphile' ? POSTGRAPHILE_DOCUMENTS : DOCUMENTS,
    headers: name === 'gateway' ? { 'x-api-key': filled.apiKey } : {},
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export async function startGateway(
  { url }: Filled,
  more: Record<string, string> = {},
): Promise<Server> {
  return startServer({
    script: 'src/main.ts',
    port: await findFreePort(),
    env: { ...GATEWAY_ENV, DATABASE_URL: url, ROLES: 'api', ...more },
    readyPath: '/readyz',
  });
}

async function startOther(name: PeerName, { url, projectId }: Filled): Promise<Server> {
  return startServer({
    script: `bench/peers/${name}.ts`,
    port: await findFreePort(),
    env: { DATABASE_URL: url, POOL_SIZE, PROJECT_ID: projectId },
  });
}
