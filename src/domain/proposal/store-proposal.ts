/** Stores proposals. A rule of the agent session may approve a proposal immediately. */
import { createHash } from 'node:crypto';
import type { Row } from '../../database/rows.ts';
import { run, statements } from '../../database/statements.ts';
import { inTransaction, type Transaction } from '../../database/transaction.ts';
import { notFound, unprocessable } from '../../errors.ts';
import { newId } from '../../ids.ts';
import { DAY_MS } from '../../work/durations.ts';
import { findGrant } from '../agent/agent-objects.ts';
import type { AgentSession } from '../agent/agent-session.ts';
import { type ApprovalRule, readRules } from '../agent/approval-rule.ts';
import type { Call } from '../call.ts';
import type { RecordVersion } from '../operation/write/record-version.ts';
import { sortJsonMembers, toStorableJson } from '../storable-json.ts';
import { formatActor } from '../viewer/viewer.ts';
import type { Proposal } from './proposal.ts';
import { recordProposalEvent } from './proposal-event.ts';

/** The maximum number of pending proposals of an agent session, because people must decide on them. */
const PENDING_MAX = 100;
/** The lifetime of a proposal that was created without an agent session. */
const LIFETIME_MS = DAY_MS;

export interface CurrentRecord {
  /** The current values of the proposed fields. For a deletion, of all fields. */
  before: Record<string, unknown>;
  /** The version that the record must still have when the proposal is committed. */
  expected: RecordVersion;
}

/** A proposed write, by the builder's names. */
interface ProposalInput extends Pick<Proposal, 'objectName' | 'type'> {
  recordId?: string | null | undefined;
  values?: Record<string, unknown> | null | undefined;
  reason?: string | null | undefined;
}

interface ProposalToStore {
  input: ProposalInput;
  installation: Row<'Installation'>;
  currentRecord: CurrentRecord | null;
  defaults: Record<string, unknown>;
  planHash: string;
}

/** Stores the proposal. A rule of the agent session may approve it immediately. */
export async function storeProposal(
  call: Pick<Call, 'database' | 'now' | 'viewer'>,
  { input, installation, currentRecord, defaults, planHash }: ProposalToStore,
): Promise<Proposal> {
  const { projectId } = installation;
  const { viewer } = call;
  const sessionId = findGrant(viewer)?.sessionId ?? null;
  return inTransaction(call.database, async (tx) => {
    const session = sessionId === null ? null : await lockSession(tx, projectId, sessionId);
    const now = call.now();
    const names = [...Object.keys(input.values ?? {}), ...Object.keys(defaults)];
    const rule = session && (await findApprovingRule(tx, { session, input, names, now }));
    const lifetimeMs = session ? session.proposalSeconds * 1_000 : LIFETIME_MS;
    const expireTime = new Date(now.getTime() + lifetimeMs);
    const proposal = await tx.proposal.create({
      data: {
        id: newId('prp'),
        ...pickInstallation(installation),
        ...toPayloadColumns(input, { currentRecord, defaults }),
        consumerId: viewer.kind === 'END_USER' ? viewer.consumerId : null,
        agentSessionId: sessionId,
        createdBy: formatActor(viewer),
        payloadHash: hashPayload(input),
        planHash,
        reason: input.reason || null,
        status: rule ? 'APPROVED' : 'PENDING',
        ...(rule && { rule: rule.name, decidedBy: `rule:${rule.name}`, decideTime: now }),
        createTime: now,
        expireTime,
        dueTime: expireTime,
      },
    });
    await recordProposalEvent(tx, 'PROPOSAL_CREATED', proposal, {});
    if (rule) {
      const decision = { decidedBy: `rule:${rule.name}` };
      await recordProposalEvent(tx, 'PROPOSAL_APPROVED', proposal, decision);
    }
    return proposal;
  });
}

function pickInstallation({ id, projectId, groupId, integrationId }: Row<'Installation'>) {
  return { projectId, groupId, integrationId, installationId: id };
}

function toPayloadColumns(
  { objectName, type, recordId, values }: ProposalInput,
  { currentRecord, defaults }: Pick<ProposalToStore, 'currentRecord' | 'defaults'>,
) {
  return {
    objectName,
    type,
    recordId: recordId ?? null,
    after: sortJsonMembers(values ?? {}) as object,
    ...(Object.keys(defaults).length > 0 && { defaults: toStorableJson(defaults) as object }),
    ...(currentRecord && {
      before: currentRecord.before as object,
      expected: { ...currentRecord.expected },
    }),
  };
}

/** Locks the session, so that its proposals are stored one after the other and the limits of its rules are exact. */
async function lockSession(tx: Transaction, projectId: string, id: string): Promise<AgentSession> {
  const [session] = await run(
    tx,
    statements
      .selectFrom('AgentSession')
      .selectAll()
      .where('id', '=', id)
      .where('projectId', '=', projectId)
      .forUpdate(),
  );
  if (!session) throw notFound('Agent session', id);
  if (session.revokeTime !== null) throw unprocessable('The agent session was revoked.');
  const where = { projectId, agentSessionId: id, status: 'PENDING' } as const;
  if ((await tx.proposal.count({ where })) >= PENDING_MAX) {
    throw unprocessable(
      `The agent session has ${PENDING_MAX} pending proposals. Propose more when some of them are approved or rejected.`,
    );
  }
  return session;
}

/** Returns the first rule that matches the write and has not reached its limit in the last 24 hours. */
async function findApprovingRule(
  tx: Transaction,
  {
    session,
    input,
    names,
    now,
  }: { session: AgentSession; input: ProposalInput; names: readonly string[]; now: Date },
): Promise<ApprovalRule | null> {
  const { projectId, id: agentSessionId } = session;
  for (const rule of readRules(session)) {
    if (!matchesRule(rule, input, names)) continue;
    const approvedCount = await tx.proposal.count({
      where: {
        projectId,
        agentSessionId,
        rule: rule.name,
        createTime: { gt: new Date(now.getTime() - DAY_MS) },
      },
    });
    if (approvedCount < rule.maxPerDay) return rule;
  }
  return null;
}

/** True if the rule permits the write. `names` are the fields that the write sets. */
function matchesRule(
  { types, objects, fields }: ApprovalRule,
  input: ProposalInput,
  names: readonly string[],
): boolean {
  return (
    types.includes(input.type) &&
    (objects == null || objects.includes(input.objectName)) &&
    (fields == null || names.every((name) => fields.includes(name)))
  );
}

function hashPayload({ objectName, type, recordId, values }: ProposalInput): string {
  const payload = [objectName, type, recordId ?? null, sortJsonMembers(values ?? {})];
  return createHash('sha256').update(JSON.stringify(payload)).digest('hex');
}
