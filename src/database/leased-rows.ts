/**
 * Rows that workers take turns with, each held by a lease: a worker claims what is due, keeps it while it works, notes
 * what has come of it, and gives it back. All that it notes names its claim, so a late result of an older one is
 * refused with LeaseLost.
 */
import type { Log } from '../log.ts';
import {
  isFreeSql,
  keepLease,
  type LeaseColumns,
  leaseEndSql,
  newLeaseToken,
  requireLease,
} from '../work/lease.ts';
import { allProjects } from './all-projects.ts';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import type { Column, Row, Table } from './tables.ts';

const DUE = Prisma.raw(allProjects('rows that are due'));

export interface LeaseOptions<T extends Table, K extends Column<T>, L extends Column<T>> {
  table: T;
  /** The columns that name a row. */
  key: readonly K[];
  leaseMs: number;
  columns: LeaseColumns & { token: L };
  /** A condition on the row, `held`, without which nobody claims it, and its lease is not renewed. */
  isWanted?: Prisma.Sql;
  /** The name of the log line that tells of a renewal that failed. */
  notRenewed: string;
}

/** What Prisma has for a table, or a transaction has. */
interface Changes<W, D> {
  updateMany: (change: { where: W; data: D }) => Promise<{ count: number }>;
}

export class LeasedRows<T extends Table, K extends Column<T>, L extends Column<T>> {
  /** SQL: nobody holds the row. */
  readonly isFree: Prisma.Sql;
  readonly #of: LeaseOptions<T, K, L>;
  readonly #table: Prisma.Sql;
  readonly #end: Prisma.Sql;
  readonly #isWanted: Prisma.Sql;

  constructor(options: LeaseOptions<T, K, L>) {
    this.#of = options;
    this.#table = Prisma.raw(`"${options.table}"`);
    this.#end = Prisma.raw(leaseEndSql(options.leaseMs));
    this.#isWanted = options.isWanted ?? Prisma.raw('true');
    this.isFree = Prisma.raw(isFreeSql(options.columns));
  }

  /** Those whose `dueTime` has come, the longest due first. */
  async claimDue<C extends Column<T>>(
    database: Pick<Database, 'prisma' | 'processes'>,
    { countMax, now, columns }: { countMax: number; now: Date; columns: readonly C[] },
  ): Promise<Pick<Row<T>, C>[]> {
    const chosen = Prisma.sql`chosen as (
      select ${listOf('held', this.#of.key)} from ${this.#table} held
      where held."dueTime" <= ${now} and ${this.isFree} and ${this.#isWanted}
      order by held."dueTime" limit ${countMax}::int for update of held skip locked
    )`;
    return this.claim(database, chosen, columns);
  }

  /** Those whose keys are in `chosen`, one of the tables that the statement begins with. */
  async claim<C extends Column<T>>(
    { prisma, processes }: Pick<Database, 'prisma' | 'processes'>,
    chosen: Prisma.Sql,
    columns: readonly C[],
  ): Promise<Pick<Row<T>, C>[]> {
    const { key, columns: lease } = this.#of;
    const isChosen = key.map((column) => `held."${column}" = chosen."${column}"`).join(' and ');
    return prisma.$queryRaw<Pick<Row<T>, C>[]>`${DUE}
      with recursive ${chosen}
      update ${this.#table} held
      set ${nameOf(lease.token)} = ${newLeaseToken(processes.id)}, ${nameOf(lease.expireTime)} = ${this.#end}
      from chosen where ${Prisma.raw(isChosen)}
      returning ${listOf('held', columns)}`;
  }

  /** Keeps a claim until it is disposed of. `onLost` is called if it is held no longer. */
  hold(
    { database, log }: { database: Pick<Database, 'prisma'>; log: Log },
    claim: Pick<Row<T>, K | L>,
    onLost: () => void = () => {},
  ): Disposable {
    const { leaseMs, columns, key, notRenewed } = this.#of;
    const isHeld = Prisma.join(
      [...key, columns.token].map(
        (column) => Prisma.sql`held.${nameOf(column)} = ${claim[column]}`,
      ),
      ' and ',
    );
    const renew = async () => {
      const renewed = await database.prisma.$executeRaw`
        update ${this.#table} held set ${nameOf(columns.expireTime)} = ${this.#end}
        where ${isHeld} and ${this.#isWanted}`;
      if (renewed === 0) onLost();
    };
    const named: object = picked(claim, key);
    return keepLease(leaseMs, renew, (error) => log.warn({ err: error, ...named }, notRenewed));
  }

  /** The conditions under which a change is one of the claim. */
  heldBy(claim: Pick<Row<T>, K | L>): Pick<Row<T>, K | L> {
    return picked(claim, [...this.#of.key, this.#of.columns.token]);
  }

  /** Throws LeaseLost. */
  async change<D>(
    rows: Changes<Pick<Row<T>, K | L>, D>,
    claim: Pick<Row<T>, K | L>,
    data: D,
  ): Promise<void> {
    const { count } = await rows.updateMany({ where: this.heldBy(claim), data });
    requireLease(count);
  }
}

function nameOf(column: string): Prisma.Sql {
  return Prisma.raw(`"${column}"`);
}

function listOf(table: string, columns: readonly string[]): Prisma.Sql {
  return Prisma.raw(columns.map((column) => `${table}."${column}"`).join(', '));
}

function picked<R extends object, C extends keyof R>(row: R, columns: readonly C[]): Pick<R, C> {
  return Object.fromEntries(columns.map((column) => [column, row[column]])) as Pick<R, C>;
}
