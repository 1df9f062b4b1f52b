/**
 * Commits approved proposals. The idempotency key of a proposal makes its write happen at most once, and the version in
 * the write's entry makes each attempt compare the record first. A process that ends at any step leaves a proposal that
 * another call or the sweep continues.
 */
import { z } from 'zod';
import { acrossProjects, sweep } from '../../database/projects/all-projects.ts';
import type { Row } from '../../database/rows.ts';
import { inTransaction } from '../../database/transaction.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import { asEndUser, requireGrant } from '../agent/agent-objects.ts';
import type { Call, Services } from '../call.ts';
import { projectMutation } from '../declared-mutation.ts';
import { getServingInstallation } from '../operation/object-installation.ts';
import { findOperationByKey, type WriteKey } from '../operation/write/idempotency-key.ts';
import type { StoredOutcome } from '../operation/write/outcome.ts';
import type { RecordVersion } from '../operation/write/record-version.ts';
import { type WriteOutcome, writeAndWait } from '../operation/write-records.ts';
import { readJsonColumn } from '../storable-json.ts';
import { orAgent } from '../viewer/needs.ts';
import { formatActor } from '../viewer/viewer.ts';
import { getProposalRow, type Proposal, proposalInput } from './proposal.ts';
import { recordProposalEvent } from './proposal-event.ts';
import { createStaleError, refuseUncommittable } from './proposal-refusal.ts';
import { planProposedWrite } from './proposed-write.ts';

/** A commit without a result is interrupted this long after the time limit of a mutation. */
const MARGIN_MS = 30_000;
/** How often the sweep checks a write that is still running. */
const RUNNING_POLL_MS = MINUTE_MS;
const SWEEP_PROPOSALS_MAX = 200;

const commitProposalInput = proposalInput
  .extend({
    payloadHash: z
      .string()
      .max(64)
      .describe('The `payloadHash` of the proposal, which proves what the caller commits.'),
  })
  .meta({ id: 'CommitProposalInput', description: 'The approved proposal to commit.' });

/** The outcome of a committed proposal. */
export interface CommittedProposal extends WriteOutcome {
  proposal: Proposal;
}

/**
 * Waits for the outcome, as a synchronous `writeRecords` does. Throws PROPOSAL_STALE if the record has changed. Calls that
 * commit the same proposal simultaneously share its write. After another error, the call may be repeated.
 */
export const commitProposal = projectMutation({
  description:
    'Commits an approved proposal: writes the record if it has not changed since the proposal was made. A proposal is committed once.',
  needs: orAgent('records:write', 'WRITE_RECORDS'),
  input: commitProposalInput,
  async run(call, { proposalId: id, payloadHash }, { id: projectId }): Promise<CommittedProposal> {
    const proposal = await getProposalRow(call, projectId, id);
    requireGrant(call, proposal.objectName, proposal.type);
    refuseUncommittable(proposal, payloadHash, call.now());
    const writer = asEndUser(call);
    const group = await getGroupRef(writer, proposal);
    const { objectName } = proposal;
    const serving = await getServingInstallation(writer, {
      projectId,
      objectName,
      groupRef: group,
    });
    const { input, plan } = await planProposedWrite(writer, serving, proposal);
    const expected = readJsonColumn<RecordVersion | null>(proposal.expected);
    const entries = plan.entries.map((entry) => ({ ...entry, expected }));
    await claimCommit(call, proposal, payloadHash);
    const outcome = await writeAndWait(writer, {
      input,
      plan: { ...plan, entries },
      key: createKey(proposal),
      proposalId: id,
    });
    const committed = await endCommit(call, proposal, {
      operation: outcome.operation,
      outcome: outcome.result,
    });
    if (committed.status === 'STALE') throw createStaleError(committed);
    return { ...outcome, proposal: committed };
  },
});

async function getGroupRef({ database }: Call, { projectId, groupId: id }: Proposal) {
  const where = { projectId_id: { projectId, id } };
  const { groupRef } = await database.prisma.group.findUniqueOrThrow({ where });
  return groupRef;
}

/**
 * Makes the proposal one that is being committed, which can no longer be rejected and does not expire. Throws the error of
 * its state if another call has rejected it, or if its write has ended.
 */
async function claimCommit(call: Call, proposal: Proposal, payloadHash: string): Promise<void> {
  const { projectId, id } = proposal;
  const { proposal: proposals } = call.database.prisma;
  const now = call.now();
  const dueTime = new Date(now.getTime() + call.config.LIMIT_MUTATION_MS + MARGIN_MS);
  const claimed = await proposals.updateMany({
    where: { projectId, id, status: 'APPROVED', expireTime: { gt: now } },
    data: {
      status: 'COMMITTING',
      committedBy: formatActor(call.viewer),
      updateTime: now,
      dueTime,
    },
  });
  if (claimed.count > 0) return;
  const where = { projectId, id, status: 'COMMITTING' } as const;
  const joined = await proposals.updateMany({ where, data: { dueTime } });
  if (joined.count > 0) return;
  refuseUncommittable(await getProposalRow(call, projectId, id), payloadHash, now);
  throw new Error('Bug: an approved proposal was not claimed.');
}

/** The key by which the write of the proposal is accepted once, by any number of commits. */
function createKey({ projectId, id, payloadHash }: Proposal): WriteKey {
  return { projectId, key: `proposal ${id}`, inputHash: payloadHash };
}

interface CommitEnd {
  operation: Row<'Operation'>;
  /** Null if it is not known yet. */
  outcome: StoredOutcome | null;
}

/** Stores the result of the write, or that it is still running. */
async function endCommit(
  services: Services,
  { projectId, id }: Proposal,
  { operation, outcome }: CommitEnd,
): Promise<Proposal> {
  const { status: operationStatus, id: operationId } = operation;
  const where = { projectId_id: { projectId, id } };
  return inTransaction(services.database, async (tx) => {
    const now = services.now();
    const isRunning = operationStatus === 'IN_PROGRESS';
    const status = isRunning ? 'COMMITTING' : outcome?.isStale ? 'STALE' : 'COMMITTED';
    const dueTime = isRunning ? new Date(now.getTime() + RUNNING_POLL_MS) : null;
    const { count } = await tx.proposal.updateMany({
      where: { projectId, id, status: { notIn: ['COMMITTED', 'STALE'] } },
      data: { status, operationId, dueTime, updateTime: now },
    });
    const ended = await tx.proposal.findUniqueOrThrow({ where });
    if (count === 0 || isRunning) return ended;
    if (status === 'STALE') await recordProposalEvent(tx, 'PROPOSAL_STALE', ended, {});
    else {
      const success = operationStatus === 'SUCCESS';
      await recordProposalEvent(tx, 'PROPOSAL_COMMITTED', ended, { operationId, success });
    }
    return ended;
  });
}

const DUE = acrossProjects(
  'proposals that are due',
  (inProjects) => `select * from "Proposal" where ${inProjects('"projectId"')} and "dueTime" <= $1
   order by "dueTime" limit ${SWEEP_PROPOSALS_MAX}`,
);

/** Expires proposals that were not committed in time, and ends commits whose process has ended. */
export async function continueProposals(services: Services): Promise<void> {
  const due = await sweep<Proposal>(services.database, DUE, [services.now()]);
  for (const proposal of due) {
    if (proposal.status === 'COMMITTING') await recoverCommit(services, proposal);
    else await expire(services, proposal);
  }
}

async function recoverCommit(services: Services, proposal: Proposal): Promise<void> {
  const operation = await findOperationByKey(services, createKey(proposal));
  const { projectId, id, expireTime } = proposal;
  if (!operation) {
    // No call can accept the write from here on, because the proposal is not being committed.
    await services.database.prisma.proposal.updateMany({
      where: { projectId, id, status: 'COMMITTING', dueTime: proposal.dueTime },
      data: { status: 'APPROVED', committedBy: null, dueTime: expireTime },
    });
    return;
  }
  const entry = await services.database.prisma.writeEntry.findFirst({
    where: { projectId, operationId: operation.id },
    select: { outcome: true },
  });
  await endCommit(services, proposal, {
    operation,
    outcome: readJsonColumn<StoredOutcome | null>(entry?.outcome ?? null),
  });
}

async function expire({ database, now }: Services, { projectId, id }: Proposal): Promise<void> {
  await inTransaction(database, async (tx) => {
    const where = {
      projectId,
      id,
      status: { in: ['PENDING', 'APPROVED'] as Proposal['status'][] },
    };
    const { count } = await tx.proposal.updateMany({
      where: { ...where, expireTime: { lte: now() } },
      data: { status: 'EXPIRED', dueTime: null, updateTime: now() },
    });
    if (count === 0) return;
    const expired = await tx.proposal.findUniqueOrThrow({
      where: { projectId_id: { projectId, id } },
    });
    await recordProposalEvent(tx, 'PROPOSAL_EXPIRED', expired, {});
  });
}
