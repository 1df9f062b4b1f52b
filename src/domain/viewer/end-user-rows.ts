/** Conditions for the rows that an end user may see, by column. */
import type { OneOf } from '../../database/rows.ts';
import type { Table } from '../../database/tables.ts';
import type { EndUserViewer } from './end-user.ts';

export type Conditions = Record<string, unknown>;

/** The tables that an agent may query directly. An agent's tools read other tables as the end user. */
const AGENT_TABLES: readonly Table[] = ['Project', 'Group', 'Consumer', 'Proposal', 'AgentSession'];

/** Returns the conditions for a table. Null if the end user sees none of its rows. */
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
      const conditions = { projectId, groupId, integrationId: permittedIntegrations };
      return agent ? { ...conditions, agentSessionId: agent.sessionId } : conditions;
    }
    case 'AgentSession':
      return agent ? { projectId, id: agent.sessionId } : { projectId, groupId };
    default:
      return null;
  }
}

/** Adds the end user's conditions to `where`. Returns null if no row can match both. */
export function narrowToEndUser(
  viewer: EndUserViewer,
  table: Table,
  where: Conditions,
): Conditions | null {
  const conditions = createEndUserConditions(viewer, table);
  if (!conditions) return null;
  const combinedConditions: Conditions = { ...where };
  for (const [column, condition] of Object.entries(conditions)) {
    const intersection = intersectConditions(where[column], condition);
    if (intersection === null) return null;
    combinedConditions[column] = intersection;
  }
  return combinedConditions;
}

/** True if the end user may see this row. */
export function isEndUserRow(
  viewer: EndUserViewer,
  table: Table,
  row: Record<string, unknown>,
): boolean {
  const conditions = createEndUserConditions(viewer, table);
  return (
    conditions !== null &&
    Object.entries(conditions).every(
      ([column, condition]) => intersectConditions(row[column], condition) !== null,
    )
  );
}

/** Intersects two conditions on a column. Returns null if no value meets both. */
function intersectConditions(requested: unknown, permitted: unknown): unknown {
  if (permitted === undefined) return requested;
  if (requested === undefined) return permitted;
  const isPermitted = (value: unknown) =>
    typeof permitted === 'string'
      ? value === permitted
      : (permitted as OneOf).oneOf.includes(value as string);
  const values = listValues(requested);
  if (values === null)
    throw new Error('Bug: a condition on rows of an end user is not an equality.');
  const permittedValues = values.filter(isPermitted);
  if (permittedValues.length === 0) return null;
  if (typeof permitted === 'string') return permitted;
  return typeof requested === 'string' ? requested : { oneOf: permittedValues };
}

/** Lists the values that meet a condition. Null if it is not an equality. */
function listValues(condition: unknown): readonly unknown[] | null {
  if (typeof condition === 'string') return [condition];
  if (Array.isArray(condition)) return condition;
  return condition && typeof condition === 'object' && 'oneOf' in condition
    ? (condition as OneOf).oneOf
    : null;
}
