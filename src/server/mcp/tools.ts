/** The tools of the MCP server: those of every caller, and those that propose one pinned kind of write. */

import { z } from 'zod';
import {
  describeAgentObject,
  describeObjectInput,
  type PinnedWrite,
  searchAgentObjects,
  searchObjectsInput,
} from '../../domain/agents/agent-contract.ts';
import {
  AGENT_RECORDS_MAX,
  agentOperationInput,
  agentRecordsInput,
  boundFields,
  getAgentOperation,
  listAgentRecords,
} from '../../domain/agents/agent-records.ts';
import { commitProposal } from '../../domain/agents/commit-proposal.ts';
import { createProposal } from '../../domain/agents/create-proposal.ts';
import {
  getProposal,
  listOmittedNames,
  listProposedFields,
  type Proposal,
  proposalInput,
} from '../../domain/agents/proposal.ts';
import { printColumn, printTexts } from '../../domain/base/stored-text.ts';
import {
  parseOperationMetadata,
  toOperationStatus,
} from '../../domain/data/operation/operation.ts';
import { defineTool, type Tool } from './tool.ts';
import type { ToolOutcome } from './tool-result.ts';

const searchObjectsTool = defineTool({
  name: 'search_objects',
  description:
    'Finds kinds of records (objects) of the customer by words of their names and fields. Start here. Then call describe_object.',
  effect: 'READ',
  callsProvider: true,
  input: searchObjectsInput,
  async run(call, input) {
    const { objects, total } = await searchAgentObjects(call, input);
    const shownObjects = objects.map(({ name, displayName, verbs, fields }) => ({
      name,
      displayName,
      verbs,
      fieldCount: fields.length,
    }));
    const rest = total > objects.length ? ` of ${total}. Search by words to see others` : '';
    const text = `Objects: ${objects.length}${rest}.`;
    return { text, data: { objects: shownObjects, total }, untrusted: ['/objects'] };
  },
});

const describeObjectTool = defineTool({
  name: 'describe_object',
  description:
    'Returns JSON Schemas of the object: a record that is read, and the values that propose_write accepts for CREATE and UPDATE. Null means not possible.',
  effect: 'READ',
  callsProvider: true,
  input: describeObjectInput,
  async run(call, input) {
    const { object, remainingFields, read, create, update } = await describeAgentObject(
      call,
      input,
    );
    const { name, displayName, verbs, filterable } = object;
    const isWhole = remainingFields.length === 0;
    const rest = isWhole ? '' : ' Others did not fit: call again with remainingFields as fields.';
    const schemas = { read, create, update };
    return {
      text: `The fields of the object. It supports ${verbs.join(', ')}.${rest}`,
      data: {
        name,
        displayName,
        verbs,
        filterable,
        ...schemas,
        ...(!isWhole && { remainingFields }),
      },
      untrusted: ['/displayName', '/filterable', '/read', '/create', '/update'],
    };
  },
});

const readRecordsTool = defineTool({
  name: 'read_records',
  description:
    "Reads records of the customer's account as they are now: a page of all, those that match, or those with ids.",
  effect: 'READ',
  callsProvider: true,
  itemsMax: AGENT_RECORDS_MAX,
  input: agentRecordsInput,
  async run(call, input) {
    const { records, missingIds, remainingIds, nextCursor } = await listAgentRecords(call, input);
    const remarks = [
      `${records.length} records of ${input.objectName}.`,
      missingIds.length > 0 ? `${missingIds.length} ids do not exist.` : '',
      remainingIds.length > 0 ? 'Others did not fit: call again with remainingIds as ids.' : '',
      nextCursor === null ? '' : 'More follow: call again with nextCursor as after.',
    ];
    const data = {
      records: records.map(({ id, fields, remainingFields }) => ({
        id,
        fields,
        ...(remainingFields.length > 0 && { remainingFields }),
      })),
      ...(missingIds.length > 0 && { missingIds }),
      ...(remainingIds.length > 0 && { remainingIds }),
      nextCursor,
    };
    return {
      text: remarks.filter(Boolean).join(' '),
      data,
      untrusted: ['/records', '/remainingIds'],
    };
  },
});

export const proposeWriteTool = defineTool({
  name: 'propose_write',
  description:
    'Proposes to create, update or delete one record. Call describe_object first. Nothing is written before an approval and commit_write.',
  effect: 'PROPOSE',
  callsProvider: true,
  input: createProposal.input,
  run: async (call, input) => showProposal(await createProposal(call, input)),
});

const getProposalTool = defineTool({
  name: 'get_proposal',
  description: 'Returns a proposal with its status. Poll it every few seconds while it is PENDING.',
  effect: 'READ',
  callsProvider: false,
  input: proposalInput,
  run: async (call, input) => showProposal(await getProposal(call, input)),
});

const commitWriteTool = defineTool({
  name: 'commit_write',
  description:
    'Writes an APPROVED proposal to the provider, once, if the record has not changed since.',
  effect: 'COMMIT',
  callsProvider: true,
  input: commitProposal.input,
  async run(call, input) {
    const { proposal, operation, result } = await commitProposal(call, input);
    const { success, recordId, errors } = result ?? { success: null, recordId: null, errors: [] };
    const data = {
      proposal: toProposalData(proposal),
      operationId: operation.id,
      success,
      recordId,
      errors: printTexts(call, errors),
    };
    return {
      text: describeOutcome(success),
      data,
      untrusted: ['/proposal/fields', '/proposal/decisionReason', '/recordId', '/errors'],
    };
  },
});

/** `success` is null while the write is running. */
function describeOutcome(success: boolean | null): string {
  if (success === null)
    return 'The write is running. Call get_operation with the operationId later.';
  if (success) return 'The record was written.';
  return 'The provider refused the write. Read the errors, then propose a corrected write.';
}

const getOperationTool = defineTool({
  name: 'get_operation',
  description: 'Returns the outcome of a committed write by the operationId of commit_write.',
  effect: 'READ',
  callsProvider: false,
  input: agentOperationInput,
  async run(call, input) {
    const operation = await getAgentOperation(call, input);
    const status = toOperationStatus(operation.status);
    const { successfulRecordIds, omittedFields } = parseOperationMetadata(operation);
    return {
      text: `The operation is ${status}.`,
      data: {
        operationId: operation.id,
        status,
        result: operation.result && printColumn(call, operation.result),
        recordIds: successfulRecordIds,
        ...(omittedFields.length > 0 && { omittedFields }),
      },
      untrusted: ['/result', '/recordIds'],
    };
  },
});

/** The tools in the order in which an agent needs them. */
export const TOOLS: readonly Tool[] = [
  searchObjectsTool,
  describeObjectTool,
  readRecordsTool,
  proposeWriteTool,
  getProposalTool,
  commitWriteTool,
  getOperationTool,
];

const EFFECTS = {
  CREATE: 'a new record',
  UPDATE: 'an update of a record',
  DELETE: 'the deletion of a record',
} as const satisfies Record<PinnedWrite['type'], string>;

const { projectIdOrName, recordId, values, reason } = createProposal.input.shape;
const requiredId = { recordId: recordId.unwrap().unwrap() };
const requiredValues = { values: values.unwrap().unwrap() };

const INPUTS = {
  CREATE: z.object({ projectIdOrName, ...requiredValues, reason }),
  UPDATE: z.object({ projectIdOrName, ...requiredId, ...requiredValues, reason }),
  DELETE: z.object({ projectIdOrName, ...requiredId, reason }),
};

/** Creates a tool that proposes one kind of write. Its values have the schema that describe_object returns. */
export function createPinnedTool({ name, type, objectName, valuesSchema }: PinnedWrite): Tool {
  return defineTool<z.ZodObject>({
    name,
    description: `Proposes ${EFFECTS[type]} of ${JSON.stringify(objectName)}, like propose_write.`,
    effect: 'PROPOSE',
    callsProvider: true,
    input: INPUTS[type],
    ...(valuesSchema && { schemas: { values: valuesSchema } }),
    run: async (call, input) =>
      showProposal(await createProposal(call, { ...input, objectName, type })),
  });
}

const NEXT_STEPS: Record<Proposal['status'], string> = {
  PENDING: 'A person must approve it. Call get_proposal until it is APPROVED, then commit_write.',
  APPROVED: 'Call commit_write with its proposalId and payloadHash.',
  REJECTED: 'It is never written. Do not propose the same write again.',
  COMMITTING: 'Its write is running. Call get_proposal again later.',
  COMMITTED: 'Call get_operation with its operationId for the outcome.',
  EXPIRED: 'It was not committed in time. Propose the write again if it is still needed.',
  STALE: 'The record had changed, so nothing was written. Read it and propose the write again.',
};

function showProposal(proposal: Proposal): ToolOutcome {
  const { id, status } = proposal;
  const omittedFields = listOmittedNames(proposal);
  const remark =
    omittedFields.length > 0
      ? ` It omits ${omittedFields.join(', ')}, which this customer's setup does not write.`
      : '';
  return {
    text: `The proposal ${id} is ${status}. ${NEXT_STEPS[status]}${remark}`,
    data: toProposalData(proposal),
    untrusted: ['/fields', '/decisionReason'],
  };
}

/** Returns the proposal as data, with each changed field before and after the change. */
function toProposalData(proposal: Proposal): Record<string, unknown> {
  const { id, status, objectName, type, recordId, payloadHash, operationId } = proposal;
  const { decidedBy, decisionReason, expireTime } = proposal;
  const omittedFields = listOmittedNames(proposal);
  const changes = listProposedFields(proposal).map(({ name, before, after }): [string, unknown] => [
    name,
    { before, after },
  ]);
  const { fields, remainingFields } = boundFields(changes);
  return {
    proposalId: id,
    status,
    objectName,
    type,
    recordId,
    payloadHash,
    fields,
    ...(remainingFields.length > 0 && { remainingFields }),
    ...(omittedFields.length > 0 && { omittedFields }),
    decidedBy,
    decisionReason,
    operationId,
    expireTime: expireTime.toISOString(),
  };
}
