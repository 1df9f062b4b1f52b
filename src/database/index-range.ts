/**
 * A page as one range of an index: equal in its first column, the others told by comparing rows. Were they
 * all equal, the planner could walk the primary key in the same order, and pass over every row.
 */
import { ASKED, bind, type Conditions, conditionsOf, quote } from './conditions.ts';
import type { RowList } from './rows.ts';

/** Whether each column of the index has one value, so that the page is one range of it. */
export function isIndexRange(where: Conditions, { along = [], range }: RowList): boolean {
  const isOne = (value: unknown) => typeof value === 'string' || value === ASKED;
  return along.length > 1 && range.at === undefined && along.every((name) => isOne(where[name]));
}

/** The conditions of the range, and the order that the index alone has. */
export function indexRange(
  where: Conditions,
  { along = [], range }: RowList,
  values: unknown[],
): { conditions: string[]; order: string } {
  const rest = along.slice(1);
  const key = quote(range.column);
  const names = rest.map(quote);
  const own = rest.map((name) =>
    where[name] === ASKED ? `asked.${quote(name)}` : bind(values, where[name]),
  );
  const bounded = (sign: '>' | '<', by: string | bigint | undefined) =>
    by === undefined
      ? `(${names.join(', ')}) ${sign}= (${own.join(', ')})`
      : `(${[...names, key].join(', ')}) ${sign} (${[...own, bind(values, by)].join(', ')})`;
  const others = Object.entries(where).filter(([name]) => !rest.includes(name));
  const conditions = [bounded('>', range.above), bounded('<', range.below)];
  return {
    conditions: [...conditions, ...conditionsOf(Object.fromEntries(others), values)],
    order: [...names, key].map((name) => `${name} ${range.direction}`).join(', '),
  };
}
