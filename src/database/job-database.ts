/** What the job queue runs on: the same database, by a way of its own. */
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { type Db, fromPglite } from 'pg-boss';
import type { Log } from '../log.ts';
import type { Listen } from './listen.ts';

export interface JobDatabase {
  backend: 'postgres' | 'pglite';
  db: Db;
}

/** Its statements are short; a pool of its own keeps heartbeats going while requests hold the other. */
const CONNECTIONS = 3;
const CONNECT_TIMEOUT_MS = 4_000;

export function jobsOnPglite(pglite: PGlite, listen: Listen): JobDatabase {
  const { executeSql } = fromPglite(pglite);
  return { backend: 'pglite', db: { executeSql, listen: listenBy(listen) } };
}

export function jobsOnPostgres(
  url: string,
  listen: Listen,
  log: Log,
): JobDatabase & AsyncDisposable {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'integration-gateway jobs',
  });
  // Without a listener, a connection that the server closes ends the process.
  const onLost = (error: Error) => log.warn({ error: error.message }, 'database connection lost');
  pool.on('error', onLost);
  pool.on('connect', (client) => client.on('error', onLost));
  return {
    backend: 'postgres',
    db: { executeSql: (text, values) => pool.query(text, values), listen: listenBy(listen) },
    [Symbol.asyncDispose]: () => pool.end(),
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
