/**
 * Commits approved proposals. The statement that accepts the write also claims the proposal, so that a proposal is written
 * at most once, and only while it is approved. Each attempt of the write first compares the record with the version that
 * the proposal expects. A worker completes proposals whose process ended before their write.
 */
import { z } from 'zod';
import { LEASE, RELEASED_LEASE } from '../../database/leases/lease.ts';
import { LeasedRows } from '../../database/leases/leased-rows.ts';
import { listColumns, type Row } from '../../database/statements/tables.ts';
import { inTransaction } from '../../database/transactions/transaction.ts';
import { leasedWork } from '../../jobs/leased-work.ts';
import { conflict, DomainError } from '../../kernel/errors.ts';
import { enumValue, member, text } from '../../kernel/text.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import type { Call, RowServices } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { orAgent } from '../access/viewer/needs.ts';
import { formatPrincipal } from '../access/viewer/viewer.ts';
import { castJsonColumn } from '../base/storable-json.ts';
import { getServingInstallation } from '../data/operation/object-installation.ts';
import type { StoredOutcome } from '../data/operation/write/outcome.ts';
import type { RecordVersion } from '../data/operation/write/record-version.ts';
import { ProposalTaken } from '../data/operation/write/write-start.ts';
import {
  awaitOperation,
  type WriteOutcome,
  writeAndWait,
} from '../data/operation/write-records.ts';
import { authorizeAgent } from './agent-objects.ts';
import { getProposalRow, type Proposal, proposalInput } from './proposal.ts';
import { recordProposalEvent } from './proposal-event.ts';
import { hashWritePlan, planProposedWrite } from './proposed-write.ts';

/** The interval at which a worker checks a proposal whose write has not ended. */
const POLL_MS = MINUTE_MS;
/** A concurrent call may change the proposal while the write is accepted. */
const TRIES_MAX = 3;

const commitProposalInput = proposalInput
  .extend({
    payloadHash: z
      .string()
      .max(64)
      .describe('The `payloadHash` of the proposal. It proves which values the caller commits.'),
  })
  .meta({ id: 'CommitProposalInput', description: 'The approved proposal to commit.' });

/** The outcome of a committed proposal. */
export interface CommittedProposal extends WriteOutcome {
  proposal: Proposal;
}

/**
 * Commits a proposal and waits for the outcome, as a synchronous `writeRecords` does. Simultaneous calls share the write.
 * Throws PROPOSAL_STALE if the record has changed. After other errors, the call may be repeated.
 */
export const commitProposal = projectMutation({
  description:
    'Commits an approved proposal: writes the record if it has not changed since the proposal was created. A proposal is committed once.',
  needs: orAgent('records:write', 'WRITE_RECORDS'),
  input: commitProposalInput,
  async run(call, { proposalId: id, payloadHash }, { id: projectId }): Promise<CommittedProposal> {
    const proposal = await getProposalRow(call, projectId, id);
    const writerCall = authorizeAgent(call, proposal.objectName, proposal.type);
    refuseUncommittable(proposal, payloadHash, call.now());
    const outcome =
      (await findOutcome(writerCall, proposal)) ??
      (await commitWrite(writerCall, { proposal, payloadHash }));
    const { operation, result } = outcome;
    const committedProposal = await endCommit(call, proposal, { operation, outcome: result });
    if (committedProposal.status === 'STALE') throw createStaleError(committedProposal);
    return { ...outcome, proposal: committedProposal };
  },
});

/** Waits for the outcome of a proposal whose commit has begun. Null if no call has begun it. */
async function findOutcome(
  call: Call,
  { projectId, operationId }: Proposal,
): Promise<WriteOutcome | null> {
  if (operationId === null) return null;
  const operation = await call.database.prisma.operation.findUnique({
    where: { projectId_id: { projectId, id: operationId } },
  });
  return operation && awaitOperation(call, operation, { batch: null });
}

/** Writes the record. Throws PROPOSAL_STALE if the write would differ from the approved one. */
async function commitWrite(
  call: Call,
  { proposal, payloadHash }: { proposal: Proposal; payloadHash: string },
  tries = 1,
): Promise<WriteOutcome> {
  const { projectId, id, objectName } = proposal;
  const groupRef = await getGroupRef(call, proposal);
  const servingInstallation = await getServingInstallation(call, {
    projectId,
    objectName,
    groupRef,
  });
  // Names that the integration no longer has are omitted, so that the hash differs and the proposal is stale.
  const { input, writePlan } = await planProposedWrite(call, servingInstallation, proposal, {
    unknownFields: 'OMIT',
  });
  if (hashWritePlan(writePlan) !== proposal.planHash) throw createChangedWriteError(proposal);
  const expectedVersion = castJsonColumn<RecordVersion | null>(proposal.expected);
  const omittedFields = castJsonColumn<string[] | null>(proposal.omittedFields);
  const entries = writePlan.entries.map((entry) => ({
    ...entry,
    omittedFields,
    expected: expectedVersion,
  }));
  const committedBy = proposal.committedBy ?? formatPrincipal(call.viewer);
  const dueTime = new Date(call.now().getTime() + POLL_MS);
  try {
    return await writeAndWait(call, {
      input,
      writePlan: { ...writePlan, entries },
      key: null,
      proposal: { id, committedBy, dueTime },
    });
  } catch (error) {
    if (!(error instanceof ProposalTaken)) throw error;
  }
  const currentProposal = await getProposalRow(call, projectId, id);
  refuseUncommittable(currentProposal, payloadHash, call.now());
  const outcome = await findOutcome(call, currentProposal);
  if (outcome) return outcome;
  if (tries === TRIES_MAX) {
    throw conflict('The proposal was changed concurrently. Commit it again.');
  }
  return commitWrite(call, { proposal: currentProposal, payloadHash }, tries + 1);
}

async function getGroupRef({ database }: RowServices, { projectId, groupId: id }: Proposal) {
  const where = { projectId_id: { projectId, id } };
  const { groupRef } = await database.prisma.group.findUniqueOrThrow({ where });
  return groupRef;
}

interface CommitEnd {
  operation: Pick<Row<'Operation'>, 'id' | 'status'>;
  /** Null while the write is running. */
  outcome: StoredOutcome | null;
}

/** Stores the result of the write, or that it is still running. */
async function endCommit(
  services: RowServices,
  { projectId, id }: Proposal,
  { operation, outcome }: CommitEnd,
): Promise<Proposal> {
  const { status: operationStatus, id: operationId } = operation;
  const where = { projectId_id: { projectId, id } };
  return inTransaction(services.database, async (tx) => {
    const now = services.now();
    const isRunning = operationStatus === 'IN_PROGRESS';
    const endStatus = outcome?.isStale ? 'STALE' : 'COMMITTED';
    const status = isRunning ? 'COMMITTING' : endStatus;
    const dueTime = isRunning ? new Date(now.getTime() + POLL_MS) : null;
    const { count } = await tx.proposal.updateMany({
      where: { projectId, id, status: 'COMMITTING' },
      data: { status, operationId, dueTime, updateTime: now, ...RELEASED_LEASE },
    });
    const proposal = await tx.proposal.findUniqueOrThrow({ where });
    if (count === 0 || isRunning) return proposal;
    if (status === 'STALE') {
      await recordProposalEvent(tx, 'PROPOSAL_STALE', proposal, {});
    } else {
      const success = operationStatus === 'SUCCESS';
      await recordProposalEvent(tx, 'PROPOSAL_COMMITTED', proposal, { operationId, success });
    }
    return proposal;
  });
}

const PROPOSAL_LEASES = new LeasedRows({
  table: 'Proposal',
  key: ['projectId', 'id'],
  leaseMs: 10_000,
  columns: LEASE,
});

/** Proposals that expire, and commits whose process has ended. */
export const proposals = leasedWork({
  kind: 'proposal',
  leases: PROPOSAL_LEASES,
  columns: listColumns('Proposal'),
  perProcess: 8,
  run: continueProposal,
});

/** Expires a claimed proposal that was not committed in time, or completes its commit. */
async function continueProposal(services: RowServices, proposal: Proposal): Promise<void> {
  if (proposal.status === 'COMMITTING') await completeCommit(services, proposal);
  else await expireProposal(services, proposal);
}

async function completeCommit(services: RowServices, proposal: Proposal): Promise<void> {
  const { prisma } = services.database;
  const { projectId, operationId } = proposal;
  if (operationId === null) throw new Error('Bug: a proposal is being committed without a write.');
  const operation = await prisma.operation.findUnique({
    where: { projectId_id: { projectId, id: operationId } },
  });
  const writeEntry = await prisma.writeEntry.findFirst({
    where: { projectId, operationId },
    select: { outcome: true },
  });
  await endCommit(services, proposal, {
    // If the operation was deleted before its proposal, it had ended.
    operation: operation ?? { id: operationId, status: 'FAILURE' },
    outcome: castJsonColumn<StoredOutcome | null>(writeEntry?.outcome ?? null),
  });
}

async function expireProposal({ database, now }: RowServices, proposal: Proposal): Promise<void> {
  const { projectId, id } = proposal;
  await inTransaction(database, async (tx) => {
    const { count } = await tx.proposal.updateMany({
      where: {
        projectId,
        id,
        status: { in: ['PENDING', 'APPROVED'] },
        expireTime: { lte: now() },
      },
      data: { status: 'EXPIRED', dueTime: null, updateTime: now(), ...RELEASED_LEASE },
    });
    if (count === 0) {
      // A call has changed the proposal and its due time since it was claimed.
      const where = PROPOSAL_LEASES.getClaimFilter(proposal);
      await tx.proposal.updateMany({ where, data: RELEASED_LEASE });
      return;
    }
    const expiredProposal = await tx.proposal.findUniqueOrThrow({
      where: { projectId_id: { projectId, id } },
    });
    await recordProposalEvent(tx, 'PROPOSAL_EXPIRED', expiredProposal, {});
  });
}

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

function createStaleError({ id, objectName, recordId }: Proposal): DomainError {
  return new DomainError(
    'PROPOSAL_STALE',
    `The record ${recordId} of ${objectName} has changed since the proposal ${id} was created, so nothing was written. Read the record and propose the write again.`,
  );
}

/** Creates the error of a proposal whose write would now differ from the one that was approved. */
function createChangedWriteError({ id }: Proposal): DomainError {
  return new DomainError(
    'PROPOSAL_STALE',
    `The mapping, the config or the account has changed since the proposal ${id} was created, so it would write something else. Nothing was written. Propose the write again.`,
  );
}

/** Throws an error if the proposal can't be committed. */
function refuseUncommittable(proposal: Proposal, payloadHash: string, now: Date): void {
  refuseEndedProposal(proposal, now);
  if (proposal.payloadHash !== payloadHash) {
    throw new DomainError(
      'PROPOSAL_PAYLOAD_CHANGED',
      text`${member('payloadHash')} must be ${proposal.payloadHash}, the hash of the values that were approved. To write other values, propose them.`,
    );
  }
  if (proposal.status === 'PENDING') {
    throw new DomainError(
      'PROPOSAL_NOT_APPROVED',
      text`The proposal ${proposal.id} waits for an approval until ${proposal.expireTime.toISOString()}. Commit it when its status is ${enumValue('APPROVED', 'ProposalStatus')}.`,
    );
  }
}
