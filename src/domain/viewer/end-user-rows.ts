/** Which rows are an end user's, as conditions on their columns. Tables that are left out do not exist for end users. */
import type { OneOf } from '../../database/rows.ts';
import type { Table } from '../../database/tables.ts';
import type { EndUserViewer } from './end-user.ts';

export type Conditions = Record<string, unknown>;

/** Null for a table that does not exist for end users. */
function ownConditions(viewer: EndUserViewer, table: Table): Conditions | null {
  const { projectId, groupId, consumerId, integrationIds } = viewer;
  const given: OneOf | undefined = integrationIds === null ? undefined : { oneOf: integrationIds };
  switch (table) {
    case 'Project':
      return { id: projectId };
    case 'Group':
      return { projectId, id: groupId };
    case 'Consumer':
      return { projectId, id: consumerId };
    case 'Connection':
      return { projectId, groupId };
    case 'Integration':
      return { projectId, id: given };
    case 'Revision':
      return { projectId, integrationId: given };
    case 'Installation':
    case 'Operation':
      return { projectId, groupId, integrationId: given };
    default:
      return null;
  }
}

/** The rows of these conditions that are the end user's; null if there can be none. */
export function narrowed(
  viewer: EndUserViewer,
  table: Table,
  where: Conditions,
): Conditions | null {
  const own = ownConditions(viewer, table);
  if (!own) return null;
  const both: Conditions = { ...where };
  for (const [column, condition] of Object.entries(own)) {
    const met = bothOf(where[column], condition);
    if (met === null) return null;
    both[column] = met;
  }
  return both;
}

/** Whether a row that was found otherwise is the end user's. */
export function isOwnRow(viewer: EndUserViewer, table: Table, row: Conditions): boolean {
  const own = ownConditions(viewer, table);
  return (
    own !== null &&
    Object.entries(own).every(([column, condition]) => bothOf(row[column], condition) !== null)
  );
}

/** Null if nothing meets both: what a list says of a column, and what an end user may see. */
function bothOf(said: unknown, own: unknown): unknown {
  if (own === undefined) return said;
  if (said === undefined) return own;
  const owns = (value: unknown) =>
    typeof own === 'string' ? value === own : (own as OneOf).oneOf.includes(value as string);
  const values = valuesOf(said);
  if (values === null) throw new Error('An end user sees equal columns only.');
  const met = values.filter(owns);
  if (met.length === 0) return null;
  return typeof own === 'string' ? own : typeof said === 'string' ? said : { oneOf: met };
}

function valuesOf(said: unknown): unknown[] | null {
  if (typeof said === 'string') return [said];
  if (Array.isArray(said)) return said;
  return said && typeof said === 'object' && 'oneOf' in said ? (said as OneOf).oneOf.slice() : null;
}
