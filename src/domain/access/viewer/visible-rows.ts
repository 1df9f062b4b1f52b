/**
 * The statements and conditions with which scope.ts selects rows whose visibility depends on other tables or on the end
 * user.
 */

import { isNotErased } from '../../../database/statements/reads/hidden-rows.ts';
import type { OneOf } from '../../../database/statements/reads/row-list.ts';
import { anyOfBound, buildStatement, statements } from '../../../database/statements/statements.ts';
import type { Row, Table } from '../../../database/statements/tables.ts';
import type { EndUserViewer } from './end-user.ts';

/** Selects the end user's own consumer, and consumers who have connected an account for the end user's group. */
export const CONSUMERS_OF_GROUP = buildStatement<
  EndUserViewer & { ids: string[] },
  Row<'Consumer'>
>((bind) =>
  statements
    .selectFrom('Consumer')
    .selectAll()
    .where('Consumer.projectId', '=', bind('projectId'))
    .where('Consumer.id', '=', anyOfBound(bind('ids')))
    .where(isNotErased('Consumer', 'id'))
    .where((eb) => {
      const connection = eb
        .selectFrom('Connection')
        .select('Connection.id')
        .whereRef('Connection.projectId', '=', 'Consumer.projectId')
        .whereRef('Connection.consumerId', '=', 'Consumer.id')
        .where('Connection.groupId', '=', bind('groupId'));
      return eb.or([eb('Consumer.id', '=', bind('consumerId')), eb.exists(connection)]);
    }),
);

/** Selects members of the viewer's orgs, and the viewer if it is a builder. */
export const VISIBLE_BUILDERS = buildStatement<
  { ids: string[]; orgIds: string[]; viewerId: string },
  Row<'Builder'>
>((bind) =>
  statements
    .selectFrom('Builder')
    .selectAll()
    .where('Builder.id', '=', anyOfBound(bind('ids')))
    .where((eb) => {
      const membership = eb
        .selectFrom('OrgMember')
        .select('OrgMember.orgId')
        .whereRef('OrgMember.builderId', '=', 'Builder.id')
        .where('OrgMember.orgId', '=', anyOfBound(bind('orgIds')));
      return eb.or([eb('Builder.id', '=', bind('viewerId')), eb.exists(membership)]);
    }),
);

/** Selects invites of the viewer's orgs, and pending invites to the viewer's own email address. */
export const VISIBLE_INVITES = buildStatement<
  { ids: string[]; orgIds: string[]; email: string | null; now: Date },
  Row<'Invite'>
>((bind) =>
  statements
    .selectFrom('Invite')
    .selectAll()
    .where('id', '=', anyOfBound(bind('ids')))
    .where((eb) => {
      const isPending = eb.and([
        eb('pendingEmail', '=', bind('email')),
        eb('expireTime', '>', bind('now')),
      ]);
      return eb.or([eb('orgId', '=', anyOfBound(bind('orgIds'))), isPending]);
    }),
);

type Conditions = Record<string, unknown>;

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
