/** Finds objects of any type by their ids. */
import { z } from 'zod';
import { findPrefix, findProviderReference, ID_PREFIXES, type IdPrefix } from '../../kernel/ids.ts';
import type { Call } from '../access/call.ts';
import { byId, type IdTable } from '../access/scope.ts';
import { authorize, type Need, orEndUser } from '../access/viewer/needs.ts';
import type { Viewer } from '../access/viewer/viewer.ts';
import { getAgentSession } from '../agents/agent-session.ts';
import { getProposal } from '../agents/proposal.ts';
import { checkRules, createRuleIssue } from '../base/issues.ts';
import { findProvider, type Provider } from '../connections/provider/provider.ts';

export const NODES_MAX = 100;

export const nodeIds = z.array(z.string()).superRefine(
  checkRules(function* (ids) {
    if (ids.length > NODES_MAX) yield createRuleIssue([], `must contain at most ${NODES_MAX} ids.`);
  }),
);

/** Prefixes of rows that have ids but are not nodes. */
const NON_NODE_PREFIXES: readonly IdPrefix[] = ['log', 'att', 'msg', 'sec'];
const ORG_PREFIXES: readonly IdPrefix[] = ['org', 'bld', 'bil', 'inv', 'dom'];
/** Tables with rows that end users may see. A page key (the scope `frontend`) finds only nodes of these tables. */
const END_USER_TABLES: readonly IdTable[] = [
  'Project',
  'Group',
  'Consumer',
  'Connection',
  'Integration',
  'Revision',
  'Installation',
  'InstallationConfig',
  'Operation',
];

/** Tables whose rows need other rights than the project's other rows. */
const NEEDS_BY_TABLE: Partial<Record<IdTable, Need>> = {
  AgentSession: getAgentSession.needs,
  Proposal: getProposal.needs,
};

interface NodeRow {
  id: string;
}

export type NodeObject = NodeRow | Provider;

/**
 * Finds objects of any type, in the order of the ids. An item is null if its id is malformed, or if the viewer may not
 * see the object. It is an error if the viewer lacks the scope of the type.
 */
export async function loadNodes(
  call: Call,
  ids: readonly string[],
): Promise<(NodeObject | Error | null)[]> {
  const idsByPrefix = Map.groupBy(ids, findPrefix);
  const nodes = new Map<string, NodeObject | Error | null>();
  const findProviderNode = async (id: string) => {
    const reference = findProviderReference(id);
    if (reference) nodes.set(id, await findProvider(call, reference));
  };
  await Promise.all([
    ...ids.map(findProviderNode),
    ...[...idsByPrefix].map(async ([prefix, prefixIds]) => {
      if (prefix === null || NON_NODE_PREFIXES.includes(prefix)) return;
      const table: IdTable = ID_PREFIXES[prefix];
      const refusal = findRefusal(call.viewer, getNeed(call.viewer, prefix, table));
      const rows = refusal ? prefixIds.map(() => refusal) : await byId(table)(call, prefixIds);
      for (const [index, id] of prefixIds.entries()) nodes.set(id, rows[index] ?? null);
    }),
  ]);
  return ids.map((id) => nodes.get(id) ?? null);
}

function findRefusal(viewer: Viewer, need: Need): Error | null {
  try {
    authorize(viewer, need);
    return null;
  } catch (error) {
    return error as Error;
  }
}

/** Returns the rights that nodes of a table need. A page key gets FORBIDDEN for a table that end users never see. */
function getNeed({ kind }: Viewer, prefix: IdPrefix, table: IdTable): Need {
  if (ORG_PREFIXES.includes(prefix)) return 'org:read';
  const tableNeed = NEEDS_BY_TABLE[table];
  if (tableNeed) return tableNeed;
  return kind === 'END_USER' || END_USER_TABLES.includes(table) ? orEndUser('read') : 'read';
}
