/** What a caller asks to be written: the shape, and the rules between its parts. */
import { z } from 'zod';
import type { Issue } from '../../../errors.ts';
import { problemWithName, problemWithValue } from '../../event/target-headers.ts';
import { integrationIdOrName } from '../../integration/integration.ts';
import { issueAt } from '../../issues.ts';
import { projectIdOrName, ref } from '../../names.ts';
import { orDefault, orNull } from '../../optional-value.ts';

export const WRITE_LIMITS = {
  batch: 100,
  /** As JSON: several of the longest texts that a CRM's field holds. */
  recordBytes: 256 * 1024,
  fields: 1_000,
  associations: 100,
  associationTypes: 20,
  headers: 20,
} as const;

/** Proof of who asks is the connection's, never a caller's. */
const CREDENTIAL_HEADERS = new Set(['authorization', 'cookie', 'x-api-key']);

const record = z.record(z.string(), z.unknown()).superRefine((fields, context) => {
  const problem =
    Object.keys(fields).length > WRITE_LIMITS.fields
      ? `must have at most ${WRITE_LIMITS.fields} fields.`
      : Buffer.byteLength(JSON.stringify(fields)) > WRITE_LIMITS.recordBytes
        ? `must be at most ${WRITE_LIMITS.recordBytes} bytes as JSON.`
        : null;
  // Without the value: it would make the answer as large as what is refused.
  if (problem) context.addIssue({ code: 'custom', message: problem, params: { isSecret: true } });
});

const association = z
  .object({
    to: z
      .object({ id: z.string().min(1).max(256).describe("The provider's id of the record.") })
      .meta({ id: 'AssociationTargetInput', description: 'The record to associate with.' }),
    types: z
      .array(
        z
          .object({
            associationCategory: z.string().min(1).max(64).describe('Who defined the type.'),
            associationTypeId: z.number().int().describe("The provider's id of the type."),
          })
          .meta({ id: 'AssociationTypeInput', description: 'A kind of association.' }),
      )
      .min(1)
      .max(WRITE_LIMITS.associationTypes)
      .describe('In which ways the two belong together.'),
  })
  .meta({ id: 'AssociationInput', description: 'Another record that the written one belongs to.' });

const associations = z.array(association).max(WRITE_LIMITS.associations);

const header = z
  .object({
    key: z.string().describe('Its name.'),
    value: z.string().describe('Its value.'),
  })
  .meta({ id: 'HeaderInput', description: 'A header of the request to the provider.' });

/** How long a write is tried again if its caller says nothing. */
export const RETRY_HOURS = 1;
const hours = orDefault(z.number().int().min(1).max(48), RETRY_HOURS);

export const writeRecordsInput = z
  .object({
    projectIdOrName,
    integrationIdOrName,
    objectName: z
      .string()
      .min(1)
      .max(256)
      .describe("The object, by the provider's or mapped name."),
    groupRef: ref.describe('The group whose account is written to.'),
    type: z
      .enum(['CREATE', 'UPDATE', 'DELETE'])
      .meta({ id: 'WriteType', description: 'What to do with the records.' }),
    mode: orDefault(
      z.enum(['SYNCHRONOUS', 'ASYNCHRONOUS']).meta({ id: 'WriteMode' }),
      'SYNCHRONOUS',
    ).describe('Whether to wait for the outcome.'),
    record: record
      .nullish()
      .describe('The record; with id for an update, with id alone for a deletion.'),
    batch: z
      .array(
        z
          .object({
            record: record.describe('The record; with id for an update.'),
            associations: associations.nullish().describe('What it is associated with.'),
          })
          .meta({ id: 'BatchRecordInput', description: 'One record of a batch.' }),
      )
      .min(1)
      .max(WRITE_LIMITS.batch)
      .nullish()
      .describe('1 to 100 records, to create or update together.'),
    retryPolicy: z
      .object({ deadlineHours: hours.describe('1 to 48.') })
      .meta({
        id: 'RetryPolicyInput',
        description: 'How long an asynchronous write is tried again; ignored with auto-batching.',
      })
      .nullish()
      .describe('Only for an asynchronous write.'),
    autoBatchPolicy: z
      .object({
        maxDelayMinutes: z.number().int().min(1).max(1440).describe('1 to 1440.'),
        retryDeadlineHours: hours.describe('1 to 48.'),
      })
      .meta({
        id: 'AutoBatchPolicyInput',
        description:
          'Single writes are collected: 100 of them, or until the first has waited so long.',
      })
      .nullish()
      .describe('Only for an asynchronous write of a single record.'),
    batchPolicy: z
      .object({
        allOrNone: orDefault(z.boolean(), false).describe(
          'One refused record refuses all, where the provider can do that.',
        ),
      })
      .meta({ id: 'BatchPolicyInput', description: 'How a batch is written.' })
      .nullish()
      .describe('Only with batch.'),
    associations: associations.nullish().describe('Only for a single record of some providers.'),
    headers: orNull(z.array(header).max(WRITE_LIMITS.headers)).describe('Only for some providers.'),
    idempotencyKey: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .describe('Under the same key the same input is written once in 24 hours.'),
  })
  .meta({ id: 'WriteRecordsInput', description: 'Records to write: record or batch, not both.' });

/** As it was given: its rules may be broken. */
export type GivenWrite = z.input<typeof writeRecordsInput>;
export type WriteInput = z.output<typeof writeRecordsInput>;

export interface GivenRecord {
  /** Where it is in the input. */
  path: readonly PropertyKey[];
  record: Record<string, unknown>;
  associations: GivenWrite['associations'];
}

/** The records in their order, a single one being a list of one. */
export function givenRecords({ record, batch, associations }: GivenWrite): GivenRecord[] {
  const single = record ? [{ path: ['input', 'record'], record, associations }] : [];
  const several = (batch ?? []).map((item, index) => ({
    path: ['input', 'batch', index, 'record'],
    record: item.record,
    associations: item.associations,
  }));
  return [...single, ...several];
}

/** What does not go together, whatever the integration and the provider. */
export function* writeIssues(input: GivenWrite): Generator<Issue> {
  const { record: single, batch, type } = input;
  const issue = (name: string, detail: string) => issueAt(['input', name], detail);
  if (single && batch) yield issue('batch', 'must not be given together with record.');
  if (!single && !batch) yield issue('record', 'is needed, or batch.');
  if (type === 'DELETE') yield* deletionIssues(input);
  else if (input.associations && batch) {
    yield issue('associations', 'must be given with each record of the batch.');
  }
  if (input.batchPolicy && !batch) yield issue('batchPolicy', 'must be given only with batch.');
  yield* modeIssues(input);
  yield* headerIssues(input);
  for (const given of givenRecords(input)) yield* idIssues(type, given);
}

function* modeIssues({ mode, batch, retryPolicy, autoBatchPolicy }: GivenWrite): Generator<Issue> {
  const isAsynchronous = mode === 'ASYNCHRONOUS';
  const detail = 'must be given only with the mode ASYNCHRONOUS.';
  if (retryPolicy && !isAsynchronous) yield issueAt(['input', 'retryPolicy'], detail);
  if (autoBatchPolicy && !isAsynchronous) yield issueAt(['input', 'autoBatchPolicy'], detail);
  if (autoBatchPolicy && batch) {
    yield issueAt(['input', 'autoBatchPolicy'], 'must be given only with a single record.');
  }
}

function* deletionIssues(input: GivenWrite): Generator<Issue> {
  if (input.mode === 'ASYNCHRONOUS') {
    yield issueAt(['input', 'mode'], 'must be SYNCHRONOUS for a DELETE.', input.mode);
  }
  if (input.batch) yield issueAt(['input', 'batch'], 'must not be given for a DELETE.');
  if (input.associations)
    yield issueAt(['input', 'associations'], 'must not be given for a DELETE.');
  for (const name of Object.keys(input.record ?? {})) {
    if (name === 'id') continue;
    yield issueAt(['input', 'record', name], 'must not be given: a DELETE takes the id alone.');
  }
}

const recordId = z.union([z.string().min(1).max(256), z.int()]);

function* idIssues(type: GivenWrite['type'], { path, record }: GivenRecord): Generator<Issue> {
  if (type === 'CREATE' || recordId.safeParse(record.id).success) return;
  const detail = `must be the provider's id of the record to ${type.toLowerCase()}.`;
  yield issueAt([...path, 'id'], detail, record.id);
}

/** Without values: a header may hold what is nobody's business. */
function* headerIssues({ headers }: GivenWrite): Generator<Issue> {
  const seen = new Set<string>();
  for (const [index, { key, value }] of (headers ?? []).entries()) {
    const name = key.toLowerCase();
    const problem = CREDENTIAL_HEADERS.has(name)
      ? 'is a header that the connection sets.'
      : problemWithName(key, seen);
    seen.add(name);
    if (problem) yield issueAt(['input', 'headers', index, 'key'], problem);
    const wrong = problemWithValue(value);
    if (wrong) yield issueAt(['input', 'headers', index, 'value'], wrong);
  }
}
