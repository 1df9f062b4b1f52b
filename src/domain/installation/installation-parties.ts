/** Through which connection an installation reaches its provider. */
import type { Transaction } from '../../database/transaction.ts';
import type { Issue } from '../../errors.ts';
import { findConnectionOfGroup, inSight } from '../connection/connection-of-group.ts';
import { issueAt } from '../issues.ts';

/** A transaction, or the database's own client. */
type Connections = Pick<Transaction, 'connection' | 'erasure' | 'group'>;

interface Wanted {
  projectId: string;
  provider: string;
  /** Null if there is no such group: an issue says so already. */
  groupId: string | null;
  /** Null: the group's own. */
  connectionId: string | null;
}

/** The group of that ref and its connection; what is missing is null, with the issues that say why. */
export async function findParties(
  tx: Connections,
  { groupRef, ...wanted }: Omit<Wanted, 'groupId'> & { groupRef: string },
): Promise<{ groupId: string | null; connectionId: string | null; issues: Issue[] }> {
  const key = { projectId: wanted.projectId, groupRef };
  const group = await tx.group.findUnique({ where: { projectId_groupRef: key } });
  const groupId = group?.id ?? null;
  const { connectionId, issues } = await chooseConnection(tx, { ...wanted, groupId });
  if (group) return { groupId, connectionId, issues };
  const unknown = issueAt(['input', 'groupRef'], 'is not a group of the project.', groupRef);
  return { groupId, connectionId, issues: [unknown, ...issues] };
}

/** The connection that is named, or the group's own; null with the issues that say why there is none. */
export async function chooseConnection(
  tx: Connections,
  { connectionId, ...wanted }: Wanted,
): Promise<{ connectionId: string | null; issues: Issue[] }> {
  if (connectionId !== null) {
    const issues = await listConnectionIssues(tx, { ...wanted, connectionId });
    return { connectionId: issues.length > 0 ? null : connectionId, issues };
  }
  const { groupId, provider } = wanted;
  if (groupId === null) return { connectionId: null, issues: [] };
  const connection = await findConnectionOfGroup(tx, { ...wanted, groupId });
  if (connection) return { connectionId: connection.id, issues: [] };
  const detail = `names a group without a connection to ${provider}.`;
  return { connectionId: null, issues: [issueAt(['input', 'groupRef'], detail)] };
}

async function listConnectionIssues(
  tx: Connections,
  { projectId, provider, groupId, connectionId }: Wanted & { connectionId: string },
): Promise<Issue[]> {
  const issue = (detail: string) => issueAt(['input', 'connectionId'], detail, connectionId);
  const connection = await tx.connection.findUnique({
    where: { projectId_id: { projectId, id: connectionId }, ...(await inSight(tx, { projectId })) },
    select: { provider: true, groupId: true },
  });
  if (!connection) return [issue('does not exist.')];
  const issues: Issue[] = [];
  if (groupId !== null && connection.groupId !== groupId) issues.push(issue("is another group's."));
  if (connection.provider !== provider) {
    issues.push(issue(`is a connection to ${connection.provider}, not to ${provider}.`));
  }
  return issues;
}

/** Without issues, both are there. */
export function requireParties({ groupId, connectionId }: Ends): { [K in keyof Ends]: string } {
  if (groupId === null || connectionId === null) throw new Error('What is missing was not told.');
  return { groupId, connectionId };
}

type Ends = Record<'groupId' | 'connectionId', string | null>;
