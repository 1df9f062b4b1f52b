/**
 * The processes that share the database. Each holds an advisory lock on its connection for notifications. If the
 * process is killed, the operating system closes the connection and PostgreSQL releases the lock immediately. A slow or
 * frozen process keeps it.
 */
import { randomUUID } from 'node:crypto';
import type { RunQuery } from './run-query.ts';

export interface Processes {
  /** The id of this process. */
  id: string;
  /** Records which processes have gone missing or returned. Returns the ids of the processes that have gone missing. */
  check(): Promise<string[]>;
  /** SQL: the current time if `check` has changes to record. Null if it never has any. */
  dueTimeSql: string | null;
}

/** The first half of each lock's key. The second half belongs to the row. */
const LOCK_CLASS = 72_707_370;
/** After a restart of the server, all processes need some time to reconnect. Until then none counts as missing. */
const RESTART_SECONDS = 10;

const LOCK_OF_A_PROCESS = `
  select 1 from pg_locks lock where lock.locktype = 'advisory' and lock.granted and lock.objsubid = 2
    and lock.classid::bigint = ${LOCK_CLASS}
    and lock.database = (select oid from pg_database where datname = current_database())`;

const HOLDS_LOCK = `exists (${LOCK_OF_A_PROCESS} and lock.objid::bigint = process."lockKey")`;

const HAS_OTHERS = `select exists (${LOCK_OF_A_PROCESS} and lock.objid::bigint <> $1) as "hasOthers"`;

/**
 * SQL: true if `process` has gone missing or returned since the last check. The checking process is not missing, even if
 * it has just lost its connection for notifications. It then marks no other process as missing: after a failover, all
 * have lost their connections, although the promoted server has not restarted.
 */
const hasChangedSql = (
  id: string,
  lockKey: number,
) => `(process."lockMissingSince" is null) <> ${HOLDS_LOCK}
    and (process."lockMissingSince" is not null
      or process."id" <> '${id}' and now() > pg_postmaster_start_time() + interval '${RESTART_SECONDS} seconds'
        and exists (${LOCK_OF_A_PROCESS} and lock.objid::bigint = ${lockKey}))`;

/** SQL: records the processes that have returned and, if $1 is true, those that are missing. */
const recordChangesSql = (id: string, lockKey: number) => `
  update "ServerProcess" process set
    "lockMissingSince" = case when process."lockMissingSince" is null then clock_timestamp() end
  where ${hasChangedSql(id, lockKey)} and ($1 or process."lockMissingSince" is not null)
  returning process."id", process."lockMissingSince" is not null as "isMissed"`;

/** Marks this process as missing immediately, so that others take over its rows before the leases expire. */
const LEAVE = `
  update "ServerProcess" set "lockMissingSince" = clock_timestamp() - interval '1 minute' where "id" = $1`;

export interface SharedProcesses extends Processes {
  /** Runs on each new connection for notifications. The process keeps its leases while that connection is open. */
  announce(query: (text: string, values: unknown[]) => Promise<unknown>): Promise<void>;
  /** True if other processes have such a connection now. */
  hasOthers(query: RunQuery): Promise<boolean>;
  /** Call it when nothing of this process runs any more. */
  leave(): Promise<void>;
}

/** True if a running gateway uses the PostgreSQL database. */
export async function hasRunningGateways(session: QuerySession): Promise<boolean> {
  const { rows } = await session.query(`${LOCK_OF_A_PROCESS} limit 1`);
  return rows.length > 0;
}

interface QuerySession {
  query(text: string): Promise<{ rows: unknown[] }>;
}

/** Registers this process among those that share a PostgreSQL server. */
export async function joinProcesses(query: RunQuery): Promise<SharedProcesses> {
  const id = randomUUID();
  const insert = 'insert into "ServerProcess" ("id") values ($1) returning "lockKey"';
  const [row] = await query<{ lockKey: number }>(insert, [id]);
  if (!row) throw new Error('The process was not registered.');
  const { lockKey } = row;
  let hasAnnounced = false;
  /**
   * The time from which `check` records missing processes. Just after this process has returned, others may still
   * return.
   */
  let missesFromMs = 0;
  return {
    id,
    async announce(sessionQuery) {
      if (hasAnnounced) missesFromMs = performance.now() + RESTART_SECONDS * 1_000;
      // Shared, because an older connection of this process that hangs may still hold it.
      await sessionQuery(`select pg_advisory_lock_shared(${LOCK_CLASS}, $1::int)`, [lockKey]);
      // A database that refuses changes can still be read. A later check records that this process runs.
      await sessionQuery('update "ServerProcess" set "lockMissingSince" = null where "id" = $1', [
        id,
      ]).catch(() => {});
      hasAnnounced = true;
    },
    async hasOthers(sessionQuery) {
      const [row] = await sessionQuery<{ hasOthers: boolean }>(HAS_OTHERS, [lockKey]);
      return row?.hasOthers === true;
    },
    async check() {
      const mayMiss = performance.now() >= missesFromMs;
      const processes = await query<{ id: string; isMissed: boolean }>(
        recordChangesSql(id, lockKey),
        [mayMiss],
      );
      return processes.filter(({ isMissed }) => isMissed).map((process) => process.id);
    },
    dueTimeSql: `select now() from "ServerProcess" process where ${hasChangedSql(id, lockKey)} limit 1`,
    async leave() {
      await query(LEAVE, [id]);
    },
  };
}

/** Registers the only process on a data folder. All leases of earlier processes become free. */
export async function registerOnlyProcess(query: RunQuery): Promise<Processes> {
  const id = randomUUID();
  await query(
    `update "ServerProcess" set "lockMissingSince" = clock_timestamp() - interval '1 minute'
     where "lockMissingSince" is null`,
    [],
  );
  await query('insert into "ServerProcess" ("id") values ($1)', [id]);
  return { id, check: async () => [], dueTimeSql: null };
}
