/**
 * What looks after all projects has connections of its own, for each group of projects: a sweep that hangs takes none
 * from requests, and none from sweeps of another group. They are opened when they are needed, and closed when they are idle.
 */
import { queriesBy, statementNames } from '../clients.ts';
import { COLUMN_TYPES } from '../column-types.ts';
import type { ProjectGroup } from '../projects/project-groups.ts';
import type { RunQuery } from '../rows.ts';
import type { Server } from '../sessions/session.ts';
import { type PoolOptions, SessionPool } from '../sessions/session-pool.ts';

/** Sweeps are a dozen, of which few have something to do at the same time; the others wait their turn. */
const CONNECTIONS = 4;

type SweptServer = Server & Pick<PoolOptions, 'Client' | 'refusal' | 'plansOnce'>;

export class SweepPools implements AsyncDisposable {
  readonly #server: SweptServer;
  readonly #pools = new Map<string, { sessions: SessionPool; query: RunQuery }>();

  constructor(server: SweptServer) {
    this.#server = server;
  }

  readonly of = ({ name: group }: ProjectGroup): RunQuery => {
    let pool = this.#pools.get(group);
    if (!pool) {
      const name = 'integration-gateway sweeps';
      const sessions = new SessionPool({
        ...this.#server,
        name,
        size: CONNECTIONS,
        types: COLUMN_TYPES,
      });
      pool = { sessions, query: queriesBy(sessions, statementNames(this.#server.pooler)) };
      this.#pools.set(group, pool);
    }
    return pool.query;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#pools.values()].map(({ sessions }) => sessions.close()));
  }
}
