/** What the job queue runs on: the same database, by a way of its own. */
import type { PGlite } from '@electric-sql/pglite';
import type pg from 'pg';
import { type Db, fromPglite } from 'pg-boss';
import type { Listen } from './notifications.ts';
import type { Server } from './session.ts';
import { SessionPool } from './session-pool.ts';

export interface JobDatabase {
  backend: 'postgres' | 'pglite';
  db: Db;
}

/** Its statements are short; a pool of its own keeps heartbeats going while requests hold the other. */
const CONNECTIONS = 3;

export function jobsOnPglite(pglite: PGlite, listen: Listen): JobDatabase {
  const { executeSql } = fromPglite(pglite);
  return { backend: 'pglite', db: { executeSql, listen: listenBy(listen) } };
}

export function jobsOnPostgres(server: Server, listen: Listen): JobDatabase & AsyncDisposable {
  const sessions = new SessionPool({
    ...server,
    name: 'integration-gateway jobs',
    size: CONNECTIONS,
  });
  const pool: pg.Pool = sessions;
  return {
    backend: 'postgres',
    db: { executeSql: (text, values) => pool.query(text, values), listen: listenBy(listen) },
    [Symbol.asyncDispose]: () => sessions.close(),
  };
}

/** The process has one connection for hints; the queue's are among them. */
function listenBy(listen: Listen): NonNullable<Db['listen']> {
  return async (channel, onNotification, onReconnect) => {
    const listening = listen(channel, (payload) =>
      payload === undefined ? onReconnect() : onNotification(payload),
    );
    return { close: async () => listening[Symbol.asyncDispose]() };
  };
}
