/**
 * Hot reads as prepared statements: pages, nodes, relations, counts. Only equality conditions and one key range, always
 * over an index. Columns that end in "Sealed" are never selected.
 */

import type { RunQuery } from '../../connect/run-query.ts';
import type { Row, Table } from '../tables.ts';
import { toPageRows } from './linked-rows.ts';
import type { AnyList } from './list-shape.ts';
import { getListStatement } from './list-statement.ts';
import { createListKey, readTogether } from './many-lists.ts';
import type { Conditions, KeyRange, RowList, Where } from './row-list.ts';

export interface ReadLayer {
  page<T extends Table>(table: T, where: Where<T>, range: KeyRange<T>): Promise<Row<T>[]>;
  /** Returns a page for each list. Lists that differ only by ids share a statement. */
  pages(lists: readonly RowList[]): Promise<object[][]>;
  /** Returns rows in no defined order. Missing rows are omitted. */
  find<T extends Table>(table: T, where: Where<T>): Promise<Row<T>[]>;
  /** Returns the project of a call. Concurrent callers share the row and must not change it. */
  findProject(where: Where<'Project'>): Promise<Readonly<Row<'Project'>> | null>;
  count<T extends Table>(table: T, where: Where<T>): Promise<number>;
  /** Counts lists, which share statements as in `pages`. */
  counts(lists: readonly Omit<RowList, 'range'>[]): Promise<number[]>;
}

/**
 * Creates the reads. `short` reads pages and rows by key, `shared` the project of a call, and `query` everything else.
 */
export function createReadLayer(
  query: RunQuery,
  { short, shared }: { short: RunQuery; shared: RunQuery },
): ReadLayer {
  const readOnePage = <T>(list: RowList): Promise<T[]> =>
    list.links?.length
      ? (readLinkedPage(short, [list]) as Promise<T[]>)
      : short(...getListStatement('rows', [list]));
  const readOneCount = async (list: AnyList) => {
    const [row] = await query<CountRow>(...getListStatement('count', [list]));
    return row?.count ?? 0;
  };
  return {
    page: (table, where, range) => readOnePage({ table, where, range }),
    count: (table, where) => readOneCount({ table, where }),
    pages: (lists) =>
      readTogether<RowList, object[]>(lists, {
        readOne: readOnePage,
        readMany: (similarLists) => readPagesTogether(short, similarLists),
      }),
    counts: (lists) =>
      readTogether<AnyList, number>(lists, {
        readOne: ({ table, where }) => readOneCount({ table, where }),
        readMany: (similarLists) => readCountsTogether(query, similarLists),
      }),
    find: (table, where) => short(...getListStatement('rows', [{ table, where }])),
    async findProject(where) {
      const statement = getListStatement('rows', [{ table: 'Project', where }]);
      const [project] = await shared<Row<'Project'>>(...statement);
      return project ? Object.freeze(project) : null;
    },
  };
}

interface CountRow extends Conditions {
  count: number;
}

async function readPagesTogether(query: RunQuery, lists: RowList[]): Promise<object[][]> {
  const toListKey = createListKey(lists);
  const rows = await readLinkedPage(query, lists);
  const pages = Map.groupBy(rows as Conditions[], toListKey);
  return lists.map((list) => pages.get(toListKey(list.where)) ?? []);
}

async function readLinkedPage(query: RunQuery, lists: RowList[]): Promise<object[]> {
  const [{ table, links = [] }] = lists as [RowList];
  const arrays = await query<unknown[]>(...getListStatement('rows', lists), 'array');
  return toPageRows(table, links, arrays);
}

async function readCountsTogether(query: RunQuery, lists: AnyList[]): Promise<number[]> {
  const toListKey = createListKey(lists);
  const rows = await query<CountRow>(
    ...getListStatement(
      'count',
      lists.map(({ table, where }) => ({ table, where })),
    ),
  );
  const counts = new Map(rows.map((row) => [toListKey(row), row.count]));
  return lists.map((list) => counts.get(toListKey(list.where)) ?? 0);
}
