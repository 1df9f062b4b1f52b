/**
 * The statements of lists: equality conditions and one key range, always over an index. Callers check the columns of a
 * list by type; here a list may be of any table.
 */
import {
  type Expression,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import type { RowList } from '../rows.ts';
import { CompiledStatement, statements } from '../statements.ts';
import { listColumns, type Table } from '../tables.ts';
import {
  type BindValue,
  createExpression,
  type ListCondition,
  listRanges,
  toConditions,
} from './conditions.ts';
import type { Link } from './linked-rows.ts';
import { type AnyList, formatShape, listIdColumns, type SimilarLists } from './list-shape.ts';

type AnyColumns = Record<string, unknown>;
type AnyTables = Record<string, AnyColumns>;
type Select = SelectQueryBuilder<AnyTables, string, AnyColumns>;

const tables = statements as unknown as Kysely<AnyTables>;

const listColumnNames: (table: Table) => readonly string[] = listColumns;

/**
 * The maximum number of cached statements. The gateway has a few hundred shapes. Only queries with many combinations of
 * links exceed it.
 */
const STATEMENTS_MAX = 2_000;
const STATEMENTS = new LRUCache<string, CompiledStatement<SimilarLists>>({ max: STATEMENTS_MAX });

/** Returns the statement for the rows or the count of one list, or of several lists of one shape. Cached by shape. */
export function getListStatement(
  purpose: 'rows' | 'count',
  lists: SimilarLists,
): [text: string, values: unknown[]] {
  const shape = formatShape(purpose, lists);
  const statement = STATEMENTS.get(shape) ?? compileStatement(purpose, lists, shape);
  return [statement.text, statement.readValues(lists)];
}

function compileStatement(
  purpose: 'rows' | 'count',
  lists: SimilarLists,
  shape: string,
): CompiledStatement<SimilarLists> {
  const select = purpose === 'rows' ? selectRows : selectCount;
  const statement = new CompiledStatement<SimilarLists>((bind) => select(lists, bind));
  STATEMENTS.set(shape, statement);
  return statement;
}

function selectRows(lists: SimilarLists, bind: BindValue): Select {
  const [{ table, range, links = [] }] = lists as [AnyList];
  const page = selectPage(lists, bind);
  if (lists.length === 1 && links.length === 0) return page;
  const from =
    lists.length === 1
      ? tables.selectFrom(page.as('page'))
      : tables.selectFrom(selectRequestedRows(lists, bind)).crossJoinLateral(page.as('page'));
  let query = from.select(listColumnNames(table).map((column) => `page.${column}`)) as Select;
  for (const [index, link] of links.entries()) {
    query = joinLink(query, { link, index }, bind);
  }
  return range ? query.orderBy(`page.${range.column}`, range.direction) : query;
}

/** Joins the rows of a link. With any plan, each row is one lookup of a primary key. */
function joinLink(select: Select, { link, index }: { link: Link; index: number }, bind: BindValue) {
  const name = `link${index}`;
  const conditions = toConditions(link.where, ([list]) => list?.links?.[index]?.where ?? {});
  const row = tables
    .selectFrom(link.table)
    .select([...listColumnNames(link.table)])
    .whereRef('projectId', '=', 'page.projectId')
    .whereRef('id', '=', `page.${link.column}`)
    .where((eb) => eb.and(conditions.map((condition) => createExpression(condition, bind))))
    .limit(sql.lit(1));
  return select
    .leftJoinLateral(row.as(name), (join) => join.onTrue())
    .select(listColumnNames(link.table).map((column) => `${name}.${column}`)) as Select;
}

/** Selects the rows of a list in the order of its range. Of several lists, selects the list of a row of `requested`. */
function selectPage(lists: SimilarLists, bind: BindValue): Select {
  const [{ table, range, indexPrefix = [] }] = lists as [AnyList];
  const ranges = listRanges(lists).map((conditions) => {
    const fromTable = tables.selectFrom(table).select([...listColumnNames(table)]);
    if (!range) {
      return fromTable.where((eb) =>
        eb.and(conditions.map((condition) => createExpression(condition, bind))),
      );
    }
    const ordered = { conditions, range, indexPrefix };
    const rangeSql = isIndexRange(ordered)
      ? createIndexRange(ordered, bind)
      : createKeyRange(ordered, bind);
    let page = fromTable.where((eb) => eb.and(rangeSql.conditions)).limit(bind(getLimit));
    for (const column of rangeSql.order) page = page.orderBy(column, range.direction);
    return page;
  });
  const [firstRange] = ranges as [Select];
  if (ranges.length === 1 || !range) return firstRange;
  const union = sql<AnyColumns>`(${sql.join(ranges, sql` union all `)})`;
  return tables
    .selectFrom(union.as('ranges'))
    .select([...listColumnNames(table)])
    .orderBy(range.column, range.direction)
    .limit(bind(getLimit));
}

function getLimit([list]: SimilarLists): number {
  return list?.range?.limit ?? 0;
}

function selectCount(lists: SimilarLists, bind: BindValue): Select {
  const [{ table }] = lists as [AnyList];
  const [conditions = []] = listRanges(lists);
  const count = tables
    .selectFrom(table)
    .select(sql<number>`count(*)::int`.as('count'))
    .where((eb) => eb.and(conditions.map((condition) => createExpression(condition, bind))));
  if (lists.length === 1) return count as Select;
  return tables
    .selectFrom(selectRequestedRows(lists, bind))
    .crossJoinLateral(count.as('counted'))
    .selectAll() as Select;
}

/** Selects the ids by which the lists differ: one row for each list. */
function selectRequestedRows(lists: SimilarLists, bind: BindValue) {
  const names = listIdColumns(lists);
  const arrays = names.map(
    (name) => sql`${bind((lists) => lists.map(({ where }) => where[name]))}::text[]`,
  );
  const columns = sql.join(names.map((name) => sql.ref(name)));
  return sql<AnyColumns>`unnest(${sql.join(arrays)})`.as<'requested'>(sql`requested(${columns})`);
}

type ListRange = RowList['range'];

/** A range of a list that is read in the order of a key. */
interface OrderedRange {
  conditions: readonly ListCondition[];
  range: ListRange;
  indexPrefix: readonly string[];
}

interface RangeSql {
  conditions: RawBuilder<SqlBool>[];
  /** The columns to order by, which only one index has in this order. */
  order: readonly string[];
}

/** True if each column of the index prefix has one value, so that the page is one range of the index. */
function isIndexRange({ conditions, range, indexPrefix }: OrderedRange): boolean {
  const hasOneValue = (name: string) =>
    conditions.some(
      ({ column, comparison }) =>
        column === name && (comparison === 'text' || comparison === 'requested'),
    );
  return indexPrefix.length > 1 && range.at === undefined && indexPrefix.every(hasOneValue);
}

/**
 * Selects one range of an index: equality on its first column, and a row comparison on the others. With equalities
 * alone the planner could scan the primary key in the same order, and read every row.
 */
function createIndexRange(
  { conditions, range, indexPrefix }: OrderedRange,
  bind: BindValue,
): RangeSql {
  const prefix = indexPrefix.slice(1);
  const names = prefix.map((name) => sql.ref(name));
  const prefixValues = prefix.map((name) => {
    const condition = conditions.find(({ column }) => column === name) as ListCondition;
    return condition.comparison === 'requested'
      ? sql.ref(`requested.${name}`)
      : bind(condition.getValue);
  });
  const createBound = (sign: '>' | '<', bound: 'above' | 'below') =>
    range[bound] === undefined
      ? sql<SqlBool>`${createRowExpression(names)} ${sql.raw(sign)}= ${createRowExpression(prefixValues)}`
      : sql<SqlBool>`${createRowExpression([...names, sql.ref(range.column)])} ${sql.raw(sign)} ${createRowExpression([...prefixValues, bindBound(bound, bind)])}`;
  const otherConditions = conditions.filter(({ column }) => !prefix.includes(column));
  return {
    conditions: [
      createBound('>', 'above'),
      createBound('<', 'below'),
      ...otherConditions.map((condition) => createExpression(condition, bind)),
    ],
    order: [...prefix, range.column],
  };
}

function createKeyRange({ conditions, range }: OrderedRange, bind: BindValue): RangeSql {
  const key = sql.ref(range.column);
  const signs = { above: sql`>`, below: sql`<`, at: sql`=` };
  const bounds = (['above', 'below', 'at'] as const)
    .filter((bound) => range[bound] !== undefined)
    .map((bound) => sql<SqlBool>`${key} ${signs[bound]} ${bindBound(bound, bind)}`);
  return {
    conditions: [...conditions.map((condition) => createExpression(condition, bind)), ...bounds],
    order: [range.column],
  };
}

function createRowExpression(members: Expression<unknown>[]) {
  return sql`(${sql.join(members)})`;
}

function bindBound(bound: 'above' | 'below' | 'at', bind: BindValue) {
  return bind((lists: SimilarLists) => lists[0]?.range?.[bound]);
}
