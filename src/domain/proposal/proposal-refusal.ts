/** The errors of proposals that can no longer be decided or committed. Each names the next step. */
import { DomainError } from '../../errors.ts';
import type { Proposal } from './proposal.ts';

/** Throws an error if the proposal has ended. */
export function refuseEndedProposal(proposal: Proposal, now: Date): void {
  const { id, status, decisionReason, operationId, expireTime } = proposal;
  switch (status) {
    case 'REJECTED': {
      const reason = decisionReason === null ? '' : ` The reason: ${decisionReason}`;
      throw new DomainError(
        'PROPOSAL_REJECTED',
        `${proposal.decidedBy} has rejected the proposal ${id}.${reason}`,
      );
    }
    case 'COMMITTED':
      throw new DomainError(
        'PROPOSAL_COMMITTED',
        `The proposal ${id} has already been committed. Read the outcome of the operation ${operationId}.`,
        { operationId },
      );
    case 'STALE':
      throw createStaleError(proposal);
    case 'COMMITTING':
      return;
    default:
      if (status !== 'EXPIRED' && expireTime > now) return;
      throw new DomainError(
        'PROPOSAL_EXPIRED',
        `The proposal ${id} expired at ${expireTime.toISOString()}. Propose the write again.`,
      );
  }
}

export function createStaleError({ id, objectName, recordId }: Proposal): DomainError {
  return new DomainError(
    'PROPOSAL_STALE',
    `The record ${recordId} of ${objectName} has changed since the proposal ${id} was created, so nothing was written. Read the record and propose the write again.`,
  );
}

/** Creates the error of a proposal whose write would now differ from the one that was approved. */
export function createChangedPlanError({ id }: Proposal): DomainError {
  return new DomainError(
    'PROPOSAL_STALE',
    `The mapping, the config or the account has changed since the proposal ${id} was created, so it would write something else. Nothing was written. Propose the write again.`,
  );
}

/** Throws an error if the proposal can't be committed. */
export function refuseUncommittable(proposal: Proposal, payloadHash: string, now: Date): void {
  refuseEndedProposal(proposal, now);
  if (proposal.payloadHash !== payloadHash) {
    throw new DomainError(
      'PROPOSAL_PAYLOAD_CHANGED',
      `payloadHash must be ${proposal.payloadHash}, the hash of the values that were approved. To write other values, propose them.`,
    );
  }
  if (proposal.status === 'PENDING') {
    throw new DomainError(
      'PROPOSAL_NOT_APPROVED',
      `The proposal ${proposal.id} waits for an approval until ${proposal.expireTime.toISOString()}. Commit it when its status is APPROVED.`,
    );
  }
}
