/** The database of the job queue: the same database, with its own connections if it accepts several. */
import type pg from 'pg';
import type { ConstructorOptions, Db } from 'pg-boss';
import type { Listen } from './notifications/notifications.ts';
import type { Server } from './sessions/session.ts';
import { SessionPool } from './sessions/session-pool.ts';

export interface JobDatabase {
  db: Db;
  /** Options of the queue that the database requires. */
  options: Pick<ConstructorOptions, 'backend'>;
  /** Makes the workers of this process poll the queue, as a notification does. */
  wake(queue: string): void;
}

type ListenOfQueue = NonNullable<Db['listen']>;
type OnQueueNotification = Parameters<ListenOfQueue>[1];

/** The queue's statements are short. A pool of its own keeps heartbeats running while requests use all other connections. */
const CONNECTIONS = 3;

export function createJobDatabase(
  pool: pg.Pool,
  listen: Listen,
  options: JobDatabase['options'] = {},
): JobDatabase {
  const listeners = new Set<OnQueueNotification>();
  return {
    db: {
      executeSql: (text, values) => pool.query(text, values),
      listen: listenForQueue(listen, listeners),
    },
    options,
    wake(queue) {
      for (const onNotification of listeners) onNotification(queue);
    },
  };
}

export function createPostgresJobDatabase(
  server: Server,
  listen: Listen,
  options?: JobDatabase['options'],
): JobDatabase & AsyncDisposable {
  const name = 'integration-gateway jobs';
  const sessions = new SessionPool({ ...server, name, size: CONNECTIONS });
  return {
    ...createJobDatabase(sessions, listen, options),
    [Symbol.asyncDispose]: () => sessions.close(),
  };
}

/** Listens on the one connection that the process has for notifications. */
function listenForQueue(listen: Listen, listeners: Set<OnQueueNotification>): ListenOfQueue {
  return async (channel, onNotification, onReconnect) => {
    const subscription = listen(channel, (payload) =>
      payload === undefined ? onReconnect() : onNotification(payload),
    );
    listeners.add(onNotification);
    return {
      async close() {
        listeners.delete(onNotification);
        await subscription[Symbol.asyncDispose]();
      },
    };
  };
}
