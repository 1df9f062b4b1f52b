/** Reads records for agents, with values under the builder's names and in pages of a bounded size. */
import { z } from 'zod';
import type { Call } from '../call.ts';
import type { ObjectContract } from '../contract/contract-resource.ts';
import type { FieldContract } from '../contract/field-contract.ts';
import { listReadFields } from '../contract/formats/generated.ts';
import { projectRead } from '../declared-read.ts';
import { createInputIssue, requireNoIssues } from '../issues.ts';
import { projectIdOrName } from '../names.ts';
import type { ObjectOfGroup } from '../operation/object-installation.ts';
import { listObjectRecords, readObjectRecord } from '../operation/object-records.ts';
import type { RecordsPage } from '../operation/record-search.ts';
import { orNull } from '../optional-value.ts';
import { orAgent } from '../viewer/needs.ts';
import {
  agentFieldNames,
  agentGroupRef,
  agentObjectName,
  listUnknownFieldIssues,
} from './agent-contract.ts';
import { authorizeAgent, getAgentContract, getContractObject } from './agent-objects.ts';
import { type BoundedRecord, takeFittingRecords, toBoundedRecord } from './bounded-records.ts';

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
