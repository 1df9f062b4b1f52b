/**
 * Creates proposals: validates a write completely, reads the current values of its record, and stores the proposal. A
 * rule of the agent session may approve a proposal immediately.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Row } from '../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../database/transactions/transaction.ts';
import { notFound, unprocessable } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { enumValue, text } from '../../kernel/text.ts';
import { DAY_MS } from '../../work/durations.ts';
import type { Call, RowCall } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { lockRow } from '../access/row-changes.ts';
import { orAgent } from '../access/viewer/needs.ts';
import { formatPrincipal } from '../access/viewer/viewer.ts';
import { createInputIssue, requireNoIssues } from '../base/issues.ts';
import { projectIdOrName, ref } from '../base/names.ts';
import { sortJsonMembers, toStorableJson } from '../base/storable-json.ts';
import { writeType } from '../connections/provider/provider.ts';
import type { ObjectContract } from '../data/contract/contract-resource.ts';
import { listReadFields } from '../data/contract/formats/generated.ts';
import { listValueIssues } from '../data/contract/written-values.ts';
import {
  getServedContent,
  getServingInstallation,
  type ServingInstallation,
} from '../data/operation/object-installation.ts';
import { createEntry } from '../data/operation/read/read-message.ts';
import { readRecordsById } from '../data/operation/records-by-id.ts';
import {
  createMappingRules,
  createOmissionIssue,
  mapRecord,
} from '../data/operation/write/record-mapping.ts';
import { createRecordVersion, type RecordVersion } from '../data/operation/write/record-version.ts';
import { recordValues } from '../data/operation/write/write-input.ts';
import type { WritePlan } from '../data/operation/write/write-plan.ts';
import { authorizeAgent, findGrant, getAgentContract, getContractObject } from './agent-objects.ts';
import type { AgentSession } from './agent-session.ts';
import { type ApprovalRule, readRules } from './approval-rule.ts';
import type { Proposal } from './proposal.ts';
import { recordProposalEvent } from './proposal-event.ts';
import { hashWritePlan, planProposedWrite } from './proposed-write.ts';

const REASON_LENGTH_MAX = 2_000;

const createProposalInput = z
  .object({
    projectIdOrName,
    groupRef: ref
      .nullish()
      .describe(
        'The ref of the group whose record is written. Default: the group of the end user or the agent; other callers must name it.',
      ),
    objectName: z.string().min(1).max(256).describe("The builder's name of the object."),
    type: writeType.describe('Whether the record is created, updated or deleted.'),
    recordId: z
      .string()
      .min(1)
      .max(256)
      .nullish()
      .describe("The provider's id of the record to update or delete."),
    values: recordValues
      .nullish()
      .describe("The values to set, by the builder's field names. Not for a deletion."),
    reason: z
      .string()
      .trim()
      .max(REASON_LENGTH_MAX)
      .nullish()
      .describe('The reason for the write, for the person who approves it, up to 2000 characters.'),
  })
  .meta({ id: 'CreateProposalInput', description: 'The write to propose.' });

type Input = z.output<typeof createProposalInput>;

/**
 * Throws BAD_USER_INPUT that names every unknown, read-only, ill-typed or missing field, without a request to the
 * provider. Throws OBJECT_NOT_GRANTED or VERB_NOT_GRANTED for an agent without the right.
 */
export const createProposal = projectMutation({
  description:
    'Proposes a write of one record. The record is read, so that the approver sees the values before and after. Nothing is written until the proposal is approved and committed.',
  needs: orAgent('records:write', 'WRITE_RECORDS'),
  input: createProposalInput,
  async run(call, { values: proposedValues, ...otherInput }, { id: projectId }): Promise<Proposal> {
    const { objectName, type } = otherInput;
    const endUserCall = authorizeAgent(call, objectName, type);
    const agentContract = await getAgentContract(call, {
      projectId,
      groupRef: otherInput.groupRef ?? null,
    });
    const object = getContractObject(agentContract, objectName, type);
    const { groupRef } = agentContract.group;
    const servingInstallation = await getServingInstallation(endUserCall, {
      projectId,
      objectName,
      groupRef,
    });
    const omittedFields = listOmittedFields(servingInstallation, otherInput, proposedValues ?? {});
    const values = proposedValues && omitMembers(proposedValues, omittedFields);
    const input = { ...otherInput, values };
    const { hash } = agentContract.contract;
    requireNoIssues(listInputIssues(input, { object, hash, omittedFields }));
    const recordId = input.recordId ?? null;
    const write = { type, recordId, after: values ?? {} };
    const { writePlan } = await planProposedWrite(endUserCall, servingInstallation, write, {
      unknownFields: 'REFUSE',
    });
    const writtenFields = listWrittenFields(writePlan);
    const currentRecord =
      recordId === null
        ? null
        : await readCurrentRecord(endUserCall, {
            ...write,
            recordId,
            servingInstallation,
            object,
            writtenFields,
          });
    return storeProposal(call, {
      input,
      installation: servingInstallation.installation,
      currentRecord,
      defaults: pickDefaults(writePlan, object),
      omittedFields,
      planHash: hashWritePlan(writePlan),
    });
  },
});

/** Lists the names that the integration has, and that the write of the installation omits. */
function listOmittedFields(
  { content, config, providerObject }: ServingInstallation,
  { type, objectName }: Pick<Input, 'type' | 'objectName'>,
  record: Record<string, unknown>,
): string[] {
  const object = content.write?.objects.find((spec) => spec.objectName === providerObject) ?? null;
  const write = { type, objectName, unknownFields: 'REFUSE' } as const;
  const rules = createMappingRules(content, { config, object }, write);
  return mapRecord({ path: [], record, associations: null }, rules).omitted;
}

function omitMembers(values: Record<string, unknown>, names: readonly string[]) {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}

function* listInputIssues(
  { type, recordId, values }: Input,
  {
    object,
    hash,
    omittedFields,
  }: { object: ObjectContract; hash: string; omittedFields: string[] },
) {
  const path = ['values'];
  if (type === 'CREATE' && recordId != null) {
    yield createInputIssue(
      ['recordId'],
      'must not be given: the provider chooses the id of a new record.',
    );
  }
  if (type !== 'CREATE' && recordId == null) {
    yield createInputIssue(['recordId'], `is required: name the record to ${type.toLowerCase()}.`);
  }
  if (type === 'DELETE') {
    if (values != null)
      yield createInputIssue(path, text`must not be given for a ${enumValue('DELETE')}.`);
    return;
  }
  if (values == null) yield createInputIssue(path, 'is required: set at least one field.');
  else if (omittedFields.length > 0 && Object.keys(values).length === 0) {
    yield createOmissionIssue(path, omittedFields);
  } else yield* listValueIssues({ hash, object, type, values, path });
}

interface RecordToRead {
  servingInstallation: ServingInstallation;
  object: ObjectContract;
  type: Input['type'];
  recordId: string;
  after: Record<string, unknown>;
  /** The fields that the write sets, by the provider's names. */
  writtenFields: readonly string[];
}

/**
 * Reads the record with all fields that the write sets, even if the installation does not read them. Throws NOT_FOUND if
 * the record does not exist, and UNPROCESSABLE if the provider can't read records by id.
 */
async function readCurrentRecord(
  call: Call,
  { servingInstallation, object, type, recordId, after, writtenFields }: RecordToRead,
): Promise<CurrentRecord> {
  const content = await getServedContent(call, servingInstallation);
  const { readPlan, records } = await readRecordsById(call, content, {
    objectName: servingInstallation.providerObject,
    ids: [recordId],
    otherFields: writtenFields,
  });
  const [record] = records;
  if (!record) throw notFound('Record', recordId);
  const { fields, mappedFields } = createEntry(record, readPlan);
  const values = { ...fields, ...mappedFields };
  const names =
    type === 'DELETE' ? listReadFields(object).map(({ name }) => name) : Object.keys(after);
  const providerNames = new Map(
    object.fields.map(({ name, providerField }) => [name, providerField]),
  );
  const findValue = (name: string) =>
    values[name] ?? record.fields[providerNames.get(name) ?? name] ?? null;
  const before = Object.fromEntries(names.map((name) => [name, findValue(name)]));
  const versionedFields = [...new Set([...readPlan.fields, ...writtenFields])];
  return { before: toStorableJson(before), expected: createRecordVersion(record, versionedFields) };
}

function listWrittenFields({ entries }: WritePlan): string[] {
  return entries.flatMap(({ record }) => Object.keys(record)).filter((name) => name !== 'id');
}

/** Returns the values that the installation's config adds to the write, by the builder's names. */
function pickDefaults({ entries, defaults }: WritePlan, { fields }: ObjectContract) {
  const [entry] = entries;
  const namedValues = defaults.map((providerName) => {
    const field = fields.find(({ providerField }) => providerField === providerName);
    return [field?.name ?? providerName, entry?.record[providerName] ?? null];
  });
  return Object.fromEntries(namedValues) as Record<string, unknown>;
}

/** The maximum number of pending proposals of an agent session, because people must decide on them. */
const PENDING_MAX = 100;
/** The lifetime of a proposal that was created without an agent session. */
const LIFETIME_MS = DAY_MS;

interface CurrentRecord {
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
  omittedFields: string[];
  planHash: string;
}

/** Stores the proposal. A rule of the agent session may approve it immediately. */
async function storeProposal(
  call: RowCall,
  { input, installation, currentRecord, defaults, omittedFields, planHash }: ProposalToStore,
): Promise<Proposal> {
  const { projectId } = installation;
  const { viewer } = call;
  const sessionId = findGrant(viewer)?.sessionId ?? null;
  return inTransaction(call.database, async (tx) => {
    const session = sessionId === null ? null : await lockAgentSession(tx, projectId, sessionId);
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
        createdBy: formatPrincipal(viewer),
        ...(omittedFields.length > 0 && { omittedFields }),
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
async function lockAgentSession(
  tx: Transaction,
  projectId: string,
  id: string,
): Promise<AgentSession> {
  const session = await lockRow(tx, 'AgentSession', { projectId, id, noun: 'Agent session' });
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
  return hash('sha256', JSON.stringify(payload), 'hex');
}
