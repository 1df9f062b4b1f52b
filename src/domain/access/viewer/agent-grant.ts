/** The rights of an agent session: what an agent may do for its end user. */
import { z } from 'zod';
import type { WriteType } from '../../../database/generated/enums.ts';
import { enumeration } from '../../base/resource.ts';

export const agentVerb = enumeration(
  'AgentVerb',
  'What an agent may do with the records of an object. Changes are proposals, which a person or a rule approves.',
  {
    READ: 'List, search and read records.',
    CREATE: 'Propose new records.',
    UPDATE: 'Propose changes of records.',
    DELETE: 'Propose to delete records.',
  },
);
export type AgentVerb = z.output<typeof agentVerb>;

/** A type of write of one object that has its own tool, such as `create_people`. */
export interface PinnedTool {
  type: WriteType;
  objectName: string;
}

/** Parses the verbs of a stored session. */
export function readVerbs({ verbs }: { verbs: readonly string[] }): AgentVerb[] {
  return z.array(agentVerb).parse(verbs);
}

export interface AgentGrant {
  sessionId: string;
  /** The builder's names of the objects. Null means all objects of the group. */
  objectNames: readonly string[] | null;
  verbs: readonly AgentVerb[];
  pinnedTools: readonly PinnedTool[];
}
