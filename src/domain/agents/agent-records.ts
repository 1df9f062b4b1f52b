/**
 * Reads records and operations for agents, with values under the builder's names. Records and pages have a bounded
 * size, because a model's context is small.
 */
import { z } from 'zod';
import { notFound } from '../../kernel/errors.ts';
import { id } from '../../kernel/ids.ts';
import type { Call } from '../access/call.ts';
import { projectRead } from '../access/declared-read.ts';
import { orAgent } from '../access/viewer/needs.ts';
import { orNull } from '../base/input-schemas.ts';
import { createInputIssue, requireNoIssues } from '../base/issues.ts';
import { projectIdOrName } from '../base/names.ts';
import type { ObjectContract } from '../data/contract/contract-resource.ts';
import type { FieldContract } from '../data/contract/field-contract.ts';
import { listReadFields } from '../data/contract/formats/generated.ts';
import { findFieldValue, toTypedValue } from '../data/contract/read-values.ts';
import type { ObjectOfGroup } from '../data/operation/object-installation.ts';
import { listObjectRecords, readObjectRecord } from '../data/operation/object-records.ts';
import { getOperation } from '../data/operation/operation.ts';
import type { AccountRecord, RecordsPage } from '../data/operation/record-search.ts';
import {
  agentFieldNames,
  agentGroupRef,
  agentObjectName,
  listUnknownFieldIssues,
} from './agent-contract.ts';
import {
  asEndUser,
  authorizeAgent,
  findGrant,
  getAgentContract,
  getContractObject,
} from './agent-objects.ts';

/** The maximum length of a string, in characters. Longer strings are mostly emails and documents. */
const TEXT_LENGTH_MAX = 2_000;
/** The maximum size of a response's records as JSON, in bytes. */
const BYTES_MAX = 100_000;
/** The maximum nesting depth of lists and objects in a value. */
const DEPTH_MAX = 8;
/** The maximum number of items in a list, and of members in an object. */
const ITEMS_MAX = 200;

interface BoundedFields {
  /** Values by the contract's names. */
  fields: Record<string, unknown>;
  /** Fields that did not fit in the response. Another call can read them. */
  remainingFields: string[];
}

interface BoundedRecord extends BoundedFields {
  id: string;
}

/** Returns the record with as many of these fields as fit in a response. */
function toBoundedRecord(record: AccountRecord, fields: readonly FieldContract[]): BoundedRecord {
  const values = fields.map((field): [string, unknown] => [field.name, readValue(record, field)]);
  return { id: record.id, ...boundFields(values) };
}

/** Returns the value in the contract's type. A value that can't be converted stays as the provider returned it. */
function readValue(record: AccountRecord, field: FieldContract): unknown {
  const value = findFieldValue(record, field.name);
  const typedValue = toTypedValue(field, value, null);
  return typedValue === undefined ? value : typedValue;
}

/** Truncates the values and omits fields that do not fit in a response. */
export function boundFields(values: readonly [name: string, value: unknown][]): BoundedFields {
  const entries: [string, unknown][] = [];
  const remainingFields: string[] = [];
  let bytes = 0;
  for (const [name, value] of values) {
    const entry: [string, unknown] = [name, boundValue(value)];
    const size = countBytes(entry);
    if (bytes + size > BYTES_MAX) {
      remainingFields.push(name);
    } else {
      entries.push(entry);
      bytes += size;
    }
  }
  return { fields: Object.fromEntries(entries), remainingFields };
}

/** Returns the first records that fit in a response together, but at least one. */
export function takeFittingRecords(records: readonly BoundedRecord[]): BoundedRecord[] {
  const fittingRecords: BoundedRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    bytes += countBytes(record);
    if (fittingRecords.length > 0 && bytes > BYTES_MAX) break;
    fittingRecords.push(record);
  }
  return fittingRecords;
}

function countBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Truncates strings, lists and objects in a provider's value, and marks what was cut. */
function boundValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return boundText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH_MAX) return '[truncated: nested too deep]';
  if (Array.isArray(value)) {
    const items = value.slice(0, ITEMS_MAX).map((item) => boundValue(item, depth + 1));
    const excess = value.length - items.length;
    return excess > 0 ? [...items, `[truncated: ${excess} more items]`] : items;
  }
  const members = Object.entries(value);
  const boundedMembers = members
    .slice(0, ITEMS_MAX)
    .map(([name, member]) => [name, boundValue(member, depth + 1)]);
  const excess = members.length - boundedMembers.length;
  return Object.fromEntries([
    ...boundedMembers,
    ...(excess > 0 ? [['[truncated]', `${excess} more members`]] : []),
  ]);
}

/** Truncates a string, and appends its length. */
export function boundText(text: string, lengthMax = TEXT_LENGTH_MAX): string {
  if (text.length <= lengthMax) return text;
  const start = text.slice(0, lengthMax).toWellFormed();
  return `${start}… [truncated: ${text.length} characters]`;
}

/** The maximum number of records in one call. */
export const AGENT_RECORDS_MAX = 50;
const RECORDS_DEFAULT = 20;
const CONDITIONS_MAX = 50;

const fieldName = z.string().min(1).max(256);

export const agentRecordsInput = z.object({
  projectIdOrName,
  groupRef: agentGroupRef,
  objectName: agentObjectName,
  ids: orNull(z.array(z.string().min(1).max(256)).min(1).max(AGENT_RECORDS_MAX)).describe(
    `Only the records with these ids, at most ${AGENT_RECORDS_MAX}.`,
  ),
  where: orNull(
    z
      .record(fieldName, z.union([z.string(), z.number(), z.boolean()]))
      .refine((where) => Object.keys(where).length <= CONDITIONS_MAX, {
        error: `must have at most ${CONDITIONS_MAX} fields.`,
      }),
  ).describe('Only records whose fields equal these values. Cannot be combined with ids.'),
  fields: agentFieldNames,
  first: orNull(z.int().min(1).max(AGENT_RECORDS_MAX)).describe(
    `How many records, 1 to ${AGENT_RECORDS_MAX}. Default: ${RECORDS_DEFAULT}. Cannot be combined with ids.`,
  ),
  after: orNull(z.string().max(8_192)).describe('The nextCursor of the previous page.'),
});
type Input = z.output<typeof agentRecordsInput>;

interface AgentRecords {
  records: BoundedRecord[];
  /** Ids for which the account has no record. */
  missingIds: string[];
  /** Ids whose records did not fit in the response. Another call can read them. */
  remainingIds: string[];
  /** The cursor of the next page. Null after the last page. */
  nextCursor: string | null;
}

/** Throws OBJECT_NOT_GRANTED or VERB_NOT_GRANTED for an agent without the right, and the errors of `listObjectRecords`. */
export const listAgentRecords = projectRead(
  orAgent('records:read', 'READ'),
  "Reads records of the customer's account, as they are now.",
  async (call, input: Input, { id: projectId }): Promise<AgentRecords> => {
    const { objectName, ids, groupRef } = input;
    const readerCall = authorizeAgent(call, objectName, 'READ');
    const agentContract = await getAgentContract(call, { projectId, groupRef });
    const object = getContractObject(agentContract, objectName, ids ? 'READ_BY_ID' : 'LIST');
    requireNoIssues(listInputIssues(input, object));
    const fields = listReadFields(object).filter(
      ({ name }) => input.fields?.includes(name) ?? true,
    );
    const source = { projectId, objectName, groupRef };
    return ids
      ? readRecords(readerCall, source, { ids: [...new Set(ids)], fields })
      : listRecords(readerCall, source, { input, fields });
  },
);

function* listInputIssues({ ids, where, first, after, fields }: Input, object: ObjectContract) {
  if (ids !== null) {
    for (const [name, value] of Object.entries({ where, first, after })) {
      if (value !== null) yield createInputIssue([name], 'must not be combined with ids.');
    }
  }
  yield* listUnknownFieldIssues(fields, listReadFields(object));
}

async function readRecords(
  call: Call,
  source: ObjectOfGroup,
  { ids, fields }: { ids: readonly string[]; fields: readonly FieldContract[] },
): Promise<AgentRecords> {
  const results = await Promise.all(ids.map((id) => readObjectRecord(call, source, id)));
  const boundedRecords = results.flatMap((result) =>
    result ? toBoundedRecord(result.record, fields) : [],
  );
  const records = takeFittingRecords(boundedRecords);
  return {
    records,
    missingIds: ids.filter((_, index) => results[index] === null),
    remainingIds: boundedRecords.slice(records.length).map(({ id }) => id),
    nextCursor: null,
  };
}

async function listRecords(
  call: Call,
  source: ObjectOfGroup,
  { input, fields }: { input: Input; fields: readonly FieldContract[] },
): Promise<AgentRecords> {
  const { where, first, after } = input;
  const { page } = await listObjectRecords(call, source, {
    where: where ?? {},
    first: first ?? RECORDS_DEFAULT,
    after,
  });
  const records = takeFittingRecords(page.edges.map(({ node }) => toBoundedRecord(node, fields)));
  return {
    records,
    missingIds: [],
    remainingIds: [],
    nextCursor: findNextCursor(page, records.length),
  };
}

/** Returns the cursor after the first `count` records of the page. Null if no record follows. */
function findNextCursor({ edges, pageInfo }: RecordsPage, count: number): string | null {
  if (count < edges.length) return edges[count - 1]?.cursor ?? null;
  return pageInfo.hasNextPage ? pageInfo.endCursor : null;
}

export const agentOperationInput = z.object({
  projectIdOrName,
  operationId: id.describe('The id of the operation.'),
});

/** Throws NOT_FOUND for an operation that the caller may not see. An agent sees the operations of its own proposals. */
export const getAgentOperation = projectRead(
  orAgent('read'),
  'Gets the operation of a committed write, with its status and result.',
  async (call, { operationId }: { operationId: string }, { id: projectId }) => {
    const grant = findGrant(call.viewer);
    if (grant) {
      const proposal = await call.database.prisma.proposal.findFirst({
        where: { projectId, operationId, agentSessionId: grant.sessionId },
        select: { id: true },
      });
      if (!proposal) throw notFound('Operation', operationId);
    }
    return getOperation(asEndUser(call), { projectIdOrName: projectId, operationId });
  },
);
