/**
 * Removes expired rows, and rows that are older than RETENTION_DAYS or REQUEST_RETENTION_HOURS: requests to providers,
 * ended operations with their logs, events, ended deliveries, stream messages, ended proposals, agent sessions and
 * acknowledgements. The statements are small, so that other statements do not wait for them. Several processes may run it
 * in parallel, and it may be interrupted at any time.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../database/open/database.ts';
import {
  acrossProjects,
  type ForProjects,
  mergeFirst,
  type SweepDatabase,
  sweep,
} from '../../database/statements/projects/all-projects.ts';
import { type RowKey, toKeyColumns } from '../../database/statements/row-keys.ts';
import { type SqlStatement, sqlStatement } from '../../database/statements/statements.ts';
import { DAY_MS, HOUR_MS } from '../../work/durations.ts';
import type { CoreServices } from '../access/call.ts';
import { deleteIdleCallers } from '../access/viewer/admission.ts';
import { removeSurplus } from '../events/stream/stream-removal.ts';

/** The maximum number of rows that one statement deletes. Rows that depend on them are not counted. */
const STATEMENT_ROWS_MAX = 40;
/** The maximum number of operations that one round deletes, after up to thousands of log lines of each. */
const ROUND_OPERATIONS_MAX = 40;

/**
 * After a statement that found rows, the removal pauses for this multiple of the statement's duration, so that it takes
 * a small share of a busy server. Overdue rows are removed ten times as fast, before they fill the disk
 * (docs/decisions/035-retention-by-deletes.md).
 */
const PAUSE_FACTORS = { inTime: 99, late: 9 };
const PAUSE_MAX_MS = 10_000;
/** The share of RETENTION_DAYS after which an expired row is overdue: one day with the default of 30 days. */
const LATE_SHARE = 1 / 30;

/** How long an expired authorization state is kept, so that a person who returns too late sees the reason. */
const EXPIRED_STATE_MS = DAY_MS;

/** The reason why the statements search all projects. */
const SWEEP_REASON = 'expired rows';

interface RemovalOptions {
  signal?: AbortSignal | undefined;
  /** Pauses for `factor` times the duration of a statement. Override it to remove rows without pauses. */
  pause?: (factor: number, durationMs: number) => Promise<void>;
}

/** The number of removed rows by table. Rows that were deleted together with another row are not counted. */
type RemovedCounts = Record<string, number>;

export async function removeExpired(
  services: CoreServices,
  options: RemovalOptions = {},
): Promise<RemovedCounts> {
  const { config, database, now } = services;
  const nowMs = now().getTime();
  const cutoff = new Date(nowMs - config.RETENTION_DAYS * DAY_MS);
  const lateMs = config.RETENTION_DAYS * DAY_MS * LATE_SHARE;
  const remover = new Remover(database, lateMs, options);
  const requestCutoff = new Date(nowMs - config.REQUEST_RETENTION_HOURS * HOUR_MS);
  await remover.removeAll(EXPIRED_REQUESTS, requestCutoff);
  await remover.removeOperations(cutoff);
  await remover.removeAll(EXPIRED_EVENTS, cutoff);
  await remover.removeAll(EXPIRED_DELIVERIES, cutoff);
  remover.addCount(
    'StreamMessage',
    await removeSurplus(services, { before: cutoff, signal: options.signal }),
  );
  await remover.removeAll(EXPIRED_PROPOSALS, cutoff);
  await remover.removeAll(EXPIRED_AGENT_SESSIONS, cutoff);
  await remover.removeAll(EXPIRED_ACKNOWLEDGEMENTS, cutoff);
  await remover.removeAll(EXPIRED_WRITES, cutoff);
  await remover.removeAll(EXPIRED_PROVIDER_EVENTS, cutoff);
  await remover.removeAll(OLD_HISTOGRAMS, new Date(nowMs - ACTIVITY_DAYS * DAY_MS));
  await remover.removeAll(OLD_COUNTS, new Date(nowMs - (ACTIVITY_DAYS + MONTH_DAYS) * DAY_MS));
  await remover.removeAll(EXPIRED_IDEMPOTENCY_KEYS, now());
  await remover.removeAll(EXPIRED_UPLOADS, now());
  await remover.removeAll(EXPIRED_PLANS, now());
  await remover.removeAll(EXPIRED_OAUTH_STATES, new Date(nowMs - EXPIRED_STATE_MS));
  await deleteIdleCallers(database.run, cutoff);
  await database.run(REMOVE_ENDED_SESSIONS, [now()]);
  await database.run(REMOVE_ENDED_PROCESSES, [new Date(nowMs - DAY_MS)]);
  return remover.removed;
}

/** Deletes rows of processes whose leases ended more than a day ago. */
const REMOVE_ENDED_PROCESSES = sqlStatement(
  'delete from "ServerProcess" where "lockMissingSince" < $1',
);

/** Deletes console sessions that have ended. A builder has at most CONSOLE_SESSIONS_MAX. */
const REMOVE_ENDED_SESSIONS = sqlStatement('delete from "ConsoleSession" where "expireTime" <= $1');

interface ExpiredRows {
  table: string;
  /** The column with the row's time. It must have an index. */
  timeColumn: string;
  /** Columns that identify a row together with its time. */
  keyColumns: string[];
  /** An SQL condition for the old rows to delete. Default: all old rows. */
  condition?: string;
}

const EXPIRED_REQUESTS: ExpiredRows = {
  table: 'RecordedRequest',
  timeColumn: 'createTime',
  keyColumns: ['projectId', 'id'],
};
const EXPIRED_EVENTS: ExpiredRows = {
  table: 'NotificationEvent',
  timeColumn: 'createTime',
  keyColumns: ['id'],
};
const EXPIRED_DELIVERIES: ExpiredRows = {
  table: 'Delivery',
  timeColumn: 'createTime',
  keyColumns: ['id'],
  // Includes pending deliveries of a deleted destination: an event that was recorded during the deletion can leave a
  // delivery that never becomes due.
  condition: `("status" <> 'PENDING' or (select true from "Destination" destination
    where destination."projectId" = "Delivery"."projectId" and destination."id" = "Delivery"."destinationId"
    limit 1) is null)`,
};
const EXPIRED_PROPOSALS: ExpiredRows = {
  table: 'Proposal',
  timeColumn: 'createTime',
  keyColumns: ['projectId', 'id'],
  condition: '"dueTime" is null',
};
const EXPIRED_AGENT_SESSIONS: ExpiredRows = {
  table: 'AgentSession',
  timeColumn: 'expireTime',
  keyColumns: ['projectId', 'id'],
};
/** After RETENTION_DAYS, an unsolved problem needs attention again. */
const EXPIRED_ACKNOWLEDGEMENTS: ExpiredRows = {
  table: 'Acknowledgement',
  timeColumn: 'createTime',
  keyColumns: ['projectId', 'kind', 'subjectId', 'objectName'],
};
const EXPIRED_WRITES: ExpiredRows = {
  table: 'WriteTask',
  timeColumn: 'endTime',
  keyColumns: ['id'],
};
const EXPIRED_IDEMPOTENCY_KEYS: ExpiredRows = {
  table: 'IdempotencyKey',
  timeColumn: 'expireTime',
  keyColumns: ['projectId', 'key'],
};
const EXPIRED_PROVIDER_EVENTS: ExpiredRows = {
  table: 'ProviderEvent',
  timeColumn: 'receiveTime',
  keyColumns: ['projectId', 'installationId', 'objectName', 'nativeId'],
  // Includes unprocessed events of a deleted subscription, which are never processed.
  condition: `("doneTime" is not null or (
    select true from "ObjectSubscription" subscription
    where subscription."projectId" = "ProviderEvent"."projectId"
      and subscription."installationId" = "ProviderEvent"."installationId"
      and subscription."objectName" = "ProviderEvent"."objectName"
    limit 1) is null)`,
};
/** Activity counts are kept longer than the rows that they count. */
const ACTIVITY_DAYS = 90;
const OLD_HISTOGRAMS: ExpiredRows = {
  table: 'ActivityHistogram',
  timeColumn: 'time',
  keyColumns: ['projectId', 'grain', 'key'],
};
/** A row's time is the start of its period, which lasts at most a month. */
const MONTH_DAYS = 31;
const OLD_COUNTS: ExpiredRows = {
  table: 'ActivityCount',
  timeColumn: 'time',
  keyColumns: ['projectId', 'grain', 'kind', 'key'],
};
const EXPIRED_UPLOADS: ExpiredRows = {
  table: 'ManifestUpload',
  timeColumn: 'expireTime',
  keyColumns: ['projectId', 'id'],
};
const EXPIRED_PLANS: ExpiredRows = {
  table: 'Plan',
  timeColumn: 'expireTime',
  keyColumns: ['projectId', 'id'],
};
const EXPIRED_OAUTH_STATES: ExpiredRows = {
  table: 'OAuthConnect',
  timeColumn: 'expireTime',
  keyColumns: ['id'],
};

class Remover {
  readonly removed: RemovedCounts = {};
  readonly #database: SweepDatabase & Pick<Database, 'run'>;
  readonly #lateMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #pause: NonNullable<RemovalOptions['pause']>;
  #pauseFactor = PAUSE_FACTORS.inTime;

  constructor(
    database: SweepDatabase & Pick<Database, 'run'>,
    lateMs: number,
    { signal, pause = createPause(signal) }: RemovalOptions,
  ) {
    this.#database = database;
    this.#lateMs = lateMs;
    this.#signal = signal;
    this.#pause = pause;
  }

  /** Reads the old rows in order, from one position to the next, so that kept rows are read only once. */
  async removeAll(expired: ExpiredRows, cutoff: Date): Promise<void> {
    const statement = createRemoveStatement(expired);
    let position: unknown[] | null = [new Date(0), ...expired.keyColumns.map(() => '')];
    while (position && !this.#signal?.aborted) {
      const batches: Batch[] = await this.#sweep(statement, cutoff, position);
      for (const { removed } of batches) this.addCount(expired.table, removed);
      // In a cluster every shard returns a batch. The next batches start after the earliest of their last rows.
      const [earliest] = mergeFirst(
        batches.filter(({ read }) => read === STATEMENT_ROWS_MAX),
        1,
        ({ time, key }) => [time.getTime(), ...key],
      );
      position = earliest ? [earliest.time, ...earliest.key] : null;
    }
  }

  async removeOperations(cutoff: Date): Promise<void> {
    let rows: OldOperation[];
    do {
      rows = await this.#sweep(EXPIRED_OPERATIONS, cutoff);
      const keys = toKeyColumns(rows);
      await this.#removeLogs(keys);
      if (this.#signal?.aborted) return;
      await this.#remove(REMOVE_WRITE_ENTRIES, keys);
      this.addCount('Operation', await this.#remove(REMOVE_OPERATIONS, keys));
    } while (rows.length >= ROUND_OPERATIONS_MAX);
  }

  async #removeLogs(operations: [string[], string[]]): Promise<void> {
    let removed = STATEMENT_ROWS_MAX;
    while (removed >= STATEMENT_ROWS_MAX && !this.#signal?.aborted) {
      removed = await this.#remove(REMOVE_LOGS, operations);
      this.addCount('OperationLog', removed);
    }
  }

  /** Returns the number of removed rows. */
  async #remove(statement: SqlStatement, keys: [string[], string[]]): Promise<number> {
    const removedRows = await this.#withPause(() => this.#database.run(statement, keys));
    return removedRows.length;
  }

  /** Runs a statement over all projects. The age of the oldest row that it returns determines the pauses. */
  #sweep<R extends { time: Date }>(
    statement: ForProjects<R>,
    cutoff: Date,
    after: readonly unknown[] = [],
  ): Promise<R[]> {
    return this.#withPause(async () => {
      const rows = await sweep(this.#database, statement, [cutoff, ...after]);
      const oldestMs = Math.min(...rows.map(({ time }) => time.getTime()));
      this.#pauseFactor =
        cutoff.getTime() - oldestMs > this.#lateMs ? PAUSE_FACTORS.late : PAUSE_FACTORS.inTime;
      return rows;
    });
  }

  async #withPause<R>(run: () => Promise<R[]>): Promise<R[]> {
    const startedMs = performance.now();
    const rows = await run();
    if (rows.length > 0) await this.#pause(this.#pauseFactor, performance.now() - startedMs);
    return rows;
  }

  addCount(table: string, rows: number): void {
    this.removed[table] = (this.removed[table] ?? 0) + rows;
  }
}

/** Returns a function that pauses, but not after the signal is aborted. */
function createPause(signal: AbortSignal | undefined): NonNullable<RemovalOptions['pause']> {
  return (factor, durationMs) =>
    wait(Math.min(factor * durationMs, PAUSE_MAX_MS), undefined, { signal }).catch(() => {});
}

interface OldOperation extends RowKey {
  time: Date;
}

const EXPIRED_OPERATIONS = acrossProjects<OldOperation>(
  SWEEP_REASON,
  (inProjects) => `select "projectId", "id", "createTime" as "time" from "Operation"
   where ${inProjects('"projectId"')} and "createTime" < $1 and "status" <> 'IN_PROGRESS'
   order by "createTime" limit ${ROUND_OPERATIONS_MAX}`,
);

/** Deletes by physical location (ctid). With keys, the planner might read the whole table to find the rows. */
const REMOVE_LOGS = sqlStatement(`
  delete from "OperationLog" where "projectId" = any($1) and ctid = any(array(
    select line.ctid from unnest($1::text[], $2::text[]) as operation("projectId", "id") cross join lateral (
      select ctid from "OperationLog"
      where "projectId" = operation."projectId" and "operationId" = operation."id" limit ${STATEMENT_ROWS_MAX}
    ) line limit ${STATEMENT_ROWS_MAX}))
  returning 1`);

/**
 * Deletes the records of writes with their operations, so that no record data outlives the row that names its owner.
 * The write tasks are removed later, by the time when they ended.
 */
const REMOVE_WRITE_ENTRIES = sqlStatement(`
  delete from "WriteEntry" where "projectId" = any($1) and "operationId" = any($2)`);

const REMOVE_OPERATIONS = sqlStatement(`
  delete from "Operation" where "projectId" = any($1) and "id" = any($2) returning 1`);

/** The result of a removal statement: the numbers of rows, and the time and the key of the last row that it read. */
interface Batch {
  read: number;
  removed: number;
  time: Date;
  key: string[];
}

function createRemoveStatement({
  table,
  timeColumn,
  keyColumns: columns,
  condition = 'true',
}: ExpiredRows): ForProjects<Batch> {
  const keys = columns.map((column) => `"${column}"`).join(', ');
  const order = `"${timeColumn}", ${keys}`;
  const positionParameters = [
    '$2::timestamptz',
    ...columns.map((_column, index) => `$${index + 3}::text`),
  ];
  return acrossProjects<Batch>(
    SWEEP_REASON,
    (inProjects) => `
    with batch as materialized (
      select ctid, "projectId" as "ofProject", ${keys}, "${timeColumn}" as "time", array[${keys}] as "keys"
      from "${table}" where ${inProjects('"projectId"')} and "${timeColumn}" < $1 and (${order}) > (${positionParameters.join(', ')})
      order by ${order} limit ${STATEMENT_ROWS_MAX}
    ), removed as (
      delete from "${table}"
      where ${condition} and "projectId" = any(array(select "ofProject" from batch))
        and ctid = any(array(select ctid from batch))
      returning 1
    )
    select (select count(*)::int from batch) as "read", (select count(*)::int from removed) as "removed",
      "time", "keys" as "key"
    from batch order by "time" desc, ${columns.map((column) => `"${column}" desc`).join(', ')} limit 1`,
  );
}
