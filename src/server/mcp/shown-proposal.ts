/** Shows proposals to agents, with the next step for each status. */
import { boundFields } from '../../domain/agent/bounded-records.ts';
import { listProposedFields, type Proposal } from '../../domain/proposal/proposal.ts';
import type { ToolOutcome } from './tool-result.ts';

const NEXT_STEPS: Record<Proposal['status'], string> = {
  PENDING: 'A person must approve it. Call get_proposal until it is APPROVED, then commit_write.',
  APPROVED: 'Call commit_write with its proposalId and payloadHash.',
  REJECTED: 'It is never written. Do not propose the same write again.',
  COMMITTING: 'Its write is running. Call get_proposal again later.',
  COMMITTED: 'Call get_operation with its operationId for the outcome.',
  EXPIRED: 'It was not committed in time. Propose the write again if it is still needed.',
  STALE: 'The record had changed, so nothing was written. Read it and propose the write again.',
};

export function showProposal(proposal: Proposal): ToolOutcome {
  const { id, status } = proposal;
  return {
    text: `The proposal ${id} is ${status}. ${NEXT_STEPS[status]}`,
    data: toProposalData(proposal),
    untrusted: ['/fields', '/decisionReason'],
  };
}

/** Returns the proposal as data, with each changed field before and after the change. */
export function toProposalData(proposal: Proposal): Record<string, unknown> {
  const { id, status, objectName, type, recordId, payloadHash, operationId } = proposal;
  const { decidedBy, decisionReason, expireTime } = proposal;
  const changes = listProposedFields(proposal).map(({ name, before, after }): [string, unknown] => [
    name,
    { before, after },
  ]);
  const { fields, omittedFields } = boundFields(changes);
  return {
    proposalId: id,
    status,
    objectName,
    type,
    recordId,
    payloadHash,
    fields,
    ...(omittedFields.length > 0 && { omittedFields }),
    decidedBy,
    decisionReason,
    operationId,
    expireTime: expireTime.toISOString(),
  };
}
