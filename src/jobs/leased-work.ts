/**
 * Declares work whose rows are leased: a worker claims a due row, holds it while it runs, and `run` stores the result,
 * the next due time and the release in one change that the lease fences.
 */
import type { Tracer } from '@opentelemetry/api';
import type { LeasedRows, ShareCapacity } from '../database/leases/leased-rows.ts';
import type { Database } from '../database/open/database.ts';
import type { InProjects } from '../database/statements/projects/all-projects.ts';
import type { Column, Row, Table } from '../database/statements/tables.ts';
import type { Log } from '../kernel/log.ts';

/** The services by which a process claims, runs and releases rows of any kind. */
export interface WorkServices {
  database: Database;
  log: Log;
  now: () => Date;
  /** Null if no receiver of traces is configured. */
  tracer: Tracer | null;
}

/** `R` is a claimed row. `S` are the services that the work uses. */
export interface LeasedWork<R extends object, S extends WorkServices> {
  /** Names the work in notifications, metrics, log lines and spans. */
  readonly kind: string;
  /** The maximum number of rows that a process runs at the same time, in each shard group. */
  readonly perProcess: number;
  /** The maximum for the rows of one share. */
  readonly perShare: number;
  /** The maximum number of rows that one claim takes. */
  readonly claimMax: number;
  /** A channel that also notifies of due rows, in addition to `notifyWork`. */
  readonly channel?: string;
  getShare(row: R): string;
  /** Claims rows that are due. Returns none if there are none. */
  claim(services: S, capacity: Capacity): Promise<R[]>;
  /** Renews the lease until it is disposed of. */
  hold(services: S, row: R, onLost: () => void): Disposable;
  /**
   * Must be safe to run twice, even at the same time. `signal` aborts when the process stops or the lease is lost. The
   * row is released and retried after an error.
   */
  run(services: S, row: R, signal: AbortSignal): Promise<unknown>;
  /** Releases the row until `dueTime`. */
  release(services: S, row: R, dueTime: Date): Promise<void>;
  /** SQL: the earliest time at which a row is due, including rows that are held. Null if there is none. */
  createDueTimeSql(inProjects: InProjects): string;
  /** SQL: the column `time`, since when each overdue row waits. Absent if other metrics count the rows. */
  createOverdueSql?(inProjects: InProjects, countMax: number): string;
}

/** The free slots of a process. */
export interface Capacity {
  free: number;
  freeByShare: ReadonlyMap<string, number>;
}

interface LeasedWorkOptions<T extends Table, K extends Column<T>, L extends Column<T>, R, S> {
  kind: string;
  leases: LeasedRows<T, K, L>;
  /** The columns of a claimed row. */
  columns: readonly Column<T>[];
  perProcess: number;
  /** The column whose values have a share of the slots each. Absent if any row may take every slot. */
  shareColumn?: Column<T>;
  perShare?: number;
  /** The maximum number of rows that one claim takes. Default: all free slots. */
  claimMax?: number;
  channel?: string;
  /** Replaces the claim of rows whose due time has passed. */
  claim?(services: S, free: number): Promise<R[]>;
  createDueTimeSql?(inProjects: InProjects): string;
  run(services: S, row: R, signal: AbortSignal): Promise<unknown>;
}

/**
 * The largest difference between two processes' estimates of the database's clock. Rows are claimed this much early, so
 * that a row that another process has just stored is not missed.
 */
const CLOCK_ERROR_MS = 50;

/** Declares work on the rows of a table. `start/start-work.ts` lists all declarations. */
export function leasedWork<
  T extends Table,
  K extends Column<T>,
  L extends Column<T>,
  R extends Pick<Row<T>, K | L>,
  S extends WorkServices,
>(options: LeasedWorkOptions<T, K, L, R, S>): LeasedWork<R, S> {
  const { kind, leases, columns, perProcess, shareColumn, channel, claim, run } = options;
  const { perShare = perProcess, claimMax = perProcess } = options;
  const claimDue = async ({ database, now }: WorkServices, { free, freeByShare }: Capacity) => {
    const claimNow = new Date(now().getTime() + CLOCK_ERROR_MS);
    const countMax = Math.min(free, claimMax);
    const shares: ShareCapacity | undefined =
      shareColumn && perShare < perProcess
        ? { column: shareColumn, freeByShare, freeDefault: perShare }
        : undefined;
    const rows = await leases.claimDue(database, { countMax, now: claimNow, columns, shares });
    return rows as unknown as R[];
  };
  return {
    kind,
    perProcess,
    perShare,
    claimMax,
    ...(channel !== undefined && { channel }),
    getShare: (row) => (shareColumn ? String((row as Record<string, unknown>)[shareColumn]) : ''),
    claim: claim ? (services, { free }) => claim(services, Math.min(free, claimMax)) : claimDue,
    hold: (services, row, onLost) => leases.keepRenewing(services, row, onLost),
    run: (services, row, signal) => run(services, row, signal),
    release: ({ database }, row, dueTime) => leases.release(database.prisma, row, dueTime),
    createDueTimeSql:
      options.createDueTimeSql ?? ((inProjects) => leases.createDueTimeSql(inProjects)),
    ...(!options.createDueTimeSql && {
      createOverdueSql: (inProjects: InProjects, countMax: number) =>
        leases.createOverdueSql(inProjects, countMax),
    }),
  };
}
