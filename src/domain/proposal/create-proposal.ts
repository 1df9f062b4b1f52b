/** Creates proposals: validates a write completely, and reads the current values of its record. */
import { z } from 'zod';
import { notFound } from '../../errors.ts';
import { authorizeAgent, getAgentContract, getContractObject } from '../agent/agent-objects.ts';
import type { Call } from '../call.ts';
import type { ObjectContract } from '../contract/contract-resource.ts';
import { listReadFields } from '../contract/formats/generated.ts';
import { listValueIssues } from '../contract/written-values.ts';
import { projectMutation } from '../declared-mutation.ts';
import { createInputIssue, requireNoIssues } from '../issues.ts';
import { projectIdOrName, ref } from '../names.ts';
import {
  getServedContent,
  getServingInstallation,
  type ServingInstallation,
} from '../operation/object-installation.ts';
import { createEntry } from '../operation/read/read-message.ts';
import { readRecordsById } from '../operation/records-by-id.ts';
import { createRecordVersion } from '../operation/write/record-version.ts';
import { recordValues } from '../operation/write/write-input.ts';
import type { WritePlan } from '../operation/write/write-plan.ts';
import { writeType } from '../provider/provider.ts';
import { toStorableJson } from '../storable-json.ts';
import { orAgent } from '../viewer/needs.ts';
import type { Proposal } from './proposal.ts';
import { hashPlan, planProposedWrite } from './proposed-write.ts';
import { type CurrentRecord, storeProposal } from './store-proposal.ts';

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
  async run(call, input, { id: projectId }): Promise<Proposal> {
    const { objectName, type } = input;
    const endUserCall = authorizeAgent(call, objectName, type);
    const agentContract = await getAgentContract(call, {
      projectId,
      groupRef: input.groupRef ?? null,
    });
    const object = getContractObject(agentContract, objectName, type);
    requireNoIssues(listInputIssues(input, { object, hash: agentContract.contract.hash }));
    const { groupRef } = agentContract.group;
    const servingInstallation = await getServingInstallation(endUserCall, {
      projectId,
      objectName,
      groupRef,
    });
    const recordId = input.recordId ?? null;
    const write = { type, recordId, after: input.values ?? {} };
    const { plan } = await planProposedWrite(endUserCall, servingInstallation, write);
    const writtenFields = listWrittenFields(plan);
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
      defaults: pickDefaults(plan, object),
      planHash: hashPlan(plan),
    });
  },
});

function* listInputIssues(
  { type, recordId, values }: Input,
  { object, hash }: { object: ObjectContract; hash: string },
) {
  const path = ['input', 'values'];
  if (type === 'CREATE' && recordId != null) {
    yield createInputIssue(
      ['input', 'recordId'],
      'must not be given: the provider chooses the id of a new record.',
    );
  }
  if (type !== 'CREATE' && recordId == null) {
    yield createInputIssue(
      ['input', 'recordId'],
      `is required: name the record to ${type.toLowerCase()}.`,
    );
  }
  if (type === 'DELETE') {
    if (values != null) yield createInputIssue(path, 'must not be given for a DELETE.');
    return;
  }
  if (values == null) yield createInputIssue(path, 'is required: set at least one field.');
  else yield* listValueIssues({ hash, object, type, values, path });
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
  const { plan, records } = await readRecordsById(call, content, {
    objectName: servingInstallation.providerObject,
    ids: [recordId],
    otherFields: writtenFields,
  });
  const [record] = records;
  if (!record) throw notFound('Record', recordId);
  const { fields, mappedFields } = createEntry(record, plan);
  const values = { ...fields, ...mappedFields };
  const names =
    type === 'DELETE' ? listReadFields(object).map(({ name }) => name) : Object.keys(after);
  const providerNames = new Map(
    object.fields.map(({ name, providerField }) => [name, providerField]),
  );
  const findValue = (name: string) =>
    values[name] ?? record.fields[providerNames.get(name) ?? name] ?? null;
  const before = Object.fromEntries(names.map((name) => [name, findValue(name)]));
  const versionedFields = [...new Set([...plan.fields, ...writtenFields])];
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
