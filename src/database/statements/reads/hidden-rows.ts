/** Hides the rows of groups and consumers that are being erased, until they are deleted. */

import { sql } from '../statements.ts';
import { listColumns, type Table } from '../tables.ts';
import type { ReadLayer } from './read-layer.ts';
import type { Conditions, Link, OneOf, RowList } from './row-list.ts';

/** Columns that name a group or a consumer. Each may be null. */
const PARTY_COLUMNS = ['groupId', 'consumerId'];
const ERASED_TABLES: readonly Table[] = ['Group', 'Consumer'];

/** Returns a read layer without hidden rows. Other statements still return them. */
export function hideRows(reads: ReadLayer, hiddenIds: () => readonly string[]): ReadLayer {
  const hide = <W>(table: Table, where: W): W => {
    const ids = hiddenIds();
    return ids.length === 0 ? where : (excludeIds(table, where as Conditions, ids) as W);
  };
  const hideIn = <L extends Omit<RowList, 'range'>>(list: L): L => ({
    ...list,
    where: hide(list.table, list.where),
    ...(list.links && { links: list.links.map((link) => hideLink(link, hide)) }),
  });
  return {
    ...reads,
    page: (table, where, range) => reads.page(table, hide(table, where), range),
    find: (table, where) => reads.find(table, hide(table, where)),
    count: (table, where) => reads.count(table, hide(table, where)),
    pages: (lists) => reads.pages(lists.map(hideIn)),
    counts: (lists) => reads.counts(lists.map(hideIn)),
  };
}

function hideLink(link: Link, hide: <W>(table: Table, where: W) => W): Link {
  return { ...link, where: hide(link.table, link.where) };
}

function excludeIds(table: Table, where: Conditions, ids: readonly string[]): Conditions {
  const tableColumns: readonly string[] = listColumns(table);
  const columns = ERASED_TABLES.includes(table)
    ? ['id']
    : PARTY_COLUMNS.filter((column) => tableColumns.includes(column));
  const entries = columns.map((column) => [column, excludeFromCondition(where[column], ids)]);
  return { ...where, ...Object.fromEntries(entries) };
}

/** Removes hidden ids from a condition on a column. A condition without ids matches nothing. */
function excludeFromCondition(condition: unknown, ids: readonly string[]): unknown {
  if (condition === undefined) return { noneOf: ids };
  if (typeof condition === 'string') return ids.includes(condition) ? [] : condition;
  if (isOneOf(condition)) return { oneOf: condition.oneOf.filter((id) => !ids.includes(id)) };
  return Array.isArray(condition) ? condition.filter((id) => !ids.includes(id)) : condition;
}

function isOneOf(condition: unknown): condition is OneOf {
  return typeof condition === 'object' && condition !== null && 'oneOf' in condition;
}

/**
 * For statements outside the read layer: true unless the group or the consumer in the column is being erased. Compares
 * the projects of both rows, because a cluster refuses some statements that compare each of them with a parameter.
 */
export function isNotErased(table: string, column: 'id' | 'groupId' | 'consumerId') {
  return sql<boolean>`not exists (select 1 from "Erasure"
    where "Erasure"."projectId" = ${sql.ref(`${table}.projectId`)}
      and "Erasure"."id" = ${sql.ref(`${table}.${column}`)})`;
}
