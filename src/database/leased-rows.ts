/**
 * Rows of work. A worker holds a lease on each row that it processes: it claims the row, renews the lease while it
 * works, stores the result and releases the row. Each update requires the claim, so a late result of an older claim is
 * rejected with LeaseLost.
 */
import type { Log } from '../log.ts';
import {
  isFreeSql,
  keepLease,
  type LeaseColumns,
  LeaseLost,
  leaseEndSql,
  newLeaseToken,
  requireLease,
} from '../work/lease.ts';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import { allProjectsMark, type SweepDatabase } from './projects/all-projects.ts';
import { rotateParts } from './projects/shard-groups.ts';
import type { Column, Row, Table } from './tables.ts';

const ALL_PROJECTS_MARK = Prisma.raw(allProjectsMark('rows that are due'));

/** Finds due rows in all projects, or in those of the database's shard group. */
type ClaimDatabase = SweepDatabase & Pick<Database, 'processes'>;

/** `K` are the columns of the table's key, and `L` is the column of the lease's token. */
interface LeaseOptions<T extends Table, K extends Column<T>, L extends Column<T>> {
  table: T;
  /** The columns of the key. */
  key: readonly K[];
  leaseMs: number;
  columns: LeaseColumns & { token: L };
  /** A condition on the row, named `held`. Only rows that meet it are claimed, or have their lease renewed. */
  isClaimableSql?: Prisma.Sql;
}

interface RenewalOptions {
  /** The log event of a failed renewal. */
  notRenewed: string;
  /** Called when the row is no longer held. */
  onLost?: () => void;
}

type Client = Pick<Database['prisma'], '$executeRaw'>;

/** A table in Prisma or in a transaction. */
interface UpdatableTable<W, D> {
  updateMany: (change: { where: W; data: D }) => Promise<{ count: number }>;
}

/** `T` is the table, `K` are the columns of its key, and `L` is the column of the lease's token. */
export class LeasedRows<T extends Table, K extends Column<T>, L extends Column<T>> {
  /** SQL without parameters: true if no worker holds the row. */
  readonly isFreeSql: Prisma.Sql;
  /** SQL without parameters: the end of a lease that begins or is renewed now. */
  readonly leaseEndSql: Prisma.Sql;
  readonly #options: LeaseOptions<T, K, L>;
  readonly #table: Prisma.Sql;
  readonly #isClaimableSql: Prisma.Sql;
  /** Each claim begins with another part of the database's shard group. */
  #claimCount = 0;

  constructor(options: LeaseOptions<T, K, L>) {
    this.#options = options;
    this.#table = Prisma.raw(`"${options.table}"`);
    this.leaseEndSql = Prisma.raw(leaseEndSql(options.leaseMs));
    this.#isClaimableSql = options.isClaimableSql ?? Prisma.raw('true');
    this.isFreeSql = Prisma.raw(isFreeSql(options.columns));
  }

  /**
   * Claims rows whose `dueTime` has passed, longest overdue first. Rows that another transaction has locked `for key
   * share`, as foreign-key checks do, can still be claimed.
   */
  async claimDue<C extends Column<T>>(
    database: ClaimDatabase,
    { countMax, now, columns }: { countMax: number; now: Date; columns: readonly C[] },
  ): Promise<Pick<Row<T>, C>[]> {
    return this.claim(
      database,
      { countMax, columns },
      (groupDatabase, remaining) => Prisma.sql`chosen as (
        select ${heldColumnsSql(this.#options.key)} from ${this.#table} held
        where ${inProjectsSql(groupDatabase, 'held')} and held."dueTime" <= ${now} and ${this.isFreeSql} and ${this.#isClaimableSql}
        order by held."dueTime" limit ${remaining}::int for no key update of held skip locked
      )`,
    );
  }

  /**
   * Claims up to `countMax` rows, one part of the database's shard group after the other. `chosenCteSql` returns the CTE
   * `chosen`, which selects the keys of at most `remaining` rows.
   */
  async claim<C extends Column<T>>(
    database: ClaimDatabase,
    { countMax, columns }: { countMax: number; columns: readonly C[] },
    chosenCteSql: (groupDatabase: ClaimDatabase, remaining: number) => Prisma.Sql,
  ): Promise<Pick<Row<T>, C>[]> {
    const rows: Pick<Row<T>, C>[] = [];
    this.#claimCount += 1;
    for (const shardGroup of rotateParts(database.shardGroup, this.#claimCount)) {
      const remaining = countMax - rows.length;
      if (remaining <= 0) break;
      const groupDatabase = { ...database, shardGroup };
      rows.push(
        ...(await this.#claimChosen(
          groupDatabase,
          chosenCteSql(groupDatabase, remaining),
          columns,
        )),
      );
    }
    return rows;
  }

  /** Uses `with recursive`, because some CTEs are recursive. */
  #claimChosen<C extends Column<T>>(
    database: ClaimDatabase,
    chosenCte: Prisma.Sql,
    columns: readonly C[],
  ): Promise<Pick<Row<T>, C>[]> {
    const isChosenSql = this.#options.key.map((column) => `held."${column}" = chosen."${column}"`);
    return runSweep(
      database,
      Prisma.sql`${ALL_PROJECTS_MARK} with recursive ${chosenCte}
      update ${this.#table} held set ${this.#leaseSql(database.processes.id)}
      from chosen where ${Prisma.raw(isChosenSql.join(' and '))}
      returning ${heldColumnsSql(columns)}`,
    );
  }

  /**
   * Claims the row with this key. Returns null if the row does not exist, is not free, or does not meet the condition,
   * which names it `held`.
   */
  async claimOne<C extends Column<T>>(
    { prisma, processes }: Pick<Database, 'prisma' | 'processes'>,
    row: Pick<Row<T>, K>,
    { columns, condition = Prisma.raw('true') }: { columns: readonly C[]; condition?: Prisma.Sql },
  ): Promise<Pick<Row<T>, C> | null> {
    const [claimedRow] = await prisma.$queryRaw<Pick<Row<T>, C>[]>`
      update ${this.#table} held set ${this.#leaseSql(processes.id)}
      where ${matchRow(row, this.#options.key)} and ${condition} and ${this.isFreeSql} and ${this.#isClaimableSql}
      returning ${heldColumnsSql(columns)}`;
    return claimedRow ?? null;
  }

  /** SQL: assigns the columns of a new lease. */
  #leaseSql(processId: string): Prisma.Sql {
    const { token, expireTime } = this.#options.columns;
    return Prisma.sql`${quoteName(token)} = ${newLeaseToken(processId)}, ${quoteName(expireTime)} = ${this.leaseEndSql}`;
  }

  /** Renews the lease of a claim until it is disposed of. */
  keepRenewing(
    { database, log }: { database: { prisma: Client }; log: Log },
    claim: Pick<Row<T>, K | L>,
    { notRenewed, onLost }: RenewalOptions,
  ): Disposable {
    const keyFields: object = pick(claim, this.#options.key);
    const renew = () => this.renew(database.prisma, claim);
    return keepLease(this.#options.leaseMs, renew, (error) => {
      if (error instanceof LeaseLost) onLost?.();
      else log.warn({ err: error, ...keyFields }, notRenewed);
    });
  }

  /** Extends the lease. Throws LeaseLost if the claim no longer holds the row. */
  async renew(client: Client, claim: Pick<Row<T>, K | L>): Promise<void> {
    const { key, columns } = this.#options;
    const isHeldSql = matchRow(claim, [...key, columns.token]);
    const renewed = await client.$executeRaw`
      update ${this.#table} held set ${quoteName(columns.expireTime)} = ${this.leaseEndSql}
      where ${isHeldSql} and ${this.#isClaimableSql}`;
    requireLease(renewed);
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
export function runSweep<R>({ sweeps, shardGroup }: SweepDatabase, { text, values }: Prisma.Sql) {
  return sweeps(shardGroup)<R>(text, values);
}

/** SQL: true if the rows of a table belong to projects of the database's shard group. */
export function inProjectsSql({ shardGroup }: SweepDatabase, table: string): Prisma.Sql {
  const projectIds = shardGroup.projectIds();
  if (projectIds === null) return Prisma.raw('true');
  return Prisma.sql`${Prisma.raw(`"${table}"."projectId"`)} = any(${projectIds}::text[])`;
}

function matchRow<R extends object, C extends keyof R & string>(
  row: R,
  columns: readonly C[],
): Prisma.Sql {
  const comparisons = columns.map(
    (column) => Prisma.sql`held.${quoteName(column)} = ${row[column]}`,
  );
  return Prisma.join(comparisons, ' and ');
}

function quoteName(column: string): Prisma.Sql {
  return Prisma.raw(`"${column}"`);
}

function heldColumnsSql(columns: readonly string[]): Prisma.Sql {
  return Prisma.raw(columns.map((column) => `held."${column}"`).join(', '));
}

function pick<R extends object, C extends keyof R>(row: R, columns: readonly C[]): Pick<R, C> {
  return Object.fromEntries(columns.map((column) => [column, row[column]])) as Pick<R, C>;
}
