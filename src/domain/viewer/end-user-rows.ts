/** Conditions for the rows that an end user may see, by column. */
import type { OneOf } from '../../database/rows.ts';
import type { Table } from '../../database/tables.ts';
import type { EndUserViewer } from './end-user.ts';

export type Conditions = Record<string, unknown>;

/** The tables of which an agent sees rows. Its tools read records as the end user, within its rights. */
const AGENT_TABLES: readonly Table[] = ['Project', 'Group', 'Consumer', 'Proposal', 'AgentSession'];

/** Null for a table without rows for end users. */
function createEndUserConditions(viewer: EndUserViewer, table: Table): Conditions | null {
  const { projectId, groupId, consumerId, integrationIds, agent } = viewer;
  const permittedIntegrations: OneOf | undefined =
    integrationIds === null ? undefined : { oneOf: integrationIds };
  if (agent && !AGENT_TABLES.includes(table)) return null;
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
      return { projectId, id: permittedIntegrations };
    case 'Revision':
      return { projectId, integrationId: permittedIntegrations };
    case 'Installation':
    case 'Operation':
      return { projectId, groupId, integrationId: permittedIntegrations };
    case 'Proposal': {
      const own = { projectId, groupId, integrationId: permittedIntegrations };
      return agent ? { ...own, agentSessionId: agent.sessionId } : own;
    }
    case 'AgentSession':
      return agent ? { projectId, id: agent.sessionId } : { projectId, groupId };
    default:
      return null;
  }
}

/** Adds the end user's conditions to these conditions. Null if no row can match both. */
export function narrowToEndUser(
  viewer: EndUserViewer,
  table: Table,
  where: Conditions,
): Conditions | null {
  const conditions = createEndUserConditions(viewer, table);
  if (!conditions) return null;
  const combined: Conditions = { ...where };
  for (const [column, condition] of Object.entries(conditions)) {
    const intersection = intersectConditions(where[column], condition);
    if (intersection === null) return null;
    combined[column] = intersection;
  }
  return combined;
}

/** True if the end user may see a row that another statement has read. */
export function isEndUserRow(viewer: EndUserViewer, table: Table, row: Conditions): boolean {
  const conditions = createEndUserConditions(viewer, table);
  return (
    conditions !== null &&
    Object.entries(conditions).every(
      ([column, condition]) => intersectConditions(row[column], condition) !== null,
    )
  );
}

/** Intersects a list's condition on a column with the end user's condition. Null if no value meets both. */
function intersectConditions(requested: unknown, permitted: unknown): unknown {
  if (permitted === undefined) return requested;
  if (requested === undefined) return permitted;
  const isPermitted = (value: unknown) =>
    typeof permitted === 'string'
      ? value === permitted
      : (permitted as OneOf).oneOf.includes(value as string);
  const values = listValues(requested);
  if (values === null)
    throw new Error('Bug: the rows of an end user are restricted by equality only.');
  const permittedValues = values.filter(isPermitted);
  if (permittedValues.length === 0) return null;
  if (typeof permitted === 'string') return permitted;
  return typeof requested === 'string' ? requested : { oneOf: permittedValues };
}

function listValues(requested: unknown): unknown[] | null {
  if (typeof requested === 'string') return [requested];
  if (Array.isArray(requested)) return requested;
  return requested && typeof requested === 'object' && 'oneOf' in requested
    ? (requested as OneOf).oneOf.slice()
    : null;
}
