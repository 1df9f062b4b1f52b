/** PostgreSQL inside the process: PGlite on the data folder, in its own thread. */
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../../kernel/log.ts';
import type { Meters } from '../../kernel/meters.ts';
import { AvailabilityCheck } from '../connect/availability-check.ts';
import { followClock } from '../connect/clock.ts';
import { COLUMN_TYPES } from '../connect/column-types.ts';
import { requireIntactFolder } from '../connect/embedded/data-folder.ts';
import { lockDataFolder } from '../connect/embedded/data-folder-lock.ts';
import { type Engine, startEngine } from '../connect/embedded/engine.ts';
import { serveSnapshots } from '../connect/embedded/snapshots.ts';
import { startUpkeep } from '../connect/embedded/upkeep.ts';
import { Outages } from '../connect/outages.ts';
import { registerOnlyProcess } from '../connect/processes.ts';
import { createQuery, createStatementNamer, type RunQuery } from '../connect/run-query.ts';
import { PLAN_ONCE_SETTING, PLANNER_SETTINGS } from '../connect/sessions/database-session.ts';
import { SessionPool } from '../connect/sessions/session-pool.ts';
import { migrate } from '../migrate/migrate.ts';
import { ONE_SHARD_GROUP } from '../statements/projects/shard-groups.ts';
import { sqlStatement } from '../statements/statements.ts';
import { type Listen, Listeners } from '../transactions/notifications.ts';
import { createClients } from './clients.ts';
import type { Database, DatabaseObservers } from './database.ts';

/** The delay before the next attempt while the database fails or is overloaded. */
const RETRY_MS = 1_000;

/**
 * The time that a vacuum of a large table may take. PGlite cannot cancel a statement, so this only ends the wait for it.
 * Requests and transactions have shorter limits of their own.
 */
const STATEMENT_MS_MAX = 60_000;

/** Opens the database of the data folder, which no other process may have open. If the database crashes, the process exits. */
export async function openEmbedded(
  dataDir: string,
  { log, meters }: DatabaseObservers,
): Promise<Database> {
  requireIntactFolder(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  await using stack = new AsyncDisposableStack();
  stack.use(lockDataFolder(dataDir));
  const engine = await startEngine(dataDir, (err) => {
    log.error({ err }, 'database.crashed');
    process.exit(1);
  });
  const database = stack.use(await openEngine(engine, log, meters));
  const query: RunQuery = (text, values) => database.run(sqlStatement(text), values);
  stack.use(startUpkeep(query, log));
  stack.use(await serveSnapshots(dataDir, engine));
  const resources = stack.move();
  return { ...database, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

export type OpenEngine = Pick<Engine, 'address' | typeof Symbol.asyncDispose>;

/** Opens the database of an engine. Closing the database closes the engine. */
export async function openEngine(engine: OpenEngine, log: Log, meters?: Meters): Promise<Database> {
  const outages = new Outages(log);
  await using stack = new AsyncDisposableStack();
  stack.use(engine);
  const server = { address: engine.address, outages, limitMs: STATEMENT_MS_MAX, meters };
  const migrationResult = await migrate(server, log);
  const notifications = new EmbeddedNotifications();
  const sessions = new SessionPool({
    ...server,
    name: 'integration-gateway',
    // PGlite has one session, so a second connection would wait until the first ends.
    size: 1,
    min: 1,
    types: COLUMN_TYPES,
    pipeline: true,
    onConnect: (client) => prepareSession(client, notifications),
  });
  stack.defer(() => sessions.close());
  const pool: pg.Pool = sessions;
  const listen = notifications.listenOn(pool);
  const clients = stack.use(createClients(pool, { sendNotifications: notifications.send }));
  const query = createQuery(pool, createStatementNamer());
  const processes = await registerOnlyProcess(query);
  const clock = stack.use(await followClock(query));
  const availability = stack.use(new AvailabilityCheck(async () => pool.query('select 1')));
  stack.use(outages);
  const resources = stack.move();
  return {
    kind: 'embedded',
    processes,
    now: clock.now,
    outages,
    ...migrationResult,
    ...clients,
    connections: () => sessions.counts(),
    ...ONE_SHARD_GROUP,
    sweeps: () => clients.run,
    listen,
    ping: async () => availability.check(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function prepareSession(
  client: pg.ClientBase,
  notifications: EmbeddedNotifications,
): Promise<void> {
  await notifications.attach(client);
  for (const settings of [PLANNER_SETTINGS, PLAN_ONCE_SETTING]) await client.query(settings);
}

/**
 * Delivers notifications within the process, because no other process has the embedded database open. The gateway's
 * notifications stay in memory. Notifications by SQL arrive over the single connection.
 */
class EmbeddedNotifications {
  readonly #listeners = new Listeners();
  readonly send = this.#listeners.send;

  /** Subscribes a new connection. Notifies all listeners, because notifications may have been lost with the previous one. */
  attach = async (client: pg.ClientBase): Promise<void> => {
    client.on('notification', ({ channel, payload }) => this.#listeners.notify(channel, payload));
    for (const channel of this.#listeners.channels) await subscribe(client, channel);
    for (const channel of this.#listeners.channels) this.#listeners.notify(channel);
  };

  listenOn(pool: pg.Pool): Listen {
    return (channel, onNotification) => {
      const isNew = !this.#listeners.has(channel);
      const subscription = this.#listeners.add(channel, onNotification);
      if (isNew) void this.#subscribeUntilDone(pool, channel);
      else onNotification();
      return subscription;
    };
  }

  async #subscribeUntilDone(pool: pg.Pool, channel: string): Promise<void> {
    while (!pool.ending) {
      try {
        await subscribe(pool, channel);
        return this.#listeners.notify(channel);
      } catch {
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }
}

async function subscribe(client: pg.ClientBase | pg.Pool, channel: string): Promise<void> {
  await client.query(`listen ${pg.escapeIdentifier(channel)}`);
}
