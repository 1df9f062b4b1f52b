/** The peers, and how each is started and queried. */
import { findFreePort } from '../test/support/process/free-port.ts';
import { type FilledDatabase, KEY_TEXT } from './database.ts';
import { POSTGRAPHILE_DOCUMENTS } from './peers/postgraphile-documents.ts';
import { type Server, startServer } from './processes/server.ts';
import { createServerPool, type ServerPool } from './processes/server-pool.ts';
import { DOCUMENTS, type Documents } from './workloads.ts';

/** Peers with duties authenticate callers and log requests, as the gateway does, and all but `limit` limit them. */
export const PEERS = [
  'limit',
  'mercurius',
  'postgraphile',
  'apollo',
  'limit-with-duties',
  'mercurius-with-duties',
  'yoga-with-duties',
  'gateway',
] as const;
export type PeerName = (typeof PEERS)[number];

const DUTIES_SUFFIX = '-with-duties';

/** Packages of bench/package.json, which the project itself does not install. */
const PACKAGES: { [N in PeerName]?: string } = {
  mercurius: 'mercurius',
  postgraphile: 'postgraphile',
  apollo: '@apollo/server',
  'mercurius-with-duties': 'mercurius',
  'yoga-with-duties': 'rate-limiter-flexible',
};

/** Returns the peers whose packages are installed, and reports the others. */
export function listInstalledPeers(): PeerName[] {
  const missingPeers = PEERS.filter((name) => !isInstalled(PACKAGES[name]));
  if (missingPeers.length > 0) {
    console.error(`Skipped without \`npm ci --prefix bench\`: ${missingPeers.join(', ')}.`);
  }
  return PEERS.filter((name) => !missingPeers.includes(name));
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
/** A limit that no measured work reaches. */
const NO_RATE_LIMIT = '100000000';

export interface Peer extends AsyncDisposable {
  name: PeerName;
  server: Server;
  documents: Documents;
  headers: Record<string, string>;
}

/** Settings of the measured gateway. All production features are on: keys, scopes, limits, costs and logs. */
export const GATEWAY_ENV = {
  ENCRYPTION_KEY: KEY_TEXT,
  DEMO: 'false',
  DATABASE_POOL_SIZE: POOL_SIZE,
  RATE_LIMIT_PER_SECOND: NO_RATE_LIMIT,
  RATE_LIMIT_BURST: NO_RATE_LIMIT,
  // The rows have fixed dates, so that a seed produces the same rows on any day.
  RETENTION_DAYS: '3650',
};

export async function startPeer(
  name: PeerName,
  filled: FilledDatabase,
  profile?: string | undefined,
): Promise<Peer> {
  if (name === 'gateway') {
    const server = await startGateway(filled.url, { env: { ROLES: 'api' }, profile });
    return createGatewayPeer(server, filled.apiKey);
  }
  const hasDuties = name.endsWith(DUTIES_SUFFIX);
  const headers: Peer['headers'] = hasDuties ? { 'x-api-key': filled.apiKey } : {};
  const server = await startServer({
    script: `bench/peers/${name.replace(DUTIES_SUFFIX, '')}.ts`,
    port: await findFreePort(),
    env: {
      DATABASE_URL: filled.url,
      POOL_SIZE,
      PROJECT_ID: filled.projectId,
      DUTIES: String(hasDuties),
    },
    pingHeaders: headers,
  });
  const documents = name === 'postgraphile' ? POSTGRAPHILE_DOCUMENTS : DOCUMENTS;
  return {
    name,
    server,
    documents,
    headers,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Returns the peer for a running gateway. Disposing of the peer stops the gateway. */
export function createGatewayPeer(server: Server, apiKey: string): Peer {
  return {
    name: 'gateway',
    server,
    documents: DOCUMENTS,
    headers: { 'x-api-key': apiKey },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The peers on a filled database. */
export type PeerPool = ServerPool<PeerName, Peer>;

export function createPeerPool(
  filled: FilledDatabase,
  { smoke, profile }: { smoke: boolean; profile?: string | undefined },
): PeerPool {
  return createServerPool((name) => startPeer(name, filled, profile), smoke);
}

interface GatewayOptions {
  env?: Record<string, string>;
  /** The folder for its V8 profile. */
  profile?: string | undefined;
}

/** Starts the gateway with both roles, unless `env` names one. It may post to receivers on this machine. */
export async function startGateway(
  databaseUrl: string,
  { env, profile }: GatewayOptions = {},
): Promise<Server> {
  return startServer({
    script: 'src/main.ts',
    port: await findFreePort(),
    env: {
      ...GATEWAY_ENV,
      DATABASE_URL: databaseUrl,
      ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
      ...env,
    },
    readyPath: '/readyz',
    profile,
  });
}
