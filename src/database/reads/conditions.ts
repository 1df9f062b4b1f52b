/** The conditions of a list. Values are bound, never inserted into the text. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ValueOf } from '../statements.ts';
import {
  type AnyList,
  type Comparison,
  type Conditions,
  comparisonOf,
  distinct,
  isId,
  type Lists,
  mergedColumns,
} from './list-shape.ts';

export interface Condition {
  column: string;
  comparison: Comparison;
  /** Returns the value to compare the column with. */
  of: (lists: Lists) => unknown;
}

export type Value = ValueOf<Lists>;

/** The conditions of each index range that a list is merged from. */
export function rangesOf([list, ...others]: Lists): Condition[][] {
  const { where } = list as AnyList;
  const conditions = conditionsOf(where, (lists) => (lists[0] as AnyList).where).map((condition) =>
    others.length > 0 && isId(condition.column, where[condition.column])
      ? { ...condition, comparison: 'requested' as const }
      : condition,
  );
  return mergedColumns(list as AnyList).reduce(
    (ranges, column) =>
      distinct(where[column]).flatMap((one, place) =>
        ranges.map((range) => withOneValue(range, { column, one, place })),
      ),
    [conditions],
  );
}

/** The range in which the column has the value at that position. */
function withOneValue(
  range: readonly Condition[],
  { column, one, place }: { column: string; one: unknown; place: number },
): Condition[] {
  return range.map((condition) =>
    condition.column === column
      ? {
          column,
          comparison: comparisonOf(one),
          of: (lists) => distinct(condition.of(lists))[place],
        }
      : condition,
  );
}

export function conditionsOf(
  where: Conditions,
  whereOf: (lists: Lists) => Conditions,
): Condition[] {
  return Object.keys(where)
    .filter((column) => where[column] !== undefined)
    .map((column) => ({
      column,
      comparison: comparisonOf(where[column]),
      of: (lists) => whereOf(lists)[column],
    }));
}

export function expressionOf(
  { column, comparison, of }: Condition,
  value: Value,
): RawBuilder<SqlBool> {
  // The range of ids that matches a range of times is narrower than an index range of times alone.
  const isTime = comparison.startsWith('time');
  const name = isTime ? sql`(${sql.ref(column)} + interval '0')` : sql.ref(column);
  const member = (key: string) => value((lists) => (of(lists) as Conditions)[key]);
  switch (comparison) {
    case 'null':
      return sql`${name} is null`;
    case 'requested':
      return sql`${name} = ${sql.ref(`requested.${column}`)}`;
    case 'any':
      return sql`${name} = any(${value(of)})`;
    case 'inOrgs':
      return sql`${name} in (select "id" from "Project" where "orgId" = any(${member('projectsOfOrgs')}))`;
    case 'noneOf':
      return sql`(${name} is null or ${name} <> all(${member('noneOf')}))`;
    case 'oneOf':
      return sql`${name} = any(${member('oneOf')})`;
    case 'after':
      return sql`${name} > ${member('after')}`;
    case 'timeFrom':
    case 'from':
      return sql`${name} >= ${member('from')}`;
    case 'timeUntil':
    case 'until':
      return sql`${name} < ${member('until')}`;
    case 'timeSpan':
    case 'span':
      return sql`${name} >= ${member('from')} and ${name} < ${member('until')}`;
    case 'firstFrom':
      return firstFrom(name, member('firstFrom'));
    case 'upTo':
      return sql`${name} <= ${member('upTo')}`;
    default:
      return sql`${name} = ${value(of)}`;
  }
}

/** Selects the first of a row's search words with that prefix, so that each row is found once. */
function firstFrom(name: RawBuilder<unknown>, from: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql`not exists (
    select from "SearchWord" earlier
    where earlier."projectId" = "SearchWord"."projectId" and earlier.${name} = "SearchWord".${name}
      and earlier."place" >= ${from} and earlier."place" < "SearchWord"."place")`;
}
