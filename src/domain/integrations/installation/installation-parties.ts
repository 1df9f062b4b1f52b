/** Chooses the group and the connection of an installation. */
import type { Transaction } from '../../../database/transactions/transaction.ts';
import type { Issue } from '../../../kernel/errors.ts';
import { createInputIssue } from '../../base/issues.ts';
import {
  createNotErasedFilter,
  findConnectionOfGroup,
} from '../../connections/connection/connection-of-group.ts';

/** A transaction, or the client of the database. */
type PartiesClient = Pick<Transaction, 'connection' | 'erasure' | 'group'>;

interface ConnectionCriteria {
  projectId: string;
  provider: string;
  /** Null if the group does not exist, which is reported elsewhere. */
  groupId: string | null;
  /** Null selects the group's default connection. */
  connectionId: string | null;
}

/** Finds the group with this ref and its connection. If the group or the connection is null, an issue gives the reason. */
export async function findParties(
  tx: PartiesClient,
  { groupRef, ...criteria }: Omit<ConnectionCriteria, 'groupId'> & { groupRef: string },
): Promise<{ groupId: string | null; connectionId: string | null; issues: Issue[] }> {
  const key = { projectId: criteria.projectId, groupRef };
  const group = await tx.group.findUnique({ where: { projectId_groupRef: key } });
  const groupId = group?.id ?? null;
  const { connectionId, issues } = await chooseConnection(tx, { ...criteria, groupId });
  if (group) return { groupId, connectionId, issues };
  const detail = 'is not a group of the project.';
  const groupIssue = createInputIssue(['groupRef'], detail, groupRef);
  return { groupId, connectionId, issues: [groupIssue, ...issues] };
}

/** Finds the requested connection, or the group's default one. If there is none, the issues give the reason. */
export async function chooseConnection(
  tx: PartiesClient,
  { connectionId, ...criteria }: ConnectionCriteria,
): Promise<{ connectionId: string | null; issues: Issue[] }> {
  if (connectionId !== null) {
    const issues = await listConnectionIssues(tx, { ...criteria, connectionId });
    return { connectionId: issues.length > 0 ? null : connectionId, issues };
  }
  const { groupId, provider } = criteria;
  if (groupId === null) return { connectionId: null, issues: [] };
  const connection = await findConnectionOfGroup(tx, { ...criteria, groupId });
  if (connection) return { connectionId: connection.id, issues: [] };
  const detail = `names a group without a connection to ${provider}.`;
  return { connectionId: null, issues: [createInputIssue(['groupRef'], detail)] };
}

async function listConnectionIssues(
  tx: PartiesClient,
  { projectId, provider, groupId, connectionId }: ConnectionCriteria & { connectionId: string },
): Promise<Issue[]> {
  const createIssue = (detail: string) => createInputIssue(['connectionId'], detail, connectionId);
  const connection = await tx.connection.findUnique({
    where: {
      projectId_id: { projectId, id: connectionId },
      ...(await createNotErasedFilter(tx, { projectId })),
    },
    select: { provider: true, groupId: true },
  });
  if (!connection) return [createIssue('does not exist.')];
  const issues: Issue[] = [];
  if (groupId !== null && connection.groupId !== groupId) {
    issues.push(createIssue('belongs to another group.'));
  }
  if (connection.provider !== provider) {
    issues.push(createIssue(`is a connection to ${connection.provider}, not to ${provider}.`));
  }
  return issues;
}

/** Returns the parties with types that exclude null. Must run after the issues of the parties were thrown. */
export function requireParties({
  groupId,
  connectionId,
}: {
  groupId: string | null;
  connectionId: string | null;
}): { groupId: string; connectionId: string } {
  if (groupId === null || connectionId === null) {
    throw new Error('Bug: no issue names the missing group or connection.');
  }
  return { groupId, connectionId };
}
