/** Approves and rejects proposals. */
import { z } from 'zod';
import { inTransaction } from '../../database/transactions/transaction.ts';
import { conflict, DomainError } from '../../kernel/errors.ts';
import type { RowCall } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { orEndUser } from '../access/viewer/needs.ts';
import { formatPrincipal } from '../access/viewer/viewer.ts';
import { refuseEndedProposal } from './commit-proposal.ts';
import { getProposalRow, type Proposal, proposalInput } from './proposal.ts';
import { recordProposalEvent } from './proposal-event.ts';

const decisionInput = proposalInput.extend({
  reason: z
    .string()
    .trim()
    .max(2_000)
    .nullish()
    .describe('The reason for the decision, which the agent can read, up to 2000 characters.'),
});

const DECISION_NEEDS = orEndUser('records:write', 'APPROVE');

/** Throws SELF_APPROVAL for the principal that created the proposal, and an error if its status permits no approval. */
export const approveProposal = projectMutation({
  description:
    'Approves a pending proposal, so that it can be committed. The principal that created the proposal may not approve it. An approved proposal is returned unchanged.',
  needs: DECISION_NEEDS,
  input: decisionInput.meta({
    id: 'ApproveProposalInput',
    description: 'The proposal to approve.',
  }),
  run: (call, input, { id: projectId }) =>
    decideProposal(call, { ...input, projectId, status: 'APPROVED' }),
});

/** Throws an error if the status of the proposal permits no rejection. */
export const rejectProposal = projectMutation({
  description:
    'Rejects a pending or approved proposal, so that it can never be committed. A rejected proposal is returned unchanged.',
  needs: DECISION_NEEDS,
  input: decisionInput.meta({ id: 'RejectProposalInput', description: 'The proposal to reject.' }),
  run: (call, input, { id: projectId }) =>
    decideProposal(call, { ...input, projectId, status: 'REJECTED' }),
});

interface Decision {
  projectId: string;
  proposalId: string;
  reason?: string | null | undefined;
  status: 'APPROVED' | 'REJECTED';
}

async function decideProposal(
  call: RowCall,
  { projectId, proposalId: id, reason, status }: Decision,
): Promise<Proposal> {
  const proposal = await getProposalRow(call, projectId, id);
  const decidedBy = formatPrincipal(call.viewer);
  if (status === 'APPROVED' && proposal.createdBy === decidedBy) {
    throw new DomainError(
      'SELF_APPROVAL',
      `${decidedBy} created the proposal, so another principal must approve it.`,
    );
  }
  if (proposal.status === status) return proposal;
  const decidableStatuses = status === 'APPROVED' ? ['PENDING'] : ['PENDING', 'APPROVED'];
  return inTransaction(call.database, async (tx) => {
    const now = call.now();
    const { count } = await tx.proposal.updateMany({
      where: {
        projectId,
        id,
        status: { in: decidableStatuses as Proposal['status'][] },
        expireTime: { gt: now },
      },
      data: {
        status,
        decidedBy,
        decideTime: now,
        decisionReason: reason || null,
        updateTime: now,
        ...(status === 'REJECTED' && { dueTime: null }),
      },
    });
    const currentProposal = await tx.proposal.findUniqueOrThrow({
      where: { projectId_id: { projectId, id } },
    });
    if (count === 0) {
      // A concurrent call made the same decision.
      if (currentProposal.status === status) return currentProposal;
      refuseEndedProposal(currentProposal, now);
      throw conflict(
        `The proposal ${id} is being committed. Read its status again when the write has ended.`,
      );
    }
    await recordProposalEvent(tx, `PROPOSAL_${status}`, currentProposal, { decidedBy });
    return currentProposal;
  });
}
