/** The connections of sweeps, which read rows of all projects. */
import { createQuery, createStatementNamer } from '../clients.ts';
import { COLUMN_TYPES } from '../column-types.ts';
import type { ProjectGroup } from '../projects/project-groups.ts';
import type { RunQuery } from '../rows.ts';
import type { Server } from '../sessions/session.ts';
import { type PoolOptions, SessionPool } from '../sessions/session-pool.ts';

interface SweepPool {
  sessions: SessionPool;
  query: RunQuery;
}

/** There are a dozen sweeps, of which few have work at the same time. The others wait. */
const SWEEP_CONNECTIONS_MAX = 4;

type SweepServer = Server & Pick<PoolOptions, 'Client' | 'findRefusal' | 'plansOnce'>;

/**
 * Sweeps over all projects have their own connections for each shard group. A sweep that hangs takes none from requests
 * or from sweeps of another group. Connections open when they are needed and close when they are idle.
 */
export class SweepPools implements AsyncDisposable {
  readonly #server: SweepServer;
  readonly #pools = new Map<string, SweepPool>();

  constructor(server: SweepServer) {
    this.#server = server;
  }

  readonly getQuery = ({ name: group }: ProjectGroup): RunQuery => {
    const pool = this.#pools.get(group) ?? this.#openPool();
    this.#pools.set(group, pool);
    return pool.query;
  };

  #openPool(): SweepPool {
    const sessions = new SessionPool({
      ...this.#server,
      name: 'integration-gateway sweeps',
      size: SWEEP_CONNECTIONS_MAX,
      types: COLUMN_TYPES,
    });
    return { sessions, query: createQuery(sessions, createStatementNamer(this.#server.pooler)) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#pools.values()].map(({ sessions }) => sessions.close()));
  }
}
