/** Opens any PostgreSQL: a pool for requests, one for work across projects, and a connection for notifications. */
import type { Config } from '../../settings/config.ts';
import { splitDatabaseUrl } from '../../settings/database-urls.ts';
import { endWithin } from '../../work/deadline.ts';
import { type Cluster, openCluster } from '../cluster/cluster.ts';
import { followClock } from '../connect/clock.ts';
import { COLUMN_TYPES } from '../connect/column-types.ts';
import { Outages } from '../connect/outages.ts';
import { Primary } from '../connect/primary.ts';
import { joinProcesses } from '../connect/processes.ts';
import { createQuery, createStatementNamer } from '../connect/run-query.ts';
import type { Server } from '../connect/sessions/database-session.ts';
import { type PoolOptions, SessionPool } from '../connect/sessions/session-pool.ts';
import { migrate } from '../migrate/migrate.ts';
import { ONE_SHARD_GROUP, type ShardGroup } from '../statements/projects/shard-groups.ts';
import { createRunStatement, type RunStatement } from '../statements/statements.ts';
import { createSender } from '../transactions/notifications.ts';
import { PostgresNotifications } from '../transactions/postgres-notifications.ts';
import { createClients } from './clients.ts';
import type { Database, DatabaseObservers } from './database.ts';
import { detectPooler } from './pooler.ts';

/**
 * Far above any statement of the gateway, and short enough that work continues within 10 s after a connection hangs.
 */
const STATEMENT_MS_MAX = 5_000;
/** A server that hangs must not delay the end of this process. */
const LEAVE_MS = 1_000;

/** Disposing of it takes at most a few seconds, whatever hangs. */
export async function openPostgres(
  config: Config,
  { log, meters }: DatabaseObservers,
): Promise<Database> {
  const outages = new Outages(log);
  const { direct, server, primaries } = await getServers(config, { log, meters, outages });
  const migrationResult = await migrate(direct, log);
  const cluster = migrationResult.isDistributed ? await openCluster(direct, log) : null;
  const pools = createPoolOptions(cluster);
  const sessions = openSessionPool(server, { ...pools, size: config.DATABASE_POOL_SIZE });
  const query = createQuery(sessions, createStatementNamer(server.pooler));
  const sweeps = new SweepPools({ ...server, limitMs: config.LIMIT_SWEEP_MS, ...pools });
  const processes = await joinProcesses(query);
  const clock = await followClock(query);
  const notify = createSender(query);
  const notifications = new PostgresNotifications(direct, { processes, notify, sessions });
  const clients = createClients(sessions, {
    pooler: server.pooler,
    servers: cluster?.servers,
    sendNotifications: notifications.send,
  });
  return {
    kind: 'postgres',
    ...migrationResult,
    ...clients,
    processes,
    now: clock.now,
    ...(cluster?.createShardGroups(query) ?? ONE_SHARD_GROUP),
    sweeps: sweeps.getQuery,
    listen: notifications.listen,
    outages,
    connections: () => sessions.counts(),
    ping: notifications.ping,
    async [Symbol.asyncDispose]() {
      outages[Symbol.dispose]();
      for (const primary of primaries) void primary[Symbol.asyncDispose]();
      clock[Symbol.dispose]();
      cluster?.[Symbol.dispose]();
      await notifications[Symbol.asyncDispose]();
      // If this fails, the leases of the process expire.
      await endWithin(processes.leave(), LEAVE_MS);
      await clients[Symbol.asyncDispose]();
      await Promise.all([sessions.close(), sweeps[Symbol.asyncDispose]()]);
    },
  };
}

/**
 * Generic query plans are off for a cluster: the coordinator plans queries with the values, which determine where the
 * rows are.
 */
function createPoolOptions(cluster: Cluster | null) {
  return { ...cluster?.pools, plansOnce: cluster === null };
}

function openSessionPool(
  server: Server,
  options: ReturnType<typeof createPoolOptions> & Pick<PoolOptions, 'size'>,
): SessionPool {
  const defaults = { name: 'integration-gateway', types: COLUMN_TYPES, pipeline: true };
  return new SessionPool({ ...server, ...defaults, ...options });
}

interface ConfiguredServers {
  /** For session state: LISTEN, locks, migrations. */
  direct: Server;
  /** For everything else, through a pooler if one is configured. */
  server: Server;
  primaries: Primary[];
}

async function getServers(
  { DATABASE_URL, DATABASE_LISTEN_URL, LIMIT_QUERY_MS }: Config,
  { log, ...serverOptions }: DatabaseObservers & { outages: Outages },
): Promise<ConfiguredServers> {
  const primaries = [DATABASE_LISTEN_URL, DATABASE_URL].flatMap((url) =>
    url ? new Primary(splitDatabaseUrl(url.reveal()), log) : [],
  );
  serverOptions.outages.onFailure = () => {
    for (const primary of primaries) primary.suspect();
  };
  const limitMs = Math.min(LIMIT_QUERY_MS, STATEMENT_MS_MAX);
  const [direct, pooled] = await Promise.all(
    primaries.map(async (primary): Promise<Server> => {
      await primary.find();
      return { ...serverOptions, address: primary.address, limitMs };
    }),
  );
  if (!direct) throw new Error('DATABASE_URL is not set.');
  if (!pooled) return { direct, server: direct, primaries };
  const pooler = await detectPooler({ pooled, direct }, log);
  return { direct, server: { ...pooled, pooler }, primaries };
}

interface SweepPool {
  sessions: SessionPool;
  run: RunStatement;
}

/** There are a dozen sweeps, of which few have work at the same time. The others wait. */
const SWEEP_CONNECTIONS_MAX = 4;

type SweepServer = Server & Pick<PoolOptions, 'Client' | 'findRefusal' | 'plansOnce'>;

/**
 * Sweeps over all projects have their own connections for each shard group. A sweep that hangs takes none from requests
 * or from sweeps of another shard group. Connections open when they are needed and close when they are idle.
 */
class SweepPools implements AsyncDisposable {
  readonly #server: SweepServer;
  readonly #pools = new Map<string, SweepPool>();

  constructor(server: SweepServer) {
    this.#server = server;
  }

  readonly getQuery = ({ name }: ShardGroup): RunStatement => {
    const pool = this.#pools.get(name) ?? this.#openPool();
    this.#pools.set(name, pool);
    return pool.run;
  };

  #openPool(): SweepPool {
    const sessions = new SessionPool({
      ...this.#server,
      name: 'integration-gateway sweeps',
      size: SWEEP_CONNECTIONS_MAX,
      types: COLUMN_TYPES,
    });
    const query = createQuery(sessions, createStatementNamer(this.#server.pooler));
    return { sessions, run: createRunStatement(query) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#pools.values()].map(({ sessions }) => sessions.close()));
  }
}
