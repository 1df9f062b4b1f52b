/**
 * Removes rows that are older than RETENTION_DAYS: ended operations with their logs, events, ended deliveries, messages
 * of streams, and expired rows. It works in small statements, so that nothing waits for it; it is safe in several processes at once,
 * and after any interruption.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import {
  acrossProjects,
  type ForProjects,
  firstOfAll,
  type Swept,
  sweep,
} from '../database/projects/all-projects.ts';
import { keyColumns, type RowKey } from '../database/row-keys.ts';
import { DAY_MS } from '../work/durations.ts';
import type { Services } from './call.ts';
import { removeSurplus } from './event/stream/stream-removal.ts';
import { forgetIdleCallers } from './viewer/caller-rates.ts';

/** Rows of one statement, and what hangs on them. */
const ROWS_AT_ONCE = 40;
/** Each has up to thousands of log lines, which go first. */
const OPERATIONS_AT_ONCE = 40;

/**
 * A statement that found something is followed by a rest of so many times what it took: others have the server for nearly
 * all of the time, and more of it when it is slow. What is late is removed ten times as fast, before the disk is full of it
 * (docs/decisions/035-retention-by-deletes.md).
 */
const RESTS = { inTime: 99, late: 9 };
const REST_MAX_MS = 10_000;
/** What should have gone a day ago is late, where rows are kept for the usual 30 days. */
const LATE_SHARE = 1 / 30;

/** How long an expired authorization state is kept, so that a person who returns too late gets the reason. */
const EXPIRED_STATE_MS = DAY_MS;

/** Why these statements ask all projects; what they remove is named with its project. */
const OLD = 'rows whose time is over';

interface Removal {
  signal?: AbortSignal | undefined;
  /** Rests so many times what a statement took; for who does not want to wait. */
  rest?: (times: number, tookMs: number) => Promise<void>;
}

/** How many rows it removed, by table; those that went with another row are not counted. */
export type Removed = Record<string, number>;

export async function removeExpired(services: Services, removal: Removal = {}): Promise<Removed> {
  const { config, database, now } = services;
  const nowMs = now().getTime();
  const cutoff = new Date(nowMs - config.RETENTION_DAYS * DAY_MS);
  const lateMs = config.RETENTION_DAYS * DAY_MS * LATE_SHARE;
  const remover = new Remover(database, lateMs, removal);
  await remover.removeOperations(cutoff);
  await remover.removeAll(EXPIRED_EVENTS, cutoff);
  await remover.removeAll(EXPIRED_DELIVERIES, cutoff);
  remover.count(
    'StreamMessage',
    await removeSurplus(services, { before: cutoff, signal: removal.signal }),
  );
  await remover.removeAll(EXPIRED_WRITES, cutoff);
  await remover.removeAll(EXPIRED_PROVIDER_EVENTS, cutoff);
  await remover.removeAll(OLD_HISTOGRAMS, new Date(nowMs - ACTIVITY_DAYS * DAY_MS));
  await remover.removeAll(OLD_COUNTS, new Date(nowMs - (ACTIVITY_DAYS + MONTH_DAYS) * DAY_MS));
  await remover.removeAll(EXPIRED_KEYS, now());
  await remover.removeAll(EXPIRED_UPLOADS, now());
  await remover.removeAll(EXPIRED_STATES, new Date(nowMs - EXPIRED_STATE_MS));
  await forgetIdleCallers(database.rows.query, cutoff);
  await database.rows.query(FORGET_PROCESSES, [new Date(nowMs - DAY_MS)]);
  return remover.removed;
}

/** Their leases have ended long ago. */
const FORGET_PROCESSES = 'delete from "ServerProcess" where "missedTime" < $1';

interface Expired {
  table: string;
  /** An index has it. */
  time: string;
  /** Columns that tell a row of the table from all others. */
  key: string[];
  /** Which of the old rows go; the others are walked over. */
  condition?: string;
}

const EXPIRED_EVENTS: Expired = { table: 'NotificationEvent', time: 'createTime', key: ['id'] };
const EXPIRED_DELIVERIES: Expired = {
  table: 'Delivery',
  time: 'createTime',
  key: ['id'],
  // An event that was recorded while its destination was deleted owes it something that is never due.
  condition: `("status" <> 'PENDING' or (select true from "Destination" d
    where d."projectId" = "Delivery"."projectId" and d."id" = "Delivery"."destinationId" limit 1) is null)`,
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
  // What waits for a subscription that is gone is never done.
  condition: `("doneTime" is not null or (
    select true from "ObjectSubscription" s where s."projectId" = "ProviderEvent"."projectId"
      and s."installationId" = "ProviderEvent"."installationId" and s."objectName" = "ProviderEvent"."objectName"
    limit 1) is null)`,
};
/** Counts of activity outlive what they count. */
const ACTIVITY_DAYS = 90;
const OLD_HISTOGRAMS: Expired = {
  table: 'ActivityHistogram',
  time: 'time',
  key: ['projectId', 'grain', 'key'],
};
/** A row has the time at which it begins, and is of a month at most. */
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
const EXPIRED_STATES: Expired = { table: 'OAuthConnect', time: 'expireTime', key: ['id'] };

class Remover {
  readonly removed: Removed = {};
  readonly #database: Swept & Pick<Database, 'rows'>;
  readonly #lateMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #rest: NonNullable<Removal['rest']>;
  #rests = RESTS.inTime;

  constructor(
    database: Swept & Pick<Database, 'rows'>,
    lateMs: number,
    { signal, rest = restUntil(signal) }: Removal,
  ) {
    this.#database = database;
    this.#lateMs = lateMs;
    this.#signal = signal;
    this.#rest = rest;
  }

  /** Walks the old rows in their order, so that those that stay are passed once. */
  async removeAll(expired: Expired, cutoff: Date): Promise<void> {
    const statement = removeStatement(expired);
    let last: unknown[] = [new Date(0), ...expired.key.map(() => '')];
    for (let isMore = true; isMore && !this.#signal?.aborted; ) {
      const batches = await this.#find<Batch>(statement, cutoff, last);
      for (const { removed } of batches) this.count(expired.table, removed);
      // In a cluster every shard has a batch, and the next ones begin where the first of them ends.
      const [first] = firstOfAll(
        batches.filter(({ seen }) => seen === ROWS_AT_ONCE),
        1,
        ({ time, key }) => [time.getTime(), ...key],
      );
      isMore = first !== undefined;
      last = [first?.time, ...(first?.key ?? [])];
    }
  }

  async removeOperations(cutoff: Date): Promise<void> {
    for (let found = OPERATIONS_AT_ONCE; found >= OPERATIONS_AT_ONCE; ) {
      const rows = await this.#find<OldOperation>(EXPIRED_OPERATIONS, cutoff);
      const keys = keyColumns(rows);
      await this.#removeLogs(keys);
      if (this.#signal?.aborted) return;
      await this.#remove(REMOVE_ENTRIES, keys);
      this.count('Operation', await this.#remove(REMOVE_OPERATIONS, keys));
      found = rows.length;
    }
  }

  async #removeLogs(operations: [string[], string[]]): Promise<void> {
    for (let lines = ROWS_AT_ONCE; lines >= ROWS_AT_ONCE && !this.#signal?.aborted; ) {
      lines = await this.#remove(REMOVE_LOGS, operations);
      this.count('OperationLog', lines);
    }
  }

  /** How many rows it removed. */
  async #remove(text: string, keys: [string[], string[]]): Promise<number> {
    const removed = await this.#rested(() => this.#database.rows.query(text, keys));
    return removed.length;
  }

  /** How old it is says how fast the removal has to be. */
  #find<R extends { time: Date }>(
    statement: ForProjects,
    cutoff: Date,
    after: readonly unknown[] = [],
  ): Promise<R[]> {
    return this.#rested(async () => {
      const found = await sweep<R>(this.#database, statement, [cutoff, ...after]);
      const oldestMs = Math.min(...found.map(({ time }) => time.getTime()));
      this.#rests = cutoff.getTime() - oldestMs > this.#lateMs ? RESTS.late : RESTS.inTime;
      return found;
    });
  }

  async #rested<R>(run: () => Promise<R[]>): Promise<R[]> {
    const startedMs = performance.now();
    const rows = await run();
    if (rows.length > 0) await this.#rest(this.#rests, performance.now() - startedMs);
    return rows;
  }

  count(table: string, rows: number): void {
    this.removed[table] = (this.removed[table] ?? 0) + rows;
  }
}

function restUntil(signal: AbortSignal | undefined): NonNullable<Removal['rest']> {
  return (times, tookMs) =>
    wait(Math.min(times * tookMs, REST_MAX_MS), undefined, { signal }).catch(() => {});
}

interface OldOperation extends RowKey {
  time: Date;
}

const EXPIRED_OPERATIONS = acrossProjects(
  OLD,
  (inProjects) => `select "projectId", "id", "createTime" as "time" from "Operation"
   where ${inProjects('"projectId"')} and "createTime" < $1 and "status" <> 'IN_PROGRESS'
   order by "createTime" limit ${OPERATIONS_AT_ONCE}`,
);

/** By their places in the table: by keys, the planner might read the whole table to find so many. */
const REMOVE_LOGS = `
  delete from "OperationLog" where "projectId" = any($1) and ctid = any(array(
    select line.ctid from unnest($1::text[], $2::text[]) as operation("projectId", "id") cross join lateral (
      select ctid from "OperationLog"
      where "projectId" = operation."projectId" and "operationId" = operation."id" limit ${ROWS_AT_ONCE}
    ) line limit ${ROWS_AT_ONCE}))
  returning 1`;

/** Their writes may have a little longer: nothing of the records outlives what tells whose they are. */
const REMOVE_ENTRIES = `
  delete from "WriteEntry" where "projectId" = any($1) and "operationId" = any($2)`;

const REMOVE_OPERATIONS = `
  delete from "Operation" where "projectId" = any($1) and "id" = any($2) returning 1`;

interface Batch {
  seen: number;
  removed: number;
  /** Of the last row that was seen. */
  time: Date;
  key: string[];
}

function removeStatement({ table, time, key, condition = 'true' }: Expired): ForProjects {
  const keys = key.map((column) => `"${column}"`).join(', ');
  const order = `"${time}", ${keys}`;
  const after = ['$2::timestamptz', ...key.map((_column, index) => `$${index + 3}::text`)];
  return acrossProjects(
    OLD,
    (inProjects) => `
    with batch as materialized (
      select ctid, "projectId" as "ofProject", ${keys}, "${time}" as "time", array[${keys}] as "keys" from "${table}"
      where ${inProjects('"projectId"')} and "${time}" < $1 and (${order}) > (${after.join(', ')})
      order by ${order} limit ${ROWS_AT_ONCE}
    ), gone as (
      delete from "${table}"
      where ${condition} and "projectId" = any(array(select "ofProject" from batch))
        and ctid = any(array(select ctid from batch))
      returning 1
    )
    select (select count(*)::int from batch) as "seen", (select count(*)::int from gone) as "removed",
      "time", "keys" as "key"
    from batch order by "time" desc, ${key.map((column) => `"${column}" desc`).join(', ')} limit 1`,
  );
}
