/**
 * Maintenance that a PostgreSQL server does in the background and PGlite does not. Without checkpoints, the write-ahead
 * log grows forever, and a start after a crash replays all of it. Without vacuum, tables grow by every changed row, and
 * the planner has no statistics. Maintenance works in small steps, and earlier while the database is quiet.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../kernel/log.ts';
import { Outage } from '../../../work/outage.ts';
import type { RunQuery } from '../run-query.ts';

const STEP_MS = 2_000;
/** The interval while nothing is written. */
const IDLE_STEP_MS = 10_000;
/** The size of the write-ahead log that triggers a checkpoint. A start after a crash replays this log. */
const WAL_BYTES_MAX = 64 * 1024 * 1024;
/** A table is vacuumed if its dead or unanalyzed rows exceed this number plus a share of its live rows. */
const STALE_ROWS_MAX = 500;
const STALE_SHARE_MAX = 0.2;
/**
 * The age in transactions that requires a vacuum. PostgreSQL's default is 200 million; beyond 2,000 million it would
 * refuse writes.
 */
const AGE_MAX = 200_000_000;
/** If a short statement takes less than this, the database is quiet. */
const QUIET_MS = 20;
/** The share of each limit that triggers maintenance while the database is quiet. */
const QUIET_SHARE = 0.5;

const WAL_SIZE = `
  select pg_current_wal_lsn()::text as "end",
    pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as "bytes"
  from pg_control_checkpoint()`;

/**
 * The table that needs a vacuum most. For catalog and TOAST tables, only dead rows count: every analyze changes the
 * catalog, and none resets the count of these changes.
 */
const STALEST_TABLE = `
  select format('%I.%I', statistics.schemaname, statistics.relname) as "name"
  from pg_stat_all_tables statistics join pg_class class on class.oid = statistics.relid
  cross join lateral (
    select class.relkind = 'r' and class.relnamespace <> 'pg_catalog'::regnamespace as "countsUnanalyzed") rules
  cross join lateral (
    select greatest(statistics.n_dead_tup, statistics.n_mod_since_analyze * rules."countsUnanalyzed"::int) as "rows"
  ) stale
  where stale."rows" > $1 * (${STALE_ROWS_MAX} + ${STALE_SHARE_MAX} * statistics.n_live_tup)
    or (class.relfrozenxid <> '0' and age(class.relfrozenxid) > $1 * ${AGE_MAX})
  order by stale."rows" desc limit 1`;

interface UpkeepResult {
  checkpoint: boolean;
  /** The table that was vacuumed. */
  vacuum: string | null;
  /** The end of the write-ahead log before the step. */
  walEnd: string | undefined;
}

/** Runs a checkpoint if the write-ahead log is long, and vacuums at most one table. */
export async function runUpkeepStep(query: RunQuery): Promise<UpkeepResult> {
  const startMs = performance.now();
  const [wal] = await query<{ end: string; bytes: number }>(WAL_SIZE, []);
  const isQuiet = performance.now() - startMs < QUIET_MS;
  const share = isQuiet ? QUIET_SHARE : 1;
  const checkpoint = (wal?.bytes ?? 0) > share * WAL_BYTES_MAX;
  if (checkpoint) await query('checkpoint', []);
  const [table] = await query<{ name: string }>(STALEST_TABLE, [share]);
  if (table) await query(`vacuum (analyze) ${table.name}`, []);
  return { checkpoint, vacuum: table?.name ?? null, walEnd: wal?.end };
}

/** Runs steps until it is disposed of. Disposing waits for the current step. */
export function startUpkeep(query: RunQuery, log: Log): AsyncDisposable {
  const stopping = new AbortController();
  const { signal } = stopping;
  const outage = new Outage(log, 'database.upkeep_failed');
  const run = async () => {
    let walEnd: string | undefined;
    let pauseMs = STEP_MS;
    while (!signal.aborted) {
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const result = await outage.watch(() => runUpkeepStep(query));
      pauseMs = result?.walEnd === walEnd ? IDLE_STEP_MS : STEP_MS;
      walEnd = result?.walEnd;
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}
