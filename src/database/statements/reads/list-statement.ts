/**
 * The statements of lists: equality conditions and one key range, always over an index. Callers check the columns of a
 * list by type; here a list may be of any table. Values are bound, never inserted into the text.
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
import { type BindInput, buildStatement, type Statement, statements } from '../statements.ts';
import { listColumns, type Table } from '../tables.ts';
import {
  type AnyList,
  type Comparison,
  formatShape,
  isId,
  listDistinct,
  listIdColumns,
  listMergedColumns,
  type SimilarLists,
  toComparison,
} from './list-shape.ts';
import type { Conditions, Link, RowList } from './row-list.ts';

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
const STATEMENTS = new LRUCache<string, Statement<SimilarLists>>({ max: STATEMENTS_MAX });

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
): Statement<SimilarLists> {
  const select = purpose === 'rows' ? selectRows : selectCount;
  const statement = buildStatement<SimilarLists>((bind) => select(lists, bind));
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

/** Joins the rows of a link. With any query plan, each row is one lookup of a primary key. */
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

interface ListCondition {
  column: string;
  comparison: Comparison;
  /** Returns the value to compare the column with. */
  getValue: (lists: SimilarLists) => unknown;
}

type BindValue = BindInput<SimilarLists>;

/** Returns the conditions of each index range from which a list is merged. */
function listRanges([list, ...moreLists]: SimilarLists): ListCondition[][] {
  const { where } = list as AnyList;
  const conditions = toConditions(where, (lists) => (lists[0] as AnyList).where);
  if (moreLists.length > 0) {
    for (const condition of conditions) {
      if (isId(condition.column, where[condition.column])) condition.comparison = 'requested';
    }
  }
  let ranges = [conditions];
  for (const column of listMergedColumns(list as AnyList)) {
    ranges = listDistinct(where[column]).flatMap((value, index) =>
      ranges.map((range) => selectValue(range, { column, value, index })),
    );
  }
  return ranges;
}

/** Returns the range with one of the values that the column may have. */
function selectValue(
  range: readonly ListCondition[],
  { column, value, index }: { column: string; value: unknown; index: number },
): ListCondition[] {
  return range.map((condition) =>
    condition.column === column
      ? {
          column,
          comparison: toComparison(value),
          getValue: (lists) => listDistinct(condition.getValue(lists))[index],
        }
      : condition,
  );
}

function toConditions(
  where: Conditions,
  getWhere: (lists: SimilarLists) => Conditions,
): ListCondition[] {
  return Object.keys(where)
    .filter((column) => where[column] !== undefined)
    .map((column) => ({
      column,
      comparison: toComparison(where[column]),
      getValue: (lists) => getWhere(lists)[column],
    }));
}

function createExpression(
  { column, comparison, getValue }: ListCondition,
  bind: BindValue,
): RawBuilder<SqlBool> {
  // A column plus a zero interval matches no index, so the planner uses the range of ids, which is equivalent and
  // narrower.
  const isTime = comparison.startsWith('time');
  const name = isTime ? sql`(${sql.ref(column)} + interval '0')` : sql.ref(column);
  const bindMember = (key: string) => bind((lists) => (getValue(lists) as Conditions)[key]);
  switch (comparison) {
    case 'null':
      return sql`${name} is null`;
    case 'requested':
      return sql`${name} = ${sql.ref(`requested.${column}`)}`;
    case 'any':
      return sql`${name} = any(${bind(getValue)})`;
    case 'inOrgs':
      return sql`${name} in (select "id" from "Project" where "orgId" = any(${bindMember('projectsOfOrgs')}))`;
    case 'noneOf':
      return sql`(${name} is null or ${name} <> all(${bindMember('noneOf')}))`;
    case 'oneOf':
      return sql`${name} = any(${bindMember('oneOf')})`;
    case 'after':
      return sql`${name} > ${bindMember('after')}`;
    case 'timeFrom':
    case 'from':
      return sql`${name} >= ${bindMember('from')}`;
    case 'timeUntil':
    case 'until':
      return sql`${name} < ${bindMember('until')}`;
    case 'timeSpan':
    case 'span':
      return sql`${name} >= ${bindMember('from')} and ${name} < ${bindMember('until')}`;
    case 'firstFrom':
      return createFirstFromExpression(name, bindMember('firstFrom'));
    case 'upTo':
      return sql`${name} <= ${bindMember('upTo')}`;
    case 'text':
    case 'equal':
      return sql`${name} = ${bind(getValue)}`;
  }
}

/** Matches only the row's first search word with the prefix, so that each row is returned once. */
function createFirstFromExpression(
  name: RawBuilder<unknown>,
  from: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  return sql`not exists (
    select from "SearchWord" earlier
    where earlier."projectId" = "SearchWord"."projectId" and earlier.${name} = "SearchWord".${name}
      and earlier."sortKey" >= ${from} and earlier."sortKey" < "SearchWord"."sortKey")`;
}
