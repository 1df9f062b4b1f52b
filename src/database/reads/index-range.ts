/**
 * A page as one range of an index: equal in its first column, and a row comparison for the others. If all were
 * equalities, the planner could walk the primary key in the same order, and read every row.
 */
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { RowList } from '../rows.ts';
import { type Condition, expressionOf, type Value } from './conditions.ts';
import type { Lists } from './list-shape.ts';

type Range = RowList['range'];

/** The part of a list that is read in the order of its key. */
export interface OrderedRange {
  conditions: readonly Condition[];
  range: Range;
  along: readonly string[];
}

interface Written {
  conditions: RawBuilder<SqlBool>[];
  /** The columns of its order: those that the index alone has. */
  order: readonly string[];
}

/** Whether each column of the index has one value, so that the page is one range of it. */
export function isIndexRange({ conditions, range, along }: OrderedRange): boolean {
  const isOne = (name: string) =>
    conditions.some(
      ({ column, comparison }) =>
        column === name && (comparison === 'text' || comparison === 'requested'),
    );
  return along.length > 1 && range.at === undefined && along.every(isOne);
}

export function indexRange({ conditions, range, along }: OrderedRange, value: Value): Written {
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

export function keyRange({ conditions, range }: OrderedRange, value: Value): Written {
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
