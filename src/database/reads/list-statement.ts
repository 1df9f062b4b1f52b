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
import { Kept, statements } from '../statements.ts';
import { columnsOf, type Table } from '../tables.ts';
import { type Condition, conditionsOf, expressionOf, rangesOf, type Value } from './conditions.ts';
import type { Link } from './linked-rows.ts';
import { type AnyList, idsOf, type Lists, shapeOf } from './list-shape.ts';

type Columns = Record<string, unknown>;
type AnyTables = Record<string, Columns>;
type Select = SelectQueryBuilder<AnyTables, string, Columns>;

const tables = statements as unknown as Kysely<AnyTables>;

const namesOf: (table: Table) => readonly string[] = columnsOf;

/**
 * The most cached statements. The gateway has a few hundred shapes; only queries with many combinations of links exceed
 * this.
 */
const KEPT_MAX = 2_000;
const KEPT = new LRUCache<string, Kept<Lists>>({ max: KEPT_MAX });

/** The statement for the rows or the count of one list, or of several lists of one shape. Cached by shape. */
export function listStatement(
  purpose: 'rows' | 'count',
  lists: Lists,
): [text: string, values: unknown[]] {
  const shape = shapeOf(purpose, lists);
  let kept = KEPT.get(shape);
  if (!kept) {
    kept = new Kept(
      purpose === 'rows' ? (value) => rows(lists, value) : (value) => count(lists, value),
    );
    KEPT.set(shape, kept);
  }
  return [kept.text, kept.valuesOf(lists)];
}

function rows(lists: Lists, value: Value): Select {
  const [{ table, range, links = [] }] = lists as [AnyList];
  const page = selectPage(lists, value);
  if (lists.length === 1 && links.length === 0) return page;
  const from =
    lists.length === 1
      ? tables.selectFrom(page.as('page'))
      : tables.selectFrom(requested(lists, value)).crossJoinLateral(page.as('page'));
  const own = from.select(namesOf(table).map((column) => `page.${column}`)) as Select;
  const linked = links.reduce(
    (select, link, place) => withLink(select, { link, place }, value),
    own,
  );
  return range ? linked.orderBy(`page.${range.column}`, range.direction) : linked;
}

/** Each link is one lookup of a primary key, whatever the plan. */
function withLink(select: Select, { link, place }: { link: Link; place: number }, value: Value) {
  const name = `link${place}`;
  const conditions = conditionsOf(link.where, (lists) => linksOf(lists)[place]?.where ?? {});
  const row = tables
    .selectFrom(link.table)
    .select([...namesOf(link.table)])
    .whereRef('projectId', '=', 'page.projectId')
    .whereRef('id', '=', `page.${link.column}`)
    .where((eb) => eb.and(conditions.map((condition) => expressionOf(condition, value))))
    .limit(sql.lit(1));
  return select
    .leftJoinLateral(row.as(name), (join) => join.onTrue())
    .select(namesOf(link.table).map((column) => `${name}.${column}`)) as Select;
}

function linksOf([list]: Lists): readonly Link[] {
  return list?.links ?? [];
}

/** Selects the rows of a list in the order of its range. For several lists, selects those of one row of `requested`. */
function selectPage(lists: Lists, value: Value): Select {
  const [{ table, range, along = [] }] = lists as [AnyList];
  const ranges = rangesOf(lists).map((conditions) => {
    const all = tables.selectFrom(table).select([...namesOf(table)]);
    if (!range) {
      return all.where((eb) => eb.and(conditions.map((one) => expressionOf(one, value))));
    }
    const ordered = { conditions, range, along };
    const read = isIndexRange(ordered) ? indexRange(ordered, value) : keyRange(ordered, value);
    const page = all.where((eb) => eb.and(read.conditions)).limit(value(limitOf));
    return read.order.reduce((select, column) => select.orderBy(column, range.direction), page);
  });
  const [first] = ranges as [Select];
  if (ranges.length === 1 || !range) return first;
  const together = sql<Columns>`(${sql.join(ranges, sql` union all `)})`;
  return tables
    .selectFrom(together.as('ranges'))
    .select([...namesOf(table)])
    .orderBy(range.column, range.direction)
    .limit(value(limitOf));
}

function limitOf([list]: Lists): number {
  return list?.range?.limit ?? 0;
}

function count(lists: Lists, value: Value): Select {
  const [{ table }] = lists as [AnyList];
  const [conditions = []] = rangesOf(lists);
  const counted = tables
    .selectFrom(table)
    .select(sql<number>`count(*)::int`.as('count'))
    .where((eb) => eb.and(conditions.map((condition) => expressionOf(condition, value))));
  if (lists.length === 1) return counted as Select;
  return tables
    .selectFrom(requested(lists, value))
    .crossJoinLateral(counted.as('counted'))
    .selectAll() as Select;
}

/** The ids by which the lists differ, one row for each list. */
function requested(lists: Lists, value: Value) {
  const names = idsOf(lists);
  const arrays = names.map(
    (name) => sql`${value((lists) => lists.map(({ where }) => where[name]))}::text[]`,
  );
  const columns = sql.join(names.map((name) => sql.ref(name)));
  return sql<Columns>`unnest(${sql.join(arrays)})`.as<'requested'>(sql`requested(${columns})`);
}

/**
 * A page is one range of an index: equality on its first column, and a row comparison on the others. With equalities
 * alone the planner could scan the primary key in the same order, and read every row.
 */

type Range = RowList['range'];

/** The part of a list that is read in the order of a key. */
interface OrderedRange {
  conditions: readonly Condition[];
  range: Range;
  along: readonly string[];
}

interface Written {
  conditions: RawBuilder<SqlBool>[];
  /** The columns of its order that only the index has. */
  order: readonly string[];
}

/** True if every condition on the index has one value, so that the page is one range of it. */
function isIndexRange({ conditions, range, along }: OrderedRange): boolean {
  const isOne = (name: string) =>
    conditions.some(
      ({ column, comparison }) =>
        column === name && (comparison === 'text' || comparison === 'requested'),
    );
  return along.length > 1 && range.at === undefined && along.every(isOne);
}

function indexRange({ conditions, range, along }: OrderedRange, value: Value): Written {
  const rest = along.slice(1);
  const names = rest.map((name) => sql.ref(name));
  const own = rest.map((name) => {
    const condition = conditions.find(({ column }) => column === name) as Condition;
    return condition.comparison === 'requested'
      ? sql.ref(`requested.${name}`)
      : value(condition.of);
  });
  const bounded = (sign: '>' | '<', bound: 'above' | 'below') =>
    range[bound] === undefined
      ? sql<SqlBool>`${row(names)} ${sql.raw(sign)}= ${row(own)}`
      : sql<SqlBool>`${row([...names, sql.ref(range.column)])} ${sql.raw(sign)} ${row([...own, boundOf(bound, value)])}`;
  const others = conditions.filter(({ column }) => !rest.includes(column));
  return {
    conditions: [
      bounded('>', 'above'),
      bounded('<', 'below'),
      ...others.map((condition) => expressionOf(condition, value)),
    ],
    order: [...rest, range.column],
  };
}

function keyRange({ conditions, range }: OrderedRange, value: Value): Written {
  const key = sql.ref(range.column);
  const signs = { above: sql`>`, below: sql`<`, at: sql`=` };
  const bounds = (['above', 'below', 'at'] as const)
    .filter((bound) => range[bound] !== undefined)
    .map((bound) => sql<SqlBool>`${key} ${signs[bound]} ${boundOf(bound, value)}`);
  return {
    conditions: [...conditions.map((condition) => expressionOf(condition, value)), ...bounds],
    order: [range.column],
  };
}

function row(members: Expression<unknown>[]) {
  return sql`(${sql.join(members)})`;
}

function boundOf(bound: 'above' | 'below' | 'at', value: Value) {
  return value((lists: Lists) => lists[0]?.range?.[bound]);
}
