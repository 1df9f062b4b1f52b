/**
 * Names in the input of a write that are not written. Names that the integration does not have are refused, except over
 * REST. Names that the installation does not map or write are omitted and listed.
 */
import { afterAll, expect, test } from 'vitest';
import {
  createAgent,
  createApprover,
  createProposalClient,
} from '../../support/fixtures/agents.ts';
import { recordEvents } from '../../support/fixtures/connections.ts';
import {
  createTypedClient,
  installPeople,
  startTypedApi,
} from '../../support/fixtures/typed-api.ts';
import { startWriteJobs } from '../../support/fixtures/writes.ts';
import { toGraphqlInput } from '../../support/inputs/graphql-input.ts';
import { connectMcp } from '../../support/mcp/mcp-client.ts';

const app = await startTypedApi();
const { prisma } = app.app.services.database;
const workers = await startWriteJobs(app);
afterAll(() => workers[Symbol.asyncDispose]());

/** The integration has the names `lastName`, `emailAddress`, `score` and `tier`. */
const tenant = await app.createTenant();
const installationId = await installPeople(app, tenant, {
  integration: 'crm',
  provider: 'sandbox',
  groupRef: 'acme',
  config: {
    read: [{ objectName: 'contacts', selectedFields: ['score'] }],
    write: [
      {
        objectName: 'contacts',
        fields: [{ fieldName: 'score', writeOnCreate: 'NEVER', writeOnUpdate: 'NEVER' }],
      },
    ],
  },
});

let count = 0;
const createPerson = (members: object = {}): Record<string, unknown> => ({
  emailAddress: `ada-${++count}@example.test`,
  lastName: 'Lovelace',
  ...members,
});
/** Names that the installation does not map, and never writes. */
const UNWRITTEN = { tier: 'gold', score: 7 };
const UNWRITTEN_NAMES = ['tier', 'score'];
const SUGGESTION = 'is not a field that the integration names for people. Did you mean lastName?';

const WRITE_RECORDS = `mutation WriteRecords($input: WriteRecordsInput!) {
  writeRecords(input: $input) {
    operationId omittedFields
    operation { metadata { omittedFields } }
    result { success omittedFields }
    results { success omittedFields }
  }
}`;
const createVariables = (members: object) => ({
  input: toGraphqlInput({
    projectIdOrName: tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
    objectName: 'people',
    type: 'CREATE',
    ...members,
  }),
});
const write = async (members: object) =>
  (await tenant.query(WRITE_RECORDS, createVariables(members))).writeRecords;

const listLines = (operationId: string) =>
  prisma.operationLog.findMany({ where: { operationId }, orderBy: { id: 'asc' } });

/** Resolves to the ended operation. */
async function waitForOperation(operationId: string) {
  const row = await prisma.operation.findFirstOrThrow({ where: { id: operationId } });
  let lastRow = row;
  for await (const { node } of app.app.services.operationChanges.follow(row)) lastRow = node;
  return lastRow;
}

async function requestRest(payload: object, headers: Record<string, string> = {}) {
  const response = await app.app.rest.inject({
    method: 'POST',
    url: `/v1/projects/${tenant.projectId}/integrations/crm/objects/people`,
    headers: { 'x-api-key': tenant.apiKey, 'content-type': 'application/json', ...headers },
    payload: JSON.stringify({ groupRef: 'acme', type: 'create', ...payload }),
  });
  return { status: response.statusCode, body: response.json(), warning: response.headers.warning };
}

const createWarning = (name: string) =>
  `299 - "${name}: is omitted, because the integration does not name it, or the installation does not write it."`;

test('refuses names that the integration does not have, with the nearest name, and writes nothing', async () => {
  const operationCount = await prisma.operation.count({ where: { installationId } });
  const single = await tenant.expectRefusal(
    WRITE_RECORDS,
    createVariables({ record: { ...createPerson(), lastNmae: 'Lost', xyz: 1 } }),
  );
  expect(single).toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(single.problem.issues).toMatchObject([
    { name: 'input.records.record.lastNmae', detail: SUGGESTION },
    {
      name: 'input.records.record.xyz',
      detail:
        "is not a field that the integration names for people. Use a name in the integration's manifest. To accept any field, its builder can set `valueDefaults.allowAnyFields`.",
    },
  ]);
  const batch = [{ record: createPerson() }, { record: { lastNmae: 'Lost' } }];
  for (const mode of ['SYNCHRONOUS', 'ASYNCHRONOUS']) {
    const refusal = await tenant.expectRefusal(WRITE_RECORDS, createVariables({ mode, batch }));
    expect(refusal.problem.issues).toMatchObject([
      { name: 'input.records.batch[1].record.lastNmae', detail: SUGGESTION },
    ]);
  }
  expect(await prisma.operation.count({ where: { installationId } })).toBe(operationCount);
});

test('suggests names for the first 20 unknown names', async () => {
  const names = Array.from({ length: 21 }, (_, index) => `lastNam${index}`);
  const record = { ...createPerson(), ...Object.fromEntries(names.map((name) => [name, 1])) };
  const { problem } = await tenant.expectRefusal(WRITE_RECORDS, createVariables({ record }));
  const suggestedNames = problem.issues?.filter(({ detail }: { detail: string }) =>
    detail.includes('Did you mean'),
  );
  expect(problem.issues).toHaveLength(21);
  expect(suggestedNames).toHaveLength(20);
});

test('lists the names that the installation does not map or write, in the outcome and the log', async () => {
  const record = createPerson(UNWRITTEN);
  const single = await write({ record, idempotencyKey: 'omitted' });
  expect(single).toMatchObject({
    omittedFields: UNWRITTEN_NAMES,
    operation: { metadata: { omittedFields: UNWRITTEN_NAMES } },
    result: { success: true, omittedFields: UNWRITTEN_NAMES },
  });
  expect(await write({ record, idempotencyKey: 'omitted' })).toEqual(single);
  expect((await listLines(single.operationId))[0]?.details).toEqual({
    omittedFields: UNWRITTEN_NAMES,
  });
  const contacts = await app.sandbox.listRecords('contacts');
  const contact = contacts.find(({ email }) => email === record.emailAddress);
  expect(contact).toMatchObject({ lastname: 'Lovelace' });
  expect(contact?.score ?? null).toBeNull();
});

test('lists the names of each record of a batch, including refused records', async () => {
  const batch = [
    { record: createPerson({ tier: 'gold' }) },
    { record: createPerson() },
    { record: { lastName: 'No email', score: 1 } },
  ];
  expect(await write({ batch })).toMatchObject({
    omittedFields: UNWRITTEN_NAMES,
    results: [
      { success: true, omittedFields: ['tier'] },
      { success: true, omittedFields: [] },
      { success: false, omittedFields: ['score'] },
    ],
  });
});

test('lists the names of asynchronous writes before and after they end, and in their events', async () => {
  const listEvents = await recordEvents(app, tenant);
  const autoBatchPolicy = { maxDelayMinutes: 1 };
  const accepted = await write({ mode: 'ASYNCHRONOUS', record: createPerson({ tier: 'gold' }) });
  expect(accepted).toMatchObject({
    omittedFields: ['tier'],
    operation: { metadata: { omittedFields: ['tier'] } },
    result: null,
  });
  const collected = await Promise.all(
    [{ score: 1 }, {}].map((members) =>
      write({ mode: 'ASYNCHRONOUS', autoBatchPolicy, record: createPerson(members) }),
    ),
  );
  expect(collected.map(({ omittedFields }) => omittedFields)).toEqual([['score'], []]);
  await prisma.writeTask.updateMany({
    where: { installationId, batchKey: { not: null } },
    data: { dueTime: new Date(0) },
  });
  const operationIds = [accepted, ...collected].map(({ operationId }) => operationId);
  const operations = await Promise.all(operationIds.map(waitForOperation));
  expect(operations).toMatchObject([
    { status: 'SUCCESS', metadata: { omittedFields: ['tier'] } },
    { status: 'SUCCESS', metadata: { omittedFields: ['score'] } },
    { status: 'SUCCESS', metadata: { objects: ['contacts'] } },
  ]);
  const events = await listEvents();
  const namesByOperation = operationIds.map((id) => {
    const event = events.find(({ data }) => (data as { operationId?: string }).operationId === id);
    return (event?.data as { omittedFields?: string[] }).omittedFields;
  });
  expect(namesByOperation).toEqual([['tier'], ['score'], undefined]);
});

test('omits unknown names over REST, and lists them in the response and a header', async () => {
  const record = createPerson({ lastNmae: 'Lost', tier: 'gold' });
  const names = ['tier', 'lastNmae'];
  const warning = names.map(createWarning).join(', ');
  const idempotencyKey = { 'idempotency-key': 'rest-omitted' };
  for (const _call of ['first', 'repeated']) {
    expect(await requestRest({ record }, idempotencyKey)).toMatchObject({
      status: 200,
      body: { omittedFields: names, result: { success: true } },
      warning,
    });
  }
  const batch = [{ record: createPerson({ lastNmae: 'Lost' }) }, { record: createPerson() }];
  const batchResponse = await requestRest({ batch });
  expect(batchResponse).toMatchObject({
    body: { successCount: 2, omittedFields: ['lastNmae'] },
    warning: createWarning('lastNmae'),
  });
  const accepted = await requestRest({ mode: 'asynchronous', record: createPerson({ xyz: 1 }) });
  expect(accepted).toEqual({
    status: 200,
    body: { operationId: expect.any(String), omittedFields: ['xyz'] },
    warning: createWarning('xyz'),
  });
  const failed = await requestRest({ record: { lastName: 'No email', xyz: 1 } });
  expect(failed).toMatchObject({
    status: 422,
    body: { omittedFields: ['xyz'], result: { success: false } },
    warning: createWarning('xyz'),
  });
  expect(await requestRest({ record: { xyz: 1 } })).toMatchObject({
    status: 400,
    body: {
      issues: [
        { detail: 'has no field that is written. These names are omitted: xyz.', name: 'record' },
      ],
    },
  });
});

test('lists a bounded number of names', async () => {
  const names = Array.from({ length: 300 }, (_, index) => [`${index}${'x'.repeat(300)}`, 1]);
  const { body, warning } = await requestRest({
    record: createPerson(Object.fromEntries(names)),
  });
  expect(body.omittedFields).toHaveLength(200);
  expect(Math.max(...body.omittedFields.map((name: string) => name.length))).toBe(256);
  expect(warning).toContain('And 195 more.');
  expect(String(warning).length).toBeLessThanOrEqual(2_000);
  const { metadata } = await waitForOperation(body.operationId);
  expect(metadata).toMatchObject({ omittedFields: body.omittedFields });
});

test('adds nothing to responses of REST whose names are all written', async () => {
  const { body, warning } = await requestRest({ record: createPerson() });
  expect(Object.keys(body).sort()).toEqual(['operationId', 'result']);
  expect(Object.keys(body.result).sort()).toEqual(['data', 'recordId', 'success']);
  expect(warning).toBeUndefined();
});

test('accepts any name if the object allows any fields or names are those of the provider', async () => {
  for (const write of [
    { inheritMapping: false },
    { inheritMapping: true, valueDefaults: { allowAnyFields: true } },
  ]) {
    const ownTenant = await app.createTenant();
    await installPeople(app, ownTenant, {
      integration: 'crm',
      provider: 'sandbox',
      groupRef: 'acme',
      write,
    });
    const record = { email: `any-${++count}@example.test`, phone: '1' };
    const input = { ...createVariables({ record }).input, projectIdOrName: ownTenant.projectId };
    const { writeRecords } = await ownTenant.query(WRITE_RECORDS, { input });
    expect(writeRecords).toMatchObject({ omittedFields: [], result: { success: true } });
    const contacts = await app.sandbox.listRecords('contacts');
    expect(contacts).toContainEqual(expect.objectContaining(record));
  }
});

test('omits fields that an installation has not selected if the integration offers every field', async () => {
  const ownTenant = await app.createTenant();
  await installPeople(app, ownTenant, {
    integration: 'crm',
    provider: 'sandbox',
    groupRef: 'acme',
    read: { optionalFieldsAuto: 'ALL' },
  });
  const record = createPerson({ phone: '1' });
  const input = { ...createVariables({ record }).input, projectIdOrName: ownTenant.projectId };
  const { writeRecords } = await ownTenant.query(WRITE_RECORDS, { input });
  expect(writeRecords).toMatchObject({ omittedFields: ['phone'], result: { success: true } });
});

test('lists the names in outcomes of the typed API, and refuses unknown ones', async () => {
  const client = createTypedClient(app, tenant);
  const mutation = `mutation CreatePeople($input: CreatePeopleInput!) {
    createPeople(group: "acme", input: $input) { success omittedFields }
  }`;
  const { createPeople } = await client.query(mutation, { input: createPerson(UNWRITTEN) });
  expect(createPeople).toEqual({ success: true, omittedFields: UNWRITTEN_NAMES });
  const refusal = await client.expectRefusal(mutation, {
    input: { ...createPerson(), lastNmae: 'Lost' },
  });
  expect(refusal.code).toBe('BAD_USER_INPUT');
  expect(JSON.stringify(refusal)).toContain('lastName');
});

test('refuses names of the typed API that another integration has, with the nearest name', async () => {
  const ownTenant = await app.createTenant();
  await installPeople(app, ownTenant, {
    integration: 'crm',
    provider: 'sandbox',
    groupRef: 'acme',
  });
  await installPeople(app, ownTenant, {
    integration: 'leads',
    provider: 'zoho',
    groupRef: 'globex',
    read: {
      optionalFields: [{ fieldName: 'Company' }, { fieldName: 'Score', mapToName: 'scores' }],
    },
    write: { valueDefaults: { allowAnyFields: true } },
    config: { read: [{ objectName: 'Leads' }], write: [{ objectName: 'Leads' }] },
  });
  const client = createTypedClient(app, ownTenant);
  const mutation = `mutation CreatePeople($input: CreatePeopleInput!) {
    createPeople(group: "acme", input: $input) { success }
  }`;
  const { code, problem } = await client.expectRefusal(mutation, {
    input: { ...createPerson(), scores: '1', _otherFields: { lastNmae: 'Lost' } },
  });
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues).toMatchObject([
    { name: 'input.scores', detail: expect.stringContaining('Did you mean score?') },
    { name: 'input.lastNmae', detail: expect.stringContaining('Did you mean lastName?') },
  ]);
});

test('lists the names in proposals and their outcomes, and refuses unknown ones', async () => {
  const agent = await createAgent(app, tenant);
  const approver = await createApprover(app, tenant);
  const { call } = await connectMcp(app, agent);
  const propose = (values: object) =>
    call('propose_write', { objectName: 'people', type: 'CREATE', values });
  const refusal = await propose({ ...createPerson(), lastNmae: 'Lost' });
  expect(refusal).toMatchObject({ isError: true, data: { code: 'BAD_USER_INPUT' } });
  expect(refusal.data.issues).toMatchObject([
    { name: 'values.lastNmae', detail: expect.stringContaining('Did you mean lastName?') },
  ]);

  const emptyUpdate = { objectName: 'people', type: 'UPDATE', recordId: 'con_1' };
  const emptyRefusal = await call('propose_write', { ...emptyUpdate, values: { tier: 'gold' } });
  expect(emptyRefusal.data.issues).toMatchObject([
    {
      name: 'values',
      detail: 'has no field that is written. These names are omitted: tier.',
    },
  ]);

  const person = createPerson();
  const { data, text } = await propose({ ...person, ...UNWRITTEN });
  expect(data).toMatchObject({ status: 'PENDING', omittedFields: UNWRITTEN_NAMES });
  expect(Object.keys(data.fields).sort()).toEqual(Object.keys(person).sort());
  expect(text).toContain("It omits tier, score, which this customer's setup does not write.");
  const { proposalId, payloadHash } = data;
  const query = `query Proposal($id: ID!) { node(id: $id) { ... on Proposal { omittedFields } } }`;
  expect((await tenant.query(query, { id: proposalId })).node.omittedFields).toEqual(
    UNWRITTEN_NAMES,
  );
  await createProposalClient(tenant).approve(approver, proposalId);
  const { data: committed } = await call('commit_write', { proposalId, payloadHash });
  expect(committed).toMatchObject({
    success: true,
    proposal: { status: 'COMMITTED', omittedFields: UNWRITTEN_NAMES },
  });
  const { operationId } = committed;
  expect((await call('get_operation', { operationId })).data).toMatchObject({
    status: 'SUCCEEDED',
    omittedFields: UNWRITTEN_NAMES,
  });
  expect((await listLines(operationId))[0]?.details).toEqual({ omittedFields: UNWRITTEN_NAMES });
});
