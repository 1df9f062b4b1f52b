/**
 * The processes that share the database. Each holds an advisory lock on its connection for hints: if the process is
 * killed, the operating system closes the connection and PostgreSQL frees the lock at once. A process that is
 * slow or frozen keeps it.
 */
import { randomUUID } from 'node:crypto';
import type { RunQuery } from './rows.ts';

export interface Processes {
  /** This one. */
  id: string;
  /** Notes which processes are missing, and which are back. Returns the ids of those that went missing now. */
  look(): Promise<string[]>;
  /** SQL: a time, if a look would note something; null if none ever does. */
  earliest: string | null;
}

/** The first half of each lock's key; the second is the row's own. */
const LOCK_CLASS = 72_707_370;
/** After a restart of the server all processes are missing; they reconnect within their backoff. */
const RESTART_SECONDS = 10;

const LOCK_OF_A_PROCESS = `
  select 1 from pg_locks l where l.locktype = 'advisory' and l.granted and l.objsubid = 2
    and l.classid::bigint = ${LOCK_CLASS}
    and l.database = (select oid from pg_database where datname = current_database())`;

const IS_THERE = `exists (${LOCK_OF_A_PROCESS} and l.objid::bigint = p."lockKey")`;

const OTHERS = `select exists (${LOCK_OF_A_PROCESS} and l.objid::bigint <> $1) as "are"`;

/**
 * For the process with this id: it is there while it looks, also if it has just lost the connection for hints. Then it
 * misses nobody: all may have lost theirs, and one that was a standby has not been started anew.
 */
const hasChanged = (id: string, lockKey: number) => `(p."missedTime" is null) <> ${IS_THERE}
    and (p."missedTime" is not null
      or p."id" <> '${id}' and now() > pg_postmaster_start_time() + interval '${RESTART_SECONDS} seconds'
        and exists (${LOCK_OF_A_PROCESS} and l.objid::bigint = ${lockKey}))`;

/** $1: whether those who are missing are noted, beside those who are back. */
const look = (id: string, lockKey: number) => `
  update "ServerProcess" p set
    "missedTime" = case when p."missedTime" is null then clock_timestamp() end
  where ${hasChanged(id, lockKey)} and ($1 or p."missedTime" is not null)
  returning p."id", p."missedTime" is not null as "isMissed"`;

/** Others notice long before a lease ends that it may have left behind. */
const LEAVE = `
  update "ServerProcess" set "missedTime" = clock_timestamp() - interval '1 minute' where "id" = $1`;

export interface SharedProcesses extends Processes {
  /** Run on each new connection for hints: the process keeps its leases while that is open. */
  attend(query: (text: string, values: unknown[]) => Promise<unknown>): Promise<void>;
  /** Whether others have such a connection now. */
  hasOthers(query: RunQuery): Promise<boolean>;
  /** Nothing of this process runs any more. */
  leave(): Promise<void>;
}

/** Whether a process of a gateway shares the PostgreSQL database now. */
export async function hasRunningGateways(session: Queries): Promise<boolean> {
  const { rows } = await session.query(`${LOCK_OF_A_PROCESS} limit 1`);
  return rows.length > 0;
}

interface Queries {
  query(text: string): Promise<{ rows: unknown[] }>;
}

/** Registers this process among those that share a PostgreSQL server. */
export async function joinProcesses(query: RunQuery): Promise<SharedProcesses> {
  const id = randomUUID();
  const insert = 'insert into "ServerProcess" ("id") values ($1) returning "lockKey"';
  const [row] = await query<{ lockKey: number }>(insert, [id]);
  if (!row) throw new Error('The process was not registered.');
  const { lockKey } = row;
  let hasAttended = false;
  /** It has come back itself: others may come later. */
  let missesFromMs = 0;
  return {
    id,
    async attend(ask) {
      if (hasAttended) missesFromMs = performance.now() + RESTART_SECONDS * 1_000;
      // Shared: an older connection of this process that hangs may still hold it.
      await ask(`select pg_advisory_lock_shared(${LOCK_CLASS}, $1::int)`, [lockKey]);
      // A database that takes no changes is still read; a later check notes that this process runs.
      await ask('update "ServerProcess" set "missedTime" = null where "id" = $1', [id]).catch(
        () => {},
      );
      hasAttended = true;
    },
    async hasOthers(ask) {
      const [others] = await ask<{ are: boolean }>(OTHERS, [lockKey]);
      return others?.are === true;
    },
    async look() {
      const mayMiss = performance.now() >= missesFromMs;
      const changed = await query<{ id: string; isMissed: boolean }>(look(id, lockKey), [mayMiss]);
      return changed.filter(({ isMissed }) => isMissed).map((one) => one.id);
    },
    earliest: `select now() from "ServerProcess" p where ${hasChanged(id, lockKey)} limit 1`,
    async leave() {
      await query(LEAVE, [id]);
    },
  };
}

/** The one process that has the data folder open: all leases of an earlier one are free. */
export async function onlyProcess(query: RunQuery): Promise<Processes> {
  const id = randomUUID();
  await query(
    `update "ServerProcess" set "missedTime" = clock_timestamp() - interval '1 minute'
     where "missedTime" is null`,
    [],
  );
  await query('insert into "ServerProcess" ("id") values ($1)', [id]);
  return { id, look: async () => [], earliest: null };
}
