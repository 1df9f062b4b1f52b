/** What the job queue runs on: the same database, through connections of its own if it has several. */
import type pg from 'pg';
import type { Db } from 'pg-boss';
import type { Listen } from './notifications.ts';
import type { Server } from './session.ts';
import { SessionPool } from './session-pool.ts';

export interface JobDatabase {
  db: Db;
}

/** Its statements are short; a pool of its own keeps heartbeats going while requests hold the other. */
const CONNECTIONS = 3;

export function jobsOn(pool: pg.Pool, listen: Listen): JobDatabase {
  return {
    db: { executeSql: (text, values) => pool.query(text, values), listen: listenBy(listen) },
  };
}

export function jobsOnPostgres(server: Server, listen: Listen): JobDatabase & AsyncDisposable {
  const name = 'integration-gateway jobs';
  const sessions = new SessionPool({ ...server, name, size: CONNECTIONS });
  return { ...jobsOn(sessions, listen), [Symbol.asyncDispose]: () => sessions.close() };
}

/** The process has one connection for notifications; the queue's come over it too. */
function listenBy(listen: Listen): NonNullable<Db['listen']> {
  return async (channel, onNotification, onReconnect) => {
    const listening = listen(channel, (payload) =>
      payload === undefined ? onReconnect() : onNotification(payload),
    );
    return { close: async () => listening[Symbol.asyncDispose]() };
  };
}
