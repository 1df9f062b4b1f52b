/** Conditions as SQL. Values are bound, never joined in. */
import type { InOrgs, TimeRange } from './rows.ts';

export type Conditions = Record<string, unknown>;

/** The column's own value of each row of `asked`, to which the statement joins the table. */
export const ASKED = Symbol('asked');

/** One `where` for each range of an index that a page is merged from. */
export function rangesOf(where: Conditions): Conditions[] {
  const several = Object.entries(where).filter(([, value]) => Array.isArray(value));
  if (several.length !== 1) return [where];
  const [[name, list]] = several as [[string, unknown[]]];
  const distinct = [...new Set(list)];
  if (distinct.length === 0 || distinct.length > MOST_RANGES) return [where];
  return distinct.map((value) => ({ ...where, [name]: value }));
}

/** Where a column may have several values, an index gives each of them in order, but not all together. */
const MOST_RANGES = 16;

export function conditionsOf(where: Conditions, values: unknown[]): string[] {
  return Object.entries(where)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const column = quote(name);
      if (value === null) return `${column} is null`;
      if (value === ASKED) return `${column} = asked.${column}`;
      if (Array.isArray(value)) return `${column} = any(${bind(values, value)})`;
      if (isInOrgs(value)) {
        return `${column} in (select "id" from "Project" where "orgId" = any(${bind(values, value.projectsOfOrgs)}))`;
      }
      if (isTimeRange(value)) {
        return 'after' in value
          ? `${column} > ${bind(values, value.after)}`
          : `${column} <= ${bind(values, value.upTo)}`;
      }
      return `${column} = ${bind(values, value)}`;
    });
}

function isTimeRange(value: unknown): value is TimeRange {
  return typeof value === 'object' && value !== null && ('after' in value || 'upTo' in value);
}

function isInOrgs(value: unknown): value is InOrgs {
  return typeof value === 'object' && value !== null && 'projectsOfOrgs' in value;
}

export function whereClause(conditions: string[]): string {
  return conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
}

export function bind(values: unknown[], value: unknown): string {
  values.push(value);
  return `$${values.length}`;
}

export function quote(name: string): string {
  return `"${name}"`;
}
