/**
 * Rows of work. A worker holds a lease on each row that it processes: it claims the row, renews the lease while it
 * works, stores the result and releases the row. Each update requires the claim, so a late result of an older claim is
 * rejected with LeaseLost.
 */

import type { RawBuilder } from 'kysely';
import type { Log } from '../../kernel/log.ts';
import type { Processes } from '../connect/processes.ts';
import type { PrismaClient } from '../generated/client.ts';
import { isAtPositionSql } from '../statements/keyed-rows.ts';
import {
  allProjectsMark,
  type InProjects,
  type SweepDatabase,
} from '../statements/projects/all-projects.ts';
import { rotateParts } from '../statements/projects/shard-groups.ts';
import { run, sql, sqlStatement, statements } from '../statements/statements.ts';
import type { Column, Row, Table } from '../statements/tables.ts';
import {
  detachFromProcess,
  isFreeSql,
  keepLease,
  type LeaseColumns,
  LeaseLost,
  leaseEndSql,
  newLeaseToken,
  requireLease,
} from './lease.ts';

const ALL_PROJECTS_MARK = sql.raw(allProjectsMark('rows that are due'));

/** Finds due rows in all projects, or in those of the database's shard group. */
type ClaimDatabase = SweepDatabase & LeaseHolder;

/** Names the process that holds the leases of its claims. */
interface LeaseHolder {
  processes: Pick<Processes, 'id'>;
}

/** `K` are the columns of the table's key, and `L` is the column of the lease's token. */
interface LeaseOptions<T extends Table, K extends Column<T>, L extends Column<T>> {
  table: T;
  /** The columns of the key. */
  key: readonly K[];
  leaseMs: number;
  columns: LeaseColumns & { token: L };
  /** The column of the time from which a row may be claimed. Null means never. Default: `dueTime`. */
  dueColumn?: Column<T>;
  /** SQL: a further condition on rows to claim when they are due, which name themselves `held`. */
  isDueSql?: string;
  /** A condition on the row, named `held`. Only rows that meet it are claimed, or have their lease renewed. */
  isClaimableSql?: RawBuilder<unknown>;
  /** Changes of each claim of due rows, in addition to the lease. */
  onClaim?: ClaimChange;
}

/** Changes of a claim of due rows, and values that it returns. */
interface ClaimChange {
  /** SQL: assignments of columns. */
  createSql: (now: Date) => RawBuilder<unknown>;
  /** SQL: values of the row before the claim, each by the name under which the claim returns it. */
  previousValues: Readonly<Record<string, string>>;
}

/** How many rows of each share may be claimed. Rows with the same value of the column have one share. */
export interface ShareCapacity {
  column: string;
  freeByShare: ReadonlyMap<string, number>;
  /** The capacity of all other shares. */
  freeDefault: number;
}

interface DueRows<C extends string> {
  countMax: number;
  now: Date;
  columns: readonly C[];
  shares?: ShareCapacity | undefined;
}

type Client = Pick<PrismaClient, '$queryRawUnsafe'>;

/** The number of due rows whose projects a claim considers, in addition to the rows that it may take. */
const DUE_PROJECT_ROWS_MAX = 200;

/** A table in Prisma or in a transaction. */
interface UpdatableTable<W, D> {
  updateMany: (change: { where: W; data: D }) => Promise<{ count: number }>;
}

/** `T` is the table, `K` are the columns of its key, and `L` is the column of the lease's token. */
export class LeasedRows<T extends Table, K extends Column<T>, L extends Column<T>> {
  /** SQL without parameters: true if no worker holds the row. */
  readonly isFreeSql: string;
  /** SQL without parameters: the end of a lease that begins or is renewed now. */
  readonly leaseEndSql: string;
  readonly #options: LeaseOptions<T, K, L>;
  readonly #table: RawBuilder<unknown>;
  readonly #isClaimableSql: RawBuilder<unknown>;
  /** Each claim begins with another part of the database's shard group. */
  #claimCount = 0;

  constructor(options: LeaseOptions<T, K, L>) {
    this.#options = options;
    this.#table = sql.raw(`"${options.table}"`);
    this.leaseEndSql = leaseEndSql(options.leaseMs);
    this.#isClaimableSql = options.isClaimableSql ?? sql.raw('true');
    this.isFreeSql = isFreeSql(options.columns);
  }

  /**
   * Claims rows that are due by `now` or by the database's clock, longest overdue first. Rows that another transaction
   * has locked `for key share`, as foreign-key checks do, can still be claimed.
   */
  async claimDue<C extends Column<T>>(
    database: ClaimDatabase,
    { shares, ...due }: DueRows<C>,
  ): Promise<Pick<Row<T>, C>[]> {
    return this.claim(await this.#limitToDueProjects(database, due), due, (part, remaining) =>
      shares
        ? this.#chooseByShareSql(part, { ...due, countMax: remaining, shares })
        : sql`chosen as (
        select held.ctid as "place", held."projectId" ${this.#previousSql} from ${this.#table} held
        where ${this.#isDueSql(part, due.now)}
        order by ${this.#dueColumn} limit ${remaining}::int for no key update of held skip locked
      )`,
    );
  }

  /**
   * SQL: the CTE `chosen`, with at most the free capacity of each share. Rows of other shares may be hidden behind many
   * rows of one share, until the next claim omits that share because it has no capacity left.
   */
  #chooseByShareSql(
    part: ClaimDatabase,
    { countMax, now, shares: { column, freeByShare, freeDefault } }: Required<DueRows<string>>,
  ): RawBuilder<unknown> {
    const fullShares = [...freeByShare].flatMap(([share, free]) => (free > 0 ? [] : [share]));
    const share = sql`held.${quoteName(column)}`;
    return sql`candidates as materialized (
        select ranked.*, row_number() over (partition by ranked."share" order by ranked."time") as "number" from (
          select held.ctid as "place", held."projectId", ${share} as "share", ${this.#dueColumn} as "time"
          from ${this.#table} held
          where ${this.#isDueSql(part, now)} and ${share} <> all(${fullShares}::text[])
          order by ${this.#dueColumn} limit ${countMax}::int) ranked
      ), within_capacity as materialized (
        select "place", "projectId" from candidates where "number" <= coalesce((
          select state."free" from unnest(${[...freeByShare.keys()]}::text[], ${[...freeByShare.values()]}::int[])
            as state("share", "free") where state."share" = candidates."share"), ${freeDefault}::int)
      ), chosen as (
        select held.ctid as "place", held."projectId" ${this.#previousSql} from ${this.#table} held, within_capacity
        where ${sql.raw(isAtPositionSql('held', 'within_capacity'))} and ${this.#isDueSql(part, now)}
        for no key update of held skip locked
      )`;
  }

  /** SQL: true if the row may be claimed, by its time, its lease and the conditions of the table. */
  #isDueSql(database: ClaimDatabase, now: Date): RawBuilder<unknown> {
    return sql`${inProjectsSql(database, 'held')} and ${this.#dueColumn} <= greatest(now(), ${now})
      and ${sql.raw(this.isFreeSql)} and ${this.#isClaimableSql} and ${sql.raw(this.#options.isDueSql ?? 'true')}`;
  }

  get #dueColumn(): RawBuilder<unknown> {
    return sql`held.${quoteName(this.#options.dueColumn ?? 'dueTime')}`;
  }

  get #previousSql(): RawBuilder<unknown> {
    const values = Object.entries(this.#options.onClaim?.previousValues ?? {});
    return sql.raw(values.map(([name, value]) => `, ${value} as "${name}"`).join(''));
  }

  /** Limits a shard group to its projects with due rows, so that a claim sends no statement for each of its shards. */
  async #limitToDueProjects(
    database: ClaimDatabase,
    { countMax, now }: Pick<DueRows<string>, 'countMax' | 'now'>,
  ): Promise<ClaimDatabase> {
    if (database.shardGroup.projectIds() === null) return database;
    const rows = await runSweep(
      database,
      sql<{ projectId: string }>`${ALL_PROJECTS_MARK} select distinct "projectId" from (
        select held."projectId" from ${this.#table} held where ${this.#isDueSql(database, now)}
        order by ${this.#dueColumn} limit ${DUE_PROJECT_ROWS_MAX + countMax}::int) due`,
    );
    const projectIds = rows.map(({ projectId }) => projectId);
    return { ...database, shardGroup: { ...database.shardGroup, projectIds: () => projectIds } };
  }

  /** SQL: the earliest time at which a row is due, including rows that are held. Null if there is none. */
  createDueTimeSql(inProjects: InProjects): string {
    const column = `held."${this.#options.dueColumn ?? 'dueTime'}"`;
    return `select ${column} from "${this.#options.table}" held
      where ${inProjects('held."projectId"')} and ${column} is not null and ${this.#options.isDueSql ?? 'true'}
      order by ${column} limit 1`;
  }

  /** SQL: the times since which rows are due that no worker holds, at most `countMax` of them. */
  createOverdueSql(inProjects: InProjects, countMax: number): string {
    const column = `held."${this.#options.dueColumn ?? 'dueTime'}"`;
    return `select ${column} as "time" from "${this.#options.table}" held
      where ${inProjects('held."projectId"')} and ${column} <= now() and ${this.isFreeSql}
        and ${this.#options.isDueSql ?? 'true'} limit ${countMax}`;
  }

  /**
   * Claims up to `countMax` rows, one part of the database's shard group after the other. `chosenCteSql` returns the CTE
   * `chosen`, which selects `place` (the ctid) and `projectId` of at most `remaining` rows, which it has locked.
   */
  async claim<C extends Column<T>>(
    database: ClaimDatabase,
    { countMax, now, columns }: DueRows<C>,
    chosenCteSql: (part: ClaimDatabase, remaining: number) => RawBuilder<unknown>,
  ): Promise<Pick<Row<T>, C>[]> {
    const rows: Pick<Row<T>, C>[] = [];
    this.#claimCount += 1;
    for (const shardGroup of rotateParts(database.shardGroup, this.#claimCount)) {
      const remaining = countMax - rows.length;
      if (remaining <= 0) break;
      const part = { ...database, shardGroup };
      rows.push(
        ...(await this.#claimChosen(part, chosenCteSql(part, remaining), { now, columns })),
      );
    }
    return rows;
  }

  /** Uses `with recursive`, because some CTEs are recursive. */
  #claimChosen<C extends Column<T>>(
    database: ClaimDatabase,
    chosenCte: RawBuilder<unknown>,
    { now, columns }: Pick<DueRows<C>, 'now' | 'columns'>,
  ): Promise<Pick<Row<T>, C>[]> {
    const { onClaim } = this.#options;
    const change = onClaim ? sql`, ${onClaim.createSql(now)}` : sql``;
    const previousNames = Object.keys(onClaim?.previousValues ?? {});
    const previous = sql.raw(previousNames.map((name) => `, chosen."${name}"`).join(''));
    return runSweep(
      database,
      sql<Pick<Row<T>, C>>`${ALL_PROJECTS_MARK} with recursive ${chosenCte}
      update ${this.#table} held set ${this.#leaseSql(database.processes.id)} ${change}
      from chosen where ${sql.raw(isAtPositionSql('held', 'chosen'))} and ${inProjectsSql(database, 'held')}
      returning ${heldColumnsSql(columns)} ${previous}`,
    );
  }

  /**
   * Claims the row with this key. Returns null if the row does not exist, is not free, or does not meet the condition,
   * which names it `held`.
   */
  async claimOne<C extends Column<T>>(
    { prisma, processes }: LeaseHolder & { prisma: PrismaClient },
    row: Pick<Row<T>, K>,
    {
      columns,
      condition = sql.raw('true'),
    }: { columns: readonly C[]; condition?: RawBuilder<unknown> },
  ): Promise<Pick<Row<T>, C> | null> {
    const claim = sql<Pick<Row<T>, C>>`
      update ${this.#table} held set ${this.#leaseSql(processes.id)}
      where ${matchRow(row, this.#options.key)} and ${condition} and ${sql.raw(this.isFreeSql)} and ${this.#isClaimableSql}
      returning ${heldColumnsSql(columns)}`;
    const [claimedRow] = await run(prisma, claim);
    return claimedRow ?? null;
  }

  /** SQL: assigns the columns of a new lease. */
  #leaseSql(processId: string): RawBuilder<unknown> {
    const { token, expireTime } = this.#options.columns;
    return sql`${quoteName(token)} = ${newLeaseToken(processId)}, ${quoteName(expireTime)} = ${sql.raw(this.leaseEndSql)}`;
  }

  /** Renews the lease of a claim until it is disposed of. Calls `onLost` if the row is no longer held. */
  keepRenewing(
    { database, log }: { database: { prisma: Client }; log: Log },
    claim: Pick<Row<T>, K | L>,
    onLost: () => void = () => {},
  ): Disposable {
    const { table, key } = this.#options;
    const keyFields: object = { table, ...pick(claim, key) };
    // A closed database throws instead of rejecting, and a run that hangs may hold its row until then.
    const renew = async () => this.renew(database.prisma, claim);
    return keepLease(this.#options.leaseMs, renew, (error) => {
      if (error instanceof LeaseLost) onLost();
      else log.warn({ err: error, ...keyFields }, 'lease.not_renewed');
    });
  }

  /** Extends the lease. Throws LeaseLost if the claim no longer holds the row. */
  renew(client: Client, claim: Pick<Row<T>, K | L>): Promise<void> {
    return this.#extend(client, claim, getToken(claim, this.#options.columns.token));
  }

  /**
   * Extends the lease, and lets it last until its end even if this process ends before. Changes the token of the claim.
   * Throws LeaseLost if the claim no longer holds the row.
   */
  async detach(client: Client, claim: Pick<Row<T>, K | L>): Promise<void> {
    const { token: column } = this.#options.columns;
    const token = detachFromProcess(getToken(claim, column));
    await this.#extend(client, claim, token);
    Object.assign(claim, { [column]: token });
  }

  async #extend(client: Client, claim: Pick<Row<T>, K | L>, token: string): Promise<void> {
    const { key, columns } = this.#options;
    const isHeldSql = matchRow(claim, [...key, columns.token]);
    const extension = sql`
      update ${this.#table} held
      set ${quoteName(columns.token)} = ${token}, ${quoteName(columns.expireTime)} = ${sql.raw(this.leaseEndSql)}
      where ${isHeldSql} and ${this.#isClaimableSql}
      returning 1`;
    requireLease((await run(client, extension)).length);
  }

  /** Releases the row until `dueTime`. Does nothing if the claim no longer holds it. */
  async release(client: Client, claim: Pick<Row<T>, K | L>, dueTime: Date): Promise<void> {
    const { key, columns, dueColumn = 'dueTime' } = this.#options;
    const release = sql`
      update ${this.#table} held set ${quoteName(columns.token)} = null, ${quoteName(columns.expireTime)} = null,
        ${quoteName(dueColumn)} = ${dueTime}
      where ${matchRow(claim, [...key, columns.token])}`;
    await run(client, release);
  }

  /** Returns the `where` that matches the row only while the claim holds it. */
  getClaimFilter(claim: Pick<Row<T>, K | L>): Pick<Row<T>, K | L> {
    return pick(claim, [...this.#options.key, this.#options.columns.token]);
  }

  /** Updates the row. Throws LeaseLost if the claim no longer holds it. */
  async updateClaimed<D>(
    rows: UpdatableTable<Pick<Row<T>, K | L>, D>,
    claim: Pick<Row<T>, K | L>,
    data: D,
  ): Promise<void> {
    const { count } = await rows.updateMany({ where: this.getClaimFilter(claim), data });
    requireLease(count);
  }
}

/**
 * Runs a sweep that is marked with `allProjectsMark` and restricts itself to the database's shard group by `inProjectsSql`.
 */
export function runSweep<R>(
  { sweeps, shardGroup }: SweepDatabase,
  query: RawBuilder<R>,
): Promise<R[]> {
  const { sql: text, parameters } = query.compile(statements);
  return sweeps(shardGroup)(sqlStatement<R>(text), parameters);
}

/** SQL: true if the rows of a table belong to projects of the database's shard group. */
export function inProjectsSql({ shardGroup }: SweepDatabase, table: string): RawBuilder<unknown> {
  const projectIds = shardGroup.projectIds();
  if (projectIds === null) return sql.raw('true');
  return sql`${sql.raw(`"${table}"."projectId"`)} = any(${projectIds}::text[])`;
}

function matchRow<R extends object, C extends keyof R & string>(
  row: R,
  columns: readonly C[],
): RawBuilder<unknown> {
  const comparisons = columns.map((column) => sql`held.${quoteName(column)} = ${row[column]}`);
  return sql.join(comparisons, sql` and `);
}

function getToken<L extends string>(claim: Record<L, unknown>, column: L): string {
  return String(claim[column]);
}

function quoteName(column: string): RawBuilder<unknown> {
  return sql.raw(`"${column}"`);
}

function heldColumnsSql(columns: readonly string[]): RawBuilder<unknown> {
  return sql.raw(columns.map((column) => `held."${column}"`).join(', '));
}

function pick<R extends object, C extends keyof R>(row: R, columns: readonly C[]): Pick<R, C> {
  return Object.fromEntries(columns.map((column) => [column, row[column]])) as Pick<R, C>;
}
