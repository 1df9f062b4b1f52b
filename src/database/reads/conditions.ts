/** The conditions of a list. Their values are bound, never put into the text. */
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
  mergedColumn,
} from './list-shape.ts';

export interface Condition {
  column: string;
  comparison: Comparison;
  /** What the column is compared with. */
  of: (lists: Lists) => unknown;
}

export type Value = ValueOf<Lists>;

/** The conditions of each range of an index that a list is merged from. */
export function rangesOf([list, ...others]: Lists): Condition[][] {
  const { where } = list as AnyList;
  const conditions = conditionsOf(where, (lists) => (lists[0] as AnyList).where).map((condition) =>
    others.length > 0 && isId(condition.column, where[condition.column])
      ? { ...condition, comparison: 'requested' as const }
      : condition,
  );
  const merged = mergedColumn(list as AnyList);
  if (merged === undefined) return [conditions];
  return distinct(where[merged]).map((one, place) =>
    conditions.map((condition) =>
      condition.column === merged
        ? {
            column: merged,
            comparison: comparisonOf(one),
            of: (lists) => distinct(condition.of(lists))[place],
          }
        : condition,
    ),
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
  const name = sql.ref(column);
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
    case 'upTo':
      return sql`${name} <= ${member('upTo')}`;
    default:
      return sql`${name} = ${value(of)}`;
  }
}
