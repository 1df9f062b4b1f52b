import { expect, test } from 'vitest';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { createTestApp, getSharedApp } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { insertDestination } from '../../support/fixtures/integrations.ts';
import {
  createContact,
  createWriter,
  WRITE_RECORDS,
  type Writer,
} from '../../support/fixtures/writes.ts';

const app = await getSharedApp();
const { prisma } = app.app.services.database;

const fullSandbox = createSandboxProvider(() => 'http://sandbox.test');
/** The sandbox of this app supports only writes. No test calls it. */
const minimalApp = await getSharedApp({
  providers: [
    {
      ...fullSandbox,
      features: {
        associations: false,
        headers: false,
        idempotencyKeyLifetimeMs: null,
        allOrNoneTypes: [],
      },
      capabilities: { writeRecord: fullSandbox.capabilities.writeRecord },
    },
  ],
});

async function fetchRefusal(writer: Writer, input: object) {
  const { code, problem } = await writer.expectRefusal(
    WRITE_RECORDS,
    writer.createVariables(input),
  );
  const issues = (problem.issues ?? []).map(({ name, detail }) => `${name}: ${detail}`);
  return { code, issues, detail: problem.detail };
}

const countOperations = ({ projectId }: Writer) => prisma.operation.count({ where: { projectId } });

/** Every input of this writer is refused. */
const refusedWriter = await createWriter(app);
const record = createContact();
const associations = [
  { to: { id: 'c1' }, types: [{ associationCategory: 'SANDBOX', associationTypeId: 1 }] },
];

test.each<[object, string[]]>([
  [{ record, batch: [{ record }] }, ['input.records: must have exactly one of batch, record.']],
  [{ batch: [] }, ['input.records.batch: must not be empty.']],
  [
    { batch: Array.from({ length: 101 }, () => ({ record })) },
    ['input.records.batch: must have at most 100 items.'],
  ],
  [
    { type: 'UPDATE', record },
    ["input.records.record.id: must be the provider's id of the record to update."],
  ],
  [
    { type: 'UPDATE', batch: [{ record: { id: 'c1' } }, { record }, { record: { id: {} } }] },
    ['input.records.batch[1].record.id: must be', 'input.records.batch[2].record.id: must be'],
  ],
  [
    { type: 'DELETE', mode: 'ASYNCHRONOUS', record: { id: 'c1', email: 'x' }, associations },
    [
      'input.mode: must be SYNCHRONOUS',
      'input.associations',
      'input.records.record.email: must not be given',
    ],
  ],
  [
    { type: 'DELETE', batch: [{ record: { id: 'c1' } }] },
    ['input.records.batch: must not be given for a DELETE.'],
  ],
  [
    { record, retryPolicy: { deadlineHours: 49 }, autoBatchPolicy: { maxDelayMinutes: 0 } },
    [
      'input.retryPolicy.deadlineHours',
      'input.autoBatchPolicy.maxDelayMinutes',
      'input.retryPolicy',
      'input.autoBatchPolicy',
    ],
  ],
  [
    { mode: 'ASYNCHRONOUS', batch: [{ record }], autoBatchPolicy: { maxDelayMinutes: 1 } },
    ['input.autoBatchPolicy: must be given only with input.records.record.'],
  ],
  [
    { record, batchPolicy: { allOrNone: true } },
    ['input.batchPolicy: must be given only with input.records.batch.'],
  ],
  [{ batch: [{ record }], associations }, ['input.associations: must be given with each record']],
  [
    {
      record,
      headers: [
        { key: 'no spaces', value: 'x' },
        { key: 'Authorization', value: 'secret' },
        { key: 'x-ok', value: 'line\nbreak' },
        { key: 'X-OK', value: 'twice' },
      ],
    },
    [
      'input.headers[0].key',
      'input.headers[1].key',
      'input.headers[2].value',
      'input.headers[3].key',
    ],
  ],
  [
    { record: { email: 'x'.repeat(300_000) } },
    ['input.records.record: must be at most 262144 bytes as JSON.'],
  ],
  [{ record, idempotencyKey: '' }, ['input.idempotencyKey']],
  [
    { record, objectName: 'deals' },
    ['input.objectName: is not an object that the integration writes.'],
  ],
  [{ record, groupRef: 'unknown' }, ['input.groupRef: is not a group of the project.']],
])('reports invalid input at its position, and creates no operation: case %#', async (input, expected) => {
  const { code, issues } = await fetchRefusal(refusedWriter, input);
  expect(code).toBe('BAD_USER_INPUT');
  expect(issues).toHaveLength(expected.length);
  for (const issueStart of expected) {
    expect(issues).toContainEqual(
      expect.stringMatching(new RegExp(`^${RegExp.escape(issueStart)}`)),
    );
  }
  expect(await countOperations(refusedWriter)).toBe(0);
});

test('repeats no header value in a refusal', async () => {
  const headers = [{ key: 'Authorization', value: 'planted-secret' }];
  const refusal = await refusedWriter.expectRefusal(
    WRITE_RECORDS,
    refusedWriter.createVariables({ record, headers }),
  );
  expect(JSON.stringify(refusal)).not.toContain('planted-secret');
});

test('returns UNPROCESSABLE for a write that the config does not allow', async () => {
  const writer = await createWriter(app, { config: { write: [{ objectName: 'contacts' }] } });
  expect(await fetchRefusal(writer, { type: 'DELETE', record: { id: 'c1' } })).toMatchObject({
    code: 'UNPROCESSABLE',
    issues: ['input.type: is not enabled for the object in the config of the installation.'],
  });
  expect(await fetchRefusal(writer, { objectName: 'companies', record })).toMatchObject({
    code: 'UNPROCESSABLE',
    issues: ['input.objectName: is not written by the installation.'],
  });
  expect(await countOperations(writer)).toBe(0);
});

test('returns UNPROCESSABLE for members that the provider does not support', async () => {
  const config = { write: [{ objectName: 'contacts' }] };
  const writer = await createWriter(minimalApp, { config });
  const headers = [{ key: 'x-sandbox-trace', value: '1' }];
  expect(await fetchRefusal(writer, { record, associations, headers })).toMatchObject({
    code: 'UNPROCESSABLE',
    issues: [
      'input.associations: are not supported by Sandbox CRM.',
      'input.headers: are not supported by Sandbox CRM.',
    ],
  });
  expect((await fetchRefusal(writer, { batch: [{ record, associations }] })).issues).toEqual([
    'input.records.batch: is not supported by Sandbox CRM.',
    'input.records.batch[0].associations: are not supported by Sandbox CRM.',
  ]);
  const collectedWrite = { mode: 'ASYNCHRONOUS', record, autoBatchPolicy: { maxDelayMinutes: 1 } };
  expect((await fetchRefusal(writer, collectedWrite)).issues).toEqual([
    'input.autoBatchPolicy: is not supported by Sandbox CRM.',
  ]);
  expect((await fetchRefusal(writer, { type: 'DELETE', record: { id: 'c1' } })).issues).toEqual([
    'input.type: is not enabled for the object in the config of the installation.',
    'input.type: is not supported by Sandbox CRM.',
  ]);
});

test('sends associations and headers to a provider that supports them', async () => {
  const writer = await createWriter(app);
  const company = await writer.write({ objectName: 'companies', record: { name: 'Acme' } });
  const to = { id: company.result.recordId };
  const types = [{ associationCategory: 'SANDBOX', associationTypeId: 1 }];
  const { result } = await writer.write({
    record: createContact(),
    associations: [{ to, types }],
    headers: [{ key: 'X-Sandbox-Trace', value: 'one' }],
  });
  expect(result).toMatchObject({ success: true });
  expect(result.data.echoedHeaders).toEqual({ 'x-sandbox-trace': 'one' });
});

test('returns NOT_FOUND for an integration that is unknown or not installed for the group', async () => {
  const writer = await createWriter(app);
  expect(await fetchRefusal(writer, { record, integrationIdOrName: 'other' })).toMatchObject({
    code: 'NOT_FOUND',
  });
  await prisma.group.create({
    data: {
      id: `grp_${writer.installationId.slice(4)}`,
      projectId: writer.projectId,
      groupRef: 'idle',
      groupName: 'idle',
    },
  });
  expect(await fetchRefusal(writer, { record, groupRef: 'idle' })).toMatchObject({
    code: 'NOT_FOUND',
    detail: 'The group idle has not installed crm.',
  });
});

test("returns NOT_FOUND for another tenant's project, and writes nothing", async () => {
  const [writer, otherTenant] = [await createWriter(app), await app.createTenant()];
  const { code } = await otherTenant.expectRefusal(
    WRITE_RECORDS,
    writer.createVariables({ record: createContact() }),
  );
  expect(code).toBe('NOT_FOUND');
  expect(await countOperations(writer)).toBe(0);
});

test('returns FORBIDDEN for a key without the scope', async () => {
  const writer = await createWriter(app);
  const reader = await writer.withScopes('read');
  const { code } = await reader.expectRefusal(
    WRITE_RECORDS,
    writer.createVariables({ record: createContact() }),
  );
  expect(code).toBe('FORBIDDEN');
  const scoped = await writer.withScopes('records:write');
  const response = await scoped.query(
    'mutation WriteRecords($input: WriteRecordsInput!) { writeRecords(input: $input) { successCount } }',
    writer.createVariables({ record: createContact() }),
  );
  expect(response.writeRecords.successCount).toBe(1);
});

test(
  'refuses asynchronous writes while a project has too many pending deliveries',
  { tags: ['all/rows'] },
  async () => {
    await using limitedApp = await createTestApp({ env: { LIMIT_PENDING_DELIVERIES: '1' } });
    const writer = await createWriter(limitedApp);
    const { projectId } = writer;
    const { id: destinationId } = await insertDestination(limitedApp, writer, 'slow');
    await insertRows(limitedApp).delivery({
      projectId,
      destinationId,
      nextAttemptTime: new Date(),
    });
    const input = { mode: 'ASYNCHRONOUS', record: createContact() };
    expect(await writer.expectRefusal(WRITE_RECORDS, writer.createVariables(input))).toMatchObject({
      code: 'RATE_LIMITED',
      problem: { retryAfterSeconds: 30 },
    });
    expect((await writer.write({ record: createContact() })).successCount).toBe(1);
  },
);
