/** Agents of a tenant's project, and the proposals that they make. */
import type { Tenant, TestApp } from '../app.ts';
import { createBearerClient, createEndUser, type EndUser } from './end-users.ts';

const CREATE_AGENT_SESSION = `mutation ($input: CreateAgentSessionInput!) {
  createAgentSession(input: $input) { token mcpUrl agentSession { id } }
}`;

export interface Agent extends EndUser {
  sessionId: string;
  mcpUrl: string;
}

/** Creates an agent session. Default: all verbs, for the group `acme` and the consumer `ann`, without rules. */
export async function createAgent(
  app: TestApp,
  { projectId, query }: Pick<Tenant, 'projectId' | 'query'>,
  members: object = {},
): Promise<Agent> {
  const input = {
    projectIdOrName: projectId,
    groupRef: 'acme',
    consumerRef: 'ann',
    name: 'Helper',
    verbs: ['READ', 'CREATE', 'UPDATE', 'DELETE'],
    ...members,
  };
  const { createAgentSession } = await query(CREATE_AGENT_SESSION, { input });
  const { token, mcpUrl, agentSession } = createAgentSession;
  const client = createBearerClient(app, token);
  return { ...client, projectId, mcpUrl, sessionId: agentSession.id };
}

/** Creates an end user who may approve. Default: of the group `acme`. */
export function createApprover(
  app: TestApp,
  tenant: Tenant,
  members: object = {},
): Promise<EndUser> {
  return createEndUser(app, tenant, {
    consumerRef: 'boss',
    permissions: ['APPROVE'],
    ...members,
  });
}

const PROPOSAL = `id status type recordId payloadHash reason createdBy decidedBy rule decisionReason
  fields { name before after } expireTime`;

const CREATE = `mutation ($input: CreateProposalInput!) {
  createProposal(input: $input) { proposal { ${PROPOSAL} } }
}`;
const APPROVE = `mutation ($input: ApproveProposalInput!) {
  approveProposal(input: $input) { proposal { ${PROPOSAL} } }
}`;
const REJECT = `mutation ($input: RejectProposalInput!) {
  rejectProposal(input: $input) { proposal { ${PROPOSAL} } }
}`;
const COMMIT = `mutation ($input: CommitProposalInput!) {
  commitProposal(input: $input) {
    proposal { ${PROPOSAL} operation { id } } operation { id status } result { success recordId }
  }
}`;

type Client = Pick<EndUser, 'query' | 'refusal'>;

/** The calls of one project, by a client. */
export function proposalsOf({ projectId: projectIdOrName }: { projectId: string }) {
  const commitInput = ({ id, payloadHash }: { id: string; payloadHash: string }) => ({
    input: { projectIdOrName, proposalId: id, payloadHash },
  });
  const decision = (proposalId: string, reason?: string) => ({
    input: { projectIdOrName, proposalId, reason },
  });
  const values = (input: object) => ({ input: { projectIdOrName, ...input } });
  return {
    create: async (client: Client, input: object) =>
      (await client.query(CREATE, values(input))).createProposal.proposal,
    refuseCreate: (client: Client, input: object) => client.refusal(CREATE, values(input)),
    approve: async (client: Client, id: string) =>
      (await client.query(APPROVE, decision(id))).approveProposal.proposal,
    refuseApprove: (client: Client, id: string) => client.refusal(APPROVE, decision(id)),
    reject: async (client: Client, id: string, reason?: string) =>
      (await client.query(REJECT, decision(id, reason))).rejectProposal.proposal,
    refuseReject: (client: Client, id: string) => client.refusal(REJECT, decision(id)),
    commit: async (client: Client, proposal: { id: string; payloadHash: string }) =>
      (await client.query(COMMIT, commitInput(proposal))).commitProposal,
    refuseCommit: (client: Client, proposal: { id: string; payloadHash: string }) =>
      client.refusal(COMMIT, commitInput(proposal)),
  };
}
