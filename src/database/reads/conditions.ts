/** The conditions of a list. Values are bound, never inserted into the text. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { BindInput } from '../statements.ts';
import {
  type AnyList,
  type Comparison,
  type Conditions,
  isId,
  listDistinct,
  listMergedColumns,
  type SimilarLists,
  toComparison,
} from './list-shape.ts';

export interface ListCondition {
  column: string;
  comparison: Comparison;
  /** Returns the value to compare the column with. */
  getValue: (lists: SimilarLists) => unknown;
}

export type BindValue = BindInput<SimilarLists>;

/** Returns the conditions of each index range from which a list is merged. */
export function listRanges([list, ...moreLists]: SimilarLists): ListCondition[][] {
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

export function toConditions(
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

export function createExpression(
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
      and earlier."place" >= ${from} and earlier."place" < "SearchWord"."place")`;
}
