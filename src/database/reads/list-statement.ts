/**
 * The statements of lists: equality and one key range, always over an index. The columns of a list are typed
 * where the list is made; here it may be of any table.
 */
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { Kept, statements } from '../statements.ts';
import { columnsOf, type Table } from '../tables.ts';
import { conditionsOf, expressionOf, rangesOf, type Value } from './conditions.ts';
import { indexRange, isIndexRange, keyRange } from './index-range.ts';
import type { Link } from './linked-rows.ts';
import { type AnyList, idsOf, type Lists, shapeOf } from './list-shape.ts';

type Columns = Record<string, unknown>;
type AnyTables = Record<string, Columns>;
type Select = SelectQueryBuilder<AnyTables, string, Columns>;

const tables = statements as unknown as Kysely<AnyTables>;

const namesOf: (table: Table) => readonly string[] = columnsOf;

/** The gateway has a few hundred shapes; queries with many combinations of links only make others be written again. */
const KEPT_MAX = 2_000;
const KEPT = new LRUCache<string, Kept<Lists>>({ max: KEPT_MAX });

/** The rows of a list, or of several of one kind, or how many they are: written once for each shape. */
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

/** Each link is one look at a primary key, whatever the plan. */
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

/** The rows of a list, in the order of its range; of many, those of one row of `requested`. */
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

/** The ids by which the lists differ, a row of each. */
function requested(lists: Lists, value: Value) {
  const names = idsOf(lists);
  const arrays = names.map(
    (name) => sql`${value((lists) => lists.map(({ where }) => where[name]))}::text[]`,
  );
  const columns = sql.join(names.map((name) => sql.ref(name)));
  return sql<Columns>`unnest(${sql.join(arrays)})`.as<'requested'>(sql`requested(${columns})`);
}
