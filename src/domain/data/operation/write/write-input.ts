/** The input of a write: its schema, and the rules between its members. */
import { z } from 'zod';
import { enumValue, member, text } from '../../../../kernel/text.ts';
import type { ExclusiveMembers } from '../../../access/declared-mutation.ts';
import { orDefault, orNull } from '../../../base/input-schemas.ts';
import { checkRules, createRuleIssue } from '../../../base/issues.ts';
import { projectIdOrName, ref } from '../../../base/names.ts';
import { enumeration } from '../../../base/resource.ts';
import { writeType } from '../../../connections/provider/provider.ts';
import { findHeaderNameIssue, findHeaderValueIssue } from '../../../events/target-headers.ts';
import { integrationIdOrName } from '../../../integrations/integration/integration.ts';

export const WRITE_LIMITS = {
  batch: 100,
  /** Size as JSON. It fits several of the longest texts that a CRM field holds. */
  recordBytes: 256 * 1024,
  fields: 1_000,
  associations: 100,
  associationTypes: 20,
  headers: 20,
} as const;

/** Headers for credentials. Only the connection may set them. */
const CREDENTIAL_HEADERS = new Set(['authorization', 'cookie', 'x-api-key']);

/** The values of a record, by name of field. */
export const recordValues = z.record(z.string(), z.unknown()).superRefine((fields, context) => {
  const limit = describeExceededLimit(fields);
  // The issue omits the value, which would make the response as large as the rejected request.
  if (limit) context.addIssue({ code: 'custom', message: limit, params: { isSecret: true } });
});

function describeExceededLimit(fields: Record<string, unknown>): string | null {
  if (Object.keys(fields).length > WRITE_LIMITS.fields) {
    return `must have at most ${WRITE_LIMITS.fields} fields.`;
  }
  const byteLength = Buffer.byteLength(JSON.stringify(fields));
  return byteLength > WRITE_LIMITS.recordBytes
    ? `must be at most ${WRITE_LIMITS.recordBytes} bytes as JSON.`
    : null;
}

const association = z
  .object({
    to: z
      .object({ id: z.string().min(1).max(256).describe("The provider's id of the record.") })
      .meta({ id: 'AssociationTargetInput', description: 'The record to associate with.' }),
    types: z
      .array(
        z
          .object({
            associationCategory: z
              .string()
              .min(1)
              .max(64)
              .describe('The category of the type at the provider, like `HUBSPOT_DEFINED`.'),
            associationTypeId: z
              .number()
              .int()
              .describe("The provider's id of the association type."),
          })
          .meta({
            id: 'AssociationTypeInput',
            description: 'A type of association at the provider.',
          }),
      )
      .min(1)
      .max(WRITE_LIMITS.associationTypes)
      .describe('The types of the association.'),
  })
  .meta({
    id: 'AssociationInput',
    description: 'An association of the written record with another record.',
  });

const associations = z.array(association).max(WRITE_LIMITS.associations);

const header = z
  .object({
    key: z.string().describe('The name of the header.'),
    value: z.string().describe('The value of the header.'),
  })
  .meta({ id: 'HeaderInput', description: 'An HTTP header of the request to the provider.' });

/** How long a write is retried by default. */
export const RETRY_HOURS_DEFAULT = 1;
const retryHours = orDefault(z.number().int().min(1).max(48), RETRY_HOURS_DEFAULT);

const writeMode = enumeration(
  'WriteMode',
  'Whether the response to a write waits for its outcome.',
  {
    SYNCHRONOUS:
      "The response has the outcome if it is known 5 seconds before the server's LIMIT_MUTATION_MS (30 seconds by default). Otherwise, the write continues in the background, and its operation reports the outcome.",
    ASYNCHRONOUS:
      'The response comes immediately. The operation and the event WRITE_ASYNC_DONE report the outcome.',
  },
);

const members = z.object({
  projectIdOrName,
  integrationIdOrName,
  objectName: z
    .string()
    .min(1)
    .max(256)
    .describe("The object's mapped name, or its name at the provider."),
  groupRef: ref.describe('The ref of the group whose account is written to.'),
  type: writeType.describe('Whether records are created, updated or deleted.'),
  mode: orDefault(writeMode, 'SYNCHRONOUS').describe(
    'Whether the response waits for the outcome. Default: SYNCHRONOUS.',
  ),
  record: recordValues
    .nullish()
    .describe(
      'A single record: values by field name. An update needs its `id` too; a deletion takes the `id` alone.',
    ),
  batch: z
    .array(
      z
        .object({
          record: recordValues.describe(
            'The record: values by field name. An update needs its `id` too.',
          ),
          associations: associations
            .nullish()
            .describe('Associations of the record, for providers that can set them.'),
        })
        .meta({ id: 'BatchRecordInput', description: 'A record of a batch.' }),
    )
    .min(1)
    .max(WRITE_LIMITS.batch)
    .nullish()
    .describe('Records to create or update together, 1 to 100.'),
  retryPolicy: z
    .object({
      deadlineHours: retryHours.describe(
        'How long failed attempts are retried, in hours: 1 to 48. Default: 1.',
      ),
    })
    .meta({
      id: 'RetryPolicyInput',
      description:
        'How long failed attempts of an asynchronous write are retried. It is ignored with autoBatchPolicy.',
    })
    .nullish()
    .describe('Only for an asynchronous write: how long failed attempts are retried.'),
  autoBatchPolicy: z
    .object({
      maxDelayMinutes: z
        .number()
        .int()
        .min(1)
        .max(1440)
        .describe(
          'The maximum time that this record waits for others, in minutes: 1 to 1440. The batch is written when the first of its records has waited for its maximum time.',
        ),
      retryDeadlineHours: retryHours.describe(
        'How long failed attempts are retried, in hours: 1 to 48. Default: 1.',
      ),
    })
    .meta({
      id: 'AutoBatchPolicyInput',
      description:
        'Collects single writes into one batch. The batch is written when it has 100 records, or when one of them has waited for its maxDelayMinutes.',
    })
    .nullish()
    .describe(
      'Only for an asynchronous write of a single record: collects such writes into batches.',
    ),
  batchPolicy: z
    .object({
      allOrNone: orDefault(z.boolean(), false).describe(
        'If true, no record is written if one is refused. `Provider.allOrNone` lists the types for which the provider supports this. Default: false.',
      ),
    })
    .meta({ id: 'BatchPolicyInput', description: 'Whether a batch is written as a whole.' })
    .nullish()
    .describe('Only with batch: whether it is written as a whole.'),
  associations: associations
    .nullish()
    .describe('Associations of a single record, for providers that can set them.'),
  headers: orNull(z.array(header).max(WRITE_LIMITS.headers)).describe(
    'HTTP headers to send with the write, for providers that support them.',
  ),
  idempotencyKey: z
    .string()
    .min(1)
    .max(255)
    .nullish()
    .describe(
      'A key that the caller chooses, 1 to 255 characters. Calls with the same key and input within 24 hours write once.',
    ),
});

export type WriteInput = z.output<typeof members>;

export const writeRecordsInput = members.superRefine(checkRules(listIssues)).meta({
  id: 'WriteRecordsInput',
  description: 'The records to write, their object, and the group whose account gets them.',
  exclusive: {
    name: 'records',
    description: 'The records to write: one, or a batch.',
    isRequired: true,
    type: {
      id: 'RecordsToWriteInput',
      description: 'The records of a write: exactly one member.',
    },
    members: ['record', 'batch'],
  } satisfies ExclusiveMembers,
});

export interface InputRecord {
  /** The path of the record in the input. */
  path: readonly PropertyKey[];
  record: Record<string, unknown>;
  associations: WriteInput['associations'];
}

/** Returns the single record, or the records of the batch in their order. */
export function listInputRecords({ record, batch, associations }: WriteInput): InputRecord[] {
  const singleRecords = record ? [{ path: ['record'], record, associations }] : [];
  const batchRecords = (batch ?? []).map((batchRecord, index) => ({
    path: ['batch', index, 'record'],
    record: batchRecord.record,
    associations: batchRecord.associations,
  }));
  return [...singleRecords, ...batchRecords];
}

/** Lists the issues between members that do not depend on the provider. */
function* listIssues(input: WriteInput) {
  const { record, batch, type } = input;
  if (record && batch) {
    yield createRuleIssue(['batch'], text`must not be combined with ${member('record')}.`);
  }
  if (!record && !batch) {
    yield createRuleIssue(['record'], text`is required, unless ${member('batch')} is set.`);
  }
  if (type === 'DELETE') {
    yield* listDeletionIssues(input);
  } else if (input.associations && batch) {
    const detail = text`must be given with each record of ${member('batch')}.`;
    yield createRuleIssue(['associations'], detail);
  }
  if (input.batchPolicy && !batch) {
    yield createRuleIssue(['batchPolicy'], text`must be given only with ${member('batch')}.`);
  }
  yield* listModeIssues(input);
  yield* listHeaderIssues(input);
  for (const inputRecord of listInputRecords(input)) yield* listIdIssues(type, inputRecord);
}

function* listModeIssues({ mode, batch, retryPolicy, autoBatchPolicy }: WriteInput) {
  const isAsynchronous = mode === 'ASYNCHRONOUS';
  const detail = text`must be given only with the mode ${enumValue('ASYNCHRONOUS')}.`;
  if (retryPolicy && !isAsynchronous) yield createRuleIssue(['retryPolicy'], detail);
  if (autoBatchPolicy && !isAsynchronous) yield createRuleIssue(['autoBatchPolicy'], detail);
  if (autoBatchPolicy && batch) {
    yield createRuleIssue(['autoBatchPolicy'], text`must be given only with ${member('record')}.`);
  }
}

function* listDeletionIssues(input: WriteInput) {
  if (input.mode === 'ASYNCHRONOUS') {
    const detail = text`must be ${enumValue('SYNCHRONOUS')} for a ${enumValue('DELETE')}.`;
    yield createRuleIssue(['mode'], detail, { showsValue: true });
  }
  for (const name of ['batch', 'associations'] as const) {
    if (!input[name]) continue;
    yield createRuleIssue([name], text`must not be given for a ${enumValue('DELETE')}.`);
  }
  for (const name of Object.keys(input.record ?? {})) {
    if (name === 'id') continue;
    const detail = text`must not be given: a ${enumValue('DELETE')} accepts only the id.`;
    yield createRuleIssue(['record', name], detail);
  }
}

const recordId = z.union([z.string().min(1).max(256), z.int()]);

function* listIdIssues(type: WriteInput['type'], { path, record }: InputRecord) {
  if (type === 'CREATE' || recordId.safeParse(record.id).success) return;
  const detail = `must be the provider's id of the record to ${type.toLowerCase()}.`;
  yield createRuleIssue([...path, 'id'], detail, { showsValue: true });
}

/** Lists the issues of headers without their values, which may be secrets. */
function* listHeaderIssues({ headers }: WriteInput) {
  const earlierNames = new Set<string>();
  for (const [index, { key, value }] of (headers ?? []).entries()) {
    const name = key.toLowerCase();
    const nameIssue = CREDENTIAL_HEADERS.has(name)
      ? 'is a header that the connection sets.'
      : findHeaderNameIssue(key, earlierNames);
    earlierNames.add(name);
    if (nameIssue) yield createRuleIssue(['headers', index, 'key'], nameIssue);
    const valueIssue = findHeaderValueIssue(value);
    if (valueIssue) yield createRuleIssue(['headers', index, 'value'], valueIssue);
  }
}
