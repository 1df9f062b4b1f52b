/**
 * Removes rows that are older than RETENTION_DAYS or REQUEST_RETENTION_HOURS: requests to providers, ended operations
 * with their logs, events, ended deliveries, stream messages, acknowledgements, and expired rows. It uses small
 * statements, so that other statements do not wait for it. It is safe in several processes in parallel, and after any
 * interruption.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import {
  acrossProjects,
  type ForProjects,
  mergeFirst,
  type SweepDatabase,
  sweep,
} from '../database/projects/all-projects.ts';
import { keyColumns, type RowKey } from '../database/row-keys.ts';
import { DAY_MS, HOUR_MS } from '../work/durations.ts';
import type { Services } from './call.ts';
import { removeSurplus } from './event/stream/stream-removal.ts';
import { deleteIdleCallers } from './viewer/caller-rates.ts';

/** The most rows that one statement deletes, without the rows that depend on them. */
const STATEMENT_ROWS = 40;
/** The most operations that one round deletes. Each has up to thousands of log lines, which are deleted first. */
const ROUND_OPERATIONS = 40;

/**
 * After a statement that found rows, the removal pauses for this multiple of the statement's duration. The removal
 * takes a small share of the server, and slows down with it. Overdue rows are removed ten times as fast, before they
 * fill the disk (docs/decisions/035-retention-by-deletes.md).
 */
const PAUSE_FACTORS = { inTime: 99, late: 9 };
const PAUSE_MAX_MS = 10_000;
/** The share of RETENTION_DAYS after which an expired row is overdue: one day with the default of 30 days. */
const LATE_SHARE = 1 / 30;

/** How long an expired authorization state is kept, so that a person who returns too late sees the reason. */
const EXPIRED_STATE_MS = DAY_MS;

/** The reason why these statements search all projects. Each deleted row is identified with its project. */
const REASON = 'expired rows';

interface Removal {
  signal?: AbortSignal | undefined;
  /** Pauses for `times` as long as a statement took. Override it to remove rows without pauses. */
  pause?: (times: number, tookMs: number) => Promise<void>;
}

/** The number of removed rows by table. Rows that were deleted together with another row are not counted. */
export type RemovedCounts = Record<string, number>;

export async function removeExpired(
  services: Services,
  removal: Removal = {},
): Promise<RemovedCounts> {
  const { config, database, now } = services;
  const nowMs = now().getTime();
  const cutoff = new Date(nowMs - config.RETENTION_DAYS * DAY_MS);
  const lateMs = config.RETENTION_DAYS * DAY_MS * LATE_SHARE;
  const remover = new Remover(database, lateMs, removal);
  const requestCutoff = new Date(nowMs - config.REQUEST_RETENTION_HOURS * HOUR_MS);
  await remover.removeAll(EXPIRED_REQUESTS, requestCutoff);
  await remover.removeOperations(cutoff);
  await remover.removeAll(EXPIRED_EVENTS, cutoff);
  await remover.removeAll(EXPIRED_DELIVERIES, cutoff);
  remover.count(
    'StreamMessage',
    await removeSurplus(services, { before: cutoff, signal: removal.signal }),
  );
  await remover.removeAll(EXPIRED_PROPOSALS, cutoff);
  await remover.removeAll(EXPIRED_AGENT_SESSIONS, cutoff);
  await remover.removeAll(EXPIRED_ACKNOWLEDGEMENTS, cutoff);
  await remover.removeAll(EXPIRED_WRITES, cutoff);
  await remover.removeAll(EXPIRED_PROVIDER_EVENTS, cutoff);
  await remover.removeAll(OLD_HISTOGRAMS, new Date(nowMs - ACTIVITY_DAYS * DAY_MS));
  await remover.removeAll(OLD_COUNTS, new Date(nowMs - (ACTIVITY_DAYS + MONTH_DAYS) * DAY_MS));
  await remover.removeAll(EXPIRED_KEYS, now());
  await remover.removeAll(EXPIRED_UPLOADS, now());
  await remover.removeAll(EXPIRED_PLANS, now());
  await remover.removeAll(EXPIRED_STATES, new Date(nowMs - EXPIRED_STATE_MS));
  await deleteIdleCallers(database.rows.query, cutoff);
  await database.rows.query(REMOVE_ENDED_SESSIONS, [now()]);
  await database.rows.query(FORGET_PROCESSES, [new Date(nowMs - DAY_MS)]);
  return remover.removed;
}

/** Deletes rows of processes whose leases ended more than a day ago. */
const FORGET_PROCESSES = 'delete from "ServerProcess" where "missedTime" < $1';

/** Deletes sessions of the console that have ended. A builder has at most SESSIONS_OF_BUILDER_MAX. */
const REMOVE_ENDED_SESSIONS = 'delete from "ConsoleSession" where "expireTime" <= $1';

interface Expired {
  table: string;
  /** The column with the row's time. It must have an index. */
  time: string;
  /** Columns that identify a row together with `time`. */
  key: string[];
  /** An SQL condition for the old rows to delete. Default: all of them. */
  condition?: string;
}

const EXPIRED_REQUESTS: Expired = {
  table: 'RecordedRequest',
  time: 'createTime',
  key: ['projectId', 'id'],
};
const EXPIRED_EVENTS: Expired = { table: 'NotificationEvent', time: 'createTime', key: ['id'] };
const EXPIRED_DELIVERIES: Expired = {
  table: 'Delivery',
  time: 'createTime',
  key: ['id'],
  // Includes pending deliveries of a deleted destination: an event that was recorded during the deletion can leave a
  // delivery that never becomes due.
  condition: `("status" <> 'PENDING' or (select true from "Destination" d
    where d."projectId" = "Delivery"."projectId" and d."id" = "Delivery"."destinationId" limit 1) is null)`,
};
const EXPIRED_PROPOSALS: Expired = {
  table: 'Proposal',
  time: 'createTime',
  key: ['projectId', 'id'],
  condition: '"dueTime" is null',
};
const EXPIRED_AGENT_SESSIONS: Expired = {
  table: 'AgentSession',
  time: 'expireTime',
  key: ['projectId', 'id'],
};
/** An unsolved problem needs a person again after this time. */
const EXPIRED_ACKNOWLEDGEMENTS: Expired = {
  table: 'Acknowledgement',
  time: 'createTime',
  key: ['projectId', 'kind', 'subjectId', 'objectName'],
};
const EXPIRED_WRITES: Expired = { table: 'WriteTask', time: 'endTime', key: ['id'] };
const EXPIRED_KEYS: Expired = {
  table: 'IdempotencyKey',
  time: 'expireTime',
  key: ['projectId', 'key'],
};
const EXPIRED_PROVIDER_EVENTS: Expired = {
  table: 'ProviderEvent',
  time: 'receiveTime',
  key: ['projectId', 'installationId', 'objectName', 'nativeId'],
  // Includes unprocessed events of a deleted subscription, which are never processed.
  condition: `("doneTime" is not null or (
    select true from "ObjectSubscription" s where s."projectId" = "ProviderEvent"."projectId"
      and s."installationId" = "ProviderEvent"."installationId" and s."objectName" = "ProviderEvent"."objectName"
    limit 1) is null)`,
};
/** Activity counts are kept longer than the rows that they count. */
const ACTIVITY_DAYS = 90;
const OLD_HISTOGRAMS: Expired = {
  table: 'ActivityHistogram',
  time: 'time',
  key: ['projectId', 'grain', 'key'],
};
/** A row's time is the start of its period, which lasts at most a month. */
const MONTH_DAYS = 31;
const OLD_COUNTS: Expired = {
  table: 'ActivityCount',
  time: 'time',
  key: ['projectId', 'grain', 'kind', 'key'],
};
const EXPIRED_UPLOADS: Expired = {
  table: 'ManifestUpload',
  time: 'expireTime',
  key: ['projectId', 'id'],
};
const EXPIRED_PLANS: Expired = { table: 'Plan', time: 'expireTime', key: ['projectId', 'id'] };
const EXPIRED_STATES: Expired = { table: 'OAuthConnect', time: 'expireTime', key: ['id'] };

class Remover {
  readonly removed: RemovedCounts = {};
  readonly #database: SweepDatabase & Pick<Database, 'rows'>;
  readonly #lateMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #pause: NonNullable<Removal['pause']>;
  #pauseFactor = PAUSE_FACTORS.inTime;

  constructor(
    database: SweepDatabase & Pick<Database, 'rows'>,
    lateMs: number,
    { signal, pause = pauseUntil(signal) }: Removal,
  ) {
    this.#database = database;
    this.#lateMs = lateMs;
    this.#signal = signal;
    this.#pause = pause;
  }

  /** Reads the old rows in order, with a cursor, so that kept rows are read only once. */
  async removeAll(expired: Expired, cutoff: Date): Promise<void> {
    const statement = createRemoveStatement(expired);
    let last: unknown[] = [new Date(0), ...expired.key.map(() => '')];
    let isMore = true;
    while (isMore && !this.#signal?.aborted) {
      const batches = await this.#find<Batch>(statement, cutoff, last);
      for (const { removed } of batches) this.count(expired.table, removed);
      // In a cluster every shard returns a batch. The next batches start after the earliest of their last rows.
      const [first] = mergeFirst(
        batches.filter(({ read }) => read === STATEMENT_ROWS),
        1,
        ({ time, key }) => [time.getTime(), ...key],
      );
      isMore = first !== undefined;
      last = [first?.time, ...(first?.key ?? [])];
    }
  }

  async removeOperations(cutoff: Date): Promise<void> {
    let rows: OldOperation[];
    do {
      rows = await this.#find<OldOperation>(EXPIRED_OPERATIONS, cutoff);
      const keys = keyColumns(rows);
      await this.#removeLogs(keys);
      if (this.#signal?.aborted) return;
      await this.#remove(REMOVE_WRITE_ENTRIES, keys);
      this.count('Operation', await this.#remove(REMOVE_OPERATIONS, keys));
    } while (rows.length >= ROUND_OPERATIONS);
  }

  async #removeLogs(operations: [string[], string[]]): Promise<void> {
    let lines = STATEMENT_ROWS;
    while (lines >= STATEMENT_ROWS && !this.#signal?.aborted) {
      lines = await this.#remove(REMOVE_LOGS, operations);
      this.count('OperationLog', lines);
    }
  }

  /** Returns the number of removed rows. */
  async #remove(text: string, keys: [string[], string[]]): Promise<number> {
    const removed = await this.#withPause(() => this.#database.rows.query(text, keys));
    return removed.length;
  }

  /** Finds expired rows. The age of the oldest row determines how long the removal pauses. */
  #find<R extends { time: Date }>(
    statement: ForProjects,
    cutoff: Date,
    after: readonly unknown[] = [],
  ): Promise<R[]> {
    return this.#withPause(async () => {
      const rows = await sweep<R>(this.#database, statement, [cutoff, ...after]);
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

  count(table: string, rows: number): void {
    this.removed[table] = (this.removed[table] ?? 0) + rows;
  }
}

function pauseUntil(signal: AbortSignal | undefined): NonNullable<Removal['pause']> {
  return (times, tookMs) =>
    wait(Math.min(times * tookMs, PAUSE_MAX_MS), undefined, { signal }).catch(() => {});
}

interface OldOperation extends RowKey {
  time: Date;
}

const EXPIRED_OPERATIONS = acrossProjects(
  REASON,
  (inProjects) => `select "projectId", "id", "createTime" as "time" from "Operation"
   where ${inProjects('"projectId"')} and "createTime" < $1 and "status" <> 'IN_PROGRESS'
   order by "createTime" limit ${ROUND_OPERATIONS}`,
);

/** Deletes by physical position (ctid). With keys, the planner might read the whole table to find these rows. */
const REMOVE_LOGS = `
  delete from "OperationLog" where "projectId" = any($1) and ctid = any(array(
    select line.ctid from unnest($1::text[], $2::text[]) as operation("projectId", "id") cross join lateral (
      select ctid from "OperationLog"
      where "projectId" = operation."projectId" and "operationId" = operation."id" limit ${STATEMENT_ROWS}
    ) line limit ${STATEMENT_ROWS}))
  returning 1`;

/**
 * Deletes the records of writes with their operations, so that no record data outlives the row that names its owner.
 * The write tasks may remain a little longer.
 */
const REMOVE_WRITE_ENTRIES = `
  delete from "WriteEntry" where "projectId" = any($1) and "operationId" = any($2)`;

const REMOVE_OPERATIONS = `
  delete from "Operation" where "projectId" = any($1) and "id" = any($2) returning 1`;

interface Batch {
  read: number;
  removed: number;
  /** The time of the last row that the batch read. */
  time: Date;
  key: string[];
}

function createRemoveStatement({ table, time, key, condition = 'true' }: Expired): ForProjects {
  const keys = key.map((column) => `"${column}"`).join(', ');
  const order = `"${time}", ${keys}`;
  const after = ['$2::timestamptz', ...key.map((_column, index) => `$${index + 3}::text`)];
  return acrossProjects(
    REASON,
    (inProjects) => `
    with batch as materialized (
      select ctid, "projectId" as "ofProject", ${keys}, "${time}" as "time", array[${keys}] as "keys" from "${table}"
      where ${inProjects('"projectId"')} and "${time}" < $1 and (${order}) > (${after.join(', ')})
      order by ${order} limit ${STATEMENT_ROWS}
    ), removed as (
      delete from "${table}"
      where ${condition} and "projectId" = any(array(select "ofProject" from batch))
        and ctid = any(array(select ctid from batch))
      returning 1
    )
    select (select count(*)::int from batch) as "read", (select count(*)::int from removed) as "removed",
      "time", "keys" as "key"
    from batch order by "time" desc, ${key.map((column) => `"${column}" desc`).join(', ')} limit 1`,
  );
}
