/** The objects that an agent may use: the objects of the customer's contract that its session permits. */

import type { Row } from '../../database/statements/tables.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Call } from '../access/call.ts';
import type { AgentGrant, AgentVerb } from '../access/viewer/agent-grant.ts';
import type { Viewer } from '../access/viewer/viewer.ts';
import type { Contract, ContractVerb, ObjectContract } from '../data/contract/contract-resource.ts';
import { listInstallationContracts, mergeContracts } from '../data/contract/read-contract.ts';
import {
  getGroupOfCaller,
  listInstallationsOfGroup,
} from '../data/operation/object-installation.ts';

/** The part of a group's contract that the caller may use. */
export interface AgentContract {
  group: Row<'Group'>;
  contract: Contract;
}

/** Returns the rights of an agent. Null for other callers, who have scopes or permissions instead. */
export function findGrant(viewer: Viewer): AgentGrant | null {
  return viewer.kind === 'END_USER' ? viewer.agent : null;
}

/**
 * Returns the call with the permissions of the agent's end user, or the call itself for other callers. Does not check the
 * grant: use `authorizeAgent` for reads and writes of records.
 */
export function asEndUser(call: Call): Call {
  const { viewer } = call;
  if (viewer.kind !== 'END_USER' || viewer.agent === null) return call;
  return { ...call, viewer: { ...viewer, agent: null, permissions: ['READ', 'WRITE_RECORDS'] } };
}

/** The right that an agent needs for each verb of a contract. Agents can't use other verbs. */
const AGENT_VERBS: Partial<Record<ContractVerb, AgentVerb>> = {
  LIST: 'READ',
  SEARCH: 'READ',
  READ_BY_ID: 'READ',
  CREATE: 'CREATE',
  UPDATE: 'UPDATE',
  DELETE: 'DELETE',
};

/**
 * Returns the contract of the group's installations, limited to the objects and verbs that the session permits. The
 * default is the end user's group. Throws the errors of `getGroupOfCaller`.
 */
export async function getAgentContract(
  call: Call,
  { projectId, groupRef }: { projectId: string; groupRef: string | null },
): Promise<AgentContract> {
  const endUserCall = asEndUser(call);
  const group = await getGroupOfCaller(endUserCall, projectId, groupRef);
  const installations = await listInstallationsOfGroup(endUserCall, group);
  const contracts = await listInstallationContracts(endUserCall, installations);
  const groupContract = mergeContracts(contracts.filter((contract) => contract !== null));
  return { group, contract: limitContract(groupContract, findGrant(call.viewer)) };
}

function limitContract(contract: Contract, grant: AgentGrant | null): Contract {
  const objects = contract.objects
    .filter(({ name }) => grant === null || (grant.objectNames?.includes(name) ?? true))
    .map((object) => ({
      ...object,
      verbs: object.verbs.filter((verb) => {
        const agentVerb = AGENT_VERBS[verb];
        return agentVerb !== undefined && (grant === null || grant.verbs.includes(agentVerb));
      }),
    }))
    .filter(({ verbs }) => verbs.length > 0);
  return { ...contract, objects };
}

/**
 * Returns a call that may use the verb for the object: for an agent, the call of its end user. Throws OBJECT_NOT_GRANTED
 * or VERB_NOT_GRANTED if the agent's session does not permit it.
 */
export function authorizeAgent(call: Call, objectName: string, verb: AgentVerb): Call {
  const grant = findGrant(call.viewer);
  if (grant === null) return call;
  const { objectNames, verbs } = grant;
  if (objectNames && !objectNames.includes(objectName)) {
    throw new DomainError(
      'OBJECT_NOT_GRANTED',
      `The agent session does not include the object ${JSON.stringify(objectName)}. It includes: ${objectNames.join(', ')}.`,
    );
  }
  if (!verbs.includes(verb)) {
    throw new DomainError(
      'VERB_NOT_GRANTED',
      `The agent session does not permit ${verb}. It permits: ${verbs.join(', ')}.`,
    );
  }
  return asEndUser(call);
}

/**
 * Returns an object of the contract. Throws NOT_FOUND with the names of all objects if there is none, and UNPROCESSABLE
 * if the object does not support the verb.
 */
export function getContractObject(
  { contract, group }: AgentContract,
  objectName: string,
  verb: ContractVerb | null,
): ObjectContract {
  const object = contract.objects.find(({ name }) => name === objectName);
  if (!object) {
    const names = contract.objects.map(({ name }) => name).join(', ') || 'none';
    throw new DomainError(
      'NOT_FOUND',
      `The group ${group.groupRef} has no object ${JSON.stringify(objectName)}. Its objects: ${names}.`,
    );
  }
  if (verb !== null && !object.verbs.includes(verb)) {
    throw new DomainError(
      'UNPROCESSABLE',
      `${objectName} does not support ${verb} for the group ${group.groupRef}. It supports: ${object.verbs.join(', ')}.`,
    );
  }
  return object;
}
