import { type CommittedProposal, commitProposal } from '../../domain/agents/commit-proposal.ts';
import { createProposal } from '../../domain/agents/create-proposal.ts';
import { approveProposal, rejectProposal } from '../../domain/agents/decide-proposal.ts';
import { listProposals, proposalFilters, proposalResource } from '../../domain/agents/proposal.ts';
import { WriteResult } from '../data/operation/write-records.ts';
import { linkField, requiredLinkField } from '../schema/fields.ts';
import { addList } from '../schema/lists.ts';
import { addMutation, addMutations, describeResult } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import {
  AgentSession,
  Consumer,
  Group,
  Installation,
  Operation,
  Project,
  Proposal,
} from '../schema/types.ts';

objectType(Proposal, proposalResource, (t) => ({
  group: requiredLinkField(t, {
    type: Group,
    table: 'Group',
    column: 'groupId',
    description: 'The group whose record is written.',
  }),
  consumer: linkField(t, {
    type: Consumer,
    table: 'Consumer',
    column: 'consumerId',
    description: 'The end user that the agent works for. Null if no end user created the proposal.',
  }),
  installation: linkField(t, {
    type: Installation,
    table: 'Installation',
    column: 'installationId',
    description: 'The installation that serves the write. Null if it was deleted.',
  }),
  agentSession: linkField(t, {
    type: AgentSession,
    table: 'AgentSession',
    column: 'agentSessionId',
    description: 'The session of the agent. Null if no agent created the proposal.',
  }),
  operation: linkField(t, {
    type: Operation,
    table: 'Operation',
    column: 'operationId',
    description: 'The operation that writes the record. Null before the commit.',
  }),
}));

addList(Project, 'proposals', Proposal, listProposals, { filters: proposalFilters });

addMutations('proposal', Proposal, { createProposal, approveProposal, rejectProposal });

const CommitProposalPayload = builder
  .objectRef<CommittedProposal>('CommitProposalPayload')
  .implement({
    description: describeResult('commitProposal'),
    fields: (t) => ({
      proposal: t.expose('proposal', {
        type: Proposal,
        description:
          'The proposal after the mutation. It is still COMMITTING if the write takes too long.',
      }),
      operation: t.expose('operation', {
        type: Operation,
        description: 'The operation that writes the record.',
      }),
      result: t.expose('result', {
        type: WriteResult,
        nullable: true,
        description: 'The outcome of the write. Null if it is not known yet.',
      }),
    }),
  });

addMutation('commitProposal', commitProposal, CommitProposalPayload);
