import { expect, test } from 'vitest';
import type { Provider, ProviderSession } from '../../src/providers/contract.ts';
import { createSandboxProvider } from '../../src/providers/sandbox/sandbox-provider.ts';
import type { SandboxServer } from '../../src/sandbox/server.ts';
import { createPlainSession } from '../support/providers/provider-session.ts';
import { startSandbox } from '../support/providers/sandbox.ts';
import { type ContractSubject, testProviderContract } from './contract.ts';

const API_KEY = 'sandbox-key-of-the-tests';

function createConnector(sandbox: SandboxServer): {
  session: ProviderSession;
  capabilities: Required<Provider['capabilities']>;
} {
  const { capabilities } = createSandboxProvider(() => sandbox.url);
  return {
    session: createPlainSession(sandbox.url, { 'x-api-key': API_KEY }),
    capabilities: capabilities as Required<Provider['capabilities']>,
  };
}

async function createSubject(): Promise<ContractSubject> {
  let now = new Date(0);
  const sandbox = await startSandbox(() => now);
  const { session } = createConnector(sandbox);
  const objectName = 'deals';
  return {
    provider: createSandboxProvider(() => sandbox.url),
    session,
    secret: API_KEY,
    objectName,
    textField: 'name',
    createValidRecord: (name) => ({ name, stage: 'new' }),
    invalidRecord: { name: 'a deal', stage: 'no such stage' },
    missingId: '404404',
    pageSizeMin: 10,
    hasChangeTimes: true,
    newFieldName: 'hobby',
    countRecords: () => sandbox.listRecords(objectName).length,
    async storeRecords(records) {
      const ids: string[] = [];
      for (const { record, changedAt } of records) {
        now = changedAt;
        const path = `/objects/${objectName}/records`;
        const { body } = await session.send({ method: 'POST', path, body: { record } });
        ids.push((body as { record: { id: string } }).record.id);
      }
      return ids;
    },
    failRequests(fault) {
      const times = 1_000;
      sandbox.faults.set(
        fault === 'DROPPED_CONNECTION' ? { drop: 'after', times } : { ...fault, times },
      );
    },
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

testProviderContract('sandbox', createSubject);

test('describes fields of every type except OTHER', async () => {
  await using sandbox = await startSandbox();
  const { session, capabilities } = createConnector(sandbox);
  const descriptions = await Promise.all(
    ['contacts', 'companies', 'deals'].map((name) => capabilities.describeObject(session, name)),
  );
  const fields = descriptions.flatMap((object) => object.fields);
  expect(new Set(fields.map(({ valueType }) => valueType))).toEqual(
    new Set([
      'STRING',
      'BOOLEAN',
      'SINGLE_SELECT',
      'MULTI_SELECT',
      'DATE',
      'DATETIME',
      'INT',
      'FLOAT',
      'REFERENCE',
    ]),
  );
  expect(fields).toContainEqual({
    fieldName: 'annual_spend',
    displayName: 'Annual spend',
    valueType: 'FLOAT',
    providerType: 'decimal',
    readOnly: false,
    isCustom: true,
    isRequired: false,
    values: null,
    referenceTo: null,
  });
});

test.each([
  ['a key', { 'x-api-key': 'sandbox-key' }, { 'x-api-key': 'another key' }],
  ['a customer’s own key', { 'x-api-key': 'sandbox-key-of-acme' }, { 'x-api-key': 'key-of-acme' }],
  ['a custom input', { 'x-account-key': 'sandbox-key-2' }, { 'x-account-key': 'wrong' }],
  [
    'a password',
    createBasicHeader('sandbox', 'sandbox-password'),
    createBasicHeader('sandbox', 'wrong'),
  ],
  [
    'a user’s own password',
    createBasicHeader('ada', 'sandbox-password:1'),
    createBasicHeader('ada', ''),
  ],
  ['no credential', {}, { authorization: 'Bearer unknown-token' }],
])('accepts %s, and refuses a wrong one', async (_, rightCredentials, wrongCredentials) => {
  await using sandbox = await startSandbox();
  const { describeObject } = createConnector(sandbox).capabilities;
  const description = await describeObject(
    createPlainSession(sandbox.url, rightCredentials),
    'contacts',
  );
  expect(description.name).toBe('contacts');
  await expect(
    describeObject(createPlainSession(sandbox.url, wrongCredentials), 'contacts'),
  ).rejects.toMatchObject({
    kind: 'AUTH_INVALIDATED',
    status: 401,
  });
});

function createBasicHeader(user: string, password: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

test('returns every record although records are created and changed between pages', async () => {
  await using sandbox = await startSandbox();
  sandbox.seed('contacts', 250);
  const { session, capabilities } = createConnector(sandbox);
  const scores = new Map<string, unknown>();
  let cursor: string | undefined;
  for (let page = 1; page <= 5; page += 1) {
    const read = { objectName: 'contacts', fields: ['score'], pageSize: 100, cursor };
    const { records, nextCursor, estimatedTotal } = await capabilities.readPage(session, read);
    expect(estimatedTotal).toBe(250);
    for (const { id, fields } of records) scores.set(id, fields.score);
    if (nextCursor === null) break;
    cursor = nextCursor;
    sandbox.seed('contacts', 10);
    await capabilities.writeRecord(session, {
      type: 'UPDATE',
      objectName: 'contacts',
      record: { id: '1', score: 1_000 + page },
    });
  }
  const current = sandbox.listRecords('contacts').map(({ id, score }) => [id, score]);
  expect(current.length).toBeGreaterThan(250);
  expect(new Map(current as [string, unknown][])).toEqual(scores);
});

test('reports a missing field instead of reading without it', async () => {
  await using sandbox = await startSandbox();
  const { session, capabilities } = createConnector(sandbox);
  const read = { objectName: 'deals', fields: ['name', 'color'], pageSize: 10 };
  await expect(capabilities.readPage(session, read)).rejects.toMatchObject({
    kind: 'MISSING_FIELD',
    message: 'deals have no field color',
  });
});

test('throws CURSOR_GONE for a cursor from before a restart of the sandbox', async () => {
  await using stoppedSandbox = await startSandbox();
  await using restartedSandbox = await startSandbox();
  for (const sandbox of [stoppedSandbox, restartedSandbox]) sandbox.seed('deals', 3);
  const read = { objectName: 'deals', fields: ['name'], pageSize: 2 };
  const stopped = createConnector(stoppedSandbox);
  const { nextCursor } = await stopped.capabilities.readPage(stopped.session, read);
  const restarted = createConnector(restartedSandbox);
  await expect(
    restarted.capabilities.readPage(restarted.session, { ...read, cursor: nextCursor ?? '' }),
  ).rejects.toMatchObject({ kind: 'CURSOR_GONE', status: 410 });
});

test('stores associations, and returns the headers of the sandbox', async () => {
  await using sandbox = await startSandbox();
  const { session, capabilities } = createConnector(sandbox);
  const associations = [
    { to: { id: '7' }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 3 }] },
  ];
  const write = { type: 'CREATE', objectName: 'deals', record: { name: 'One' } } as const;
  const headers = [{ key: 'X-Sandbox-Trace', value: 'abc' }];
  const outcome = await capabilities.writeRecord(session, { ...write, associations, headers });
  expect(outcome.data).toMatchObject({ associations, echoedHeaders: { 'x-sandbox-trace': 'abc' } });
  const batch = { ...write, records: [{ record: { name: 'Two' }, associations }] };
  await capabilities.writeBatch(session, { ...batch, allOrNone: false });
  expect(sandbox.listRecords('deals')).toMatchObject([
    { name: 'One', associations },
    { name: 'Two', associations },
  ]);
});

test('refuses headers that would replace the connection’s own', async () => {
  await using sandbox = await startSandbox();
  const { session, capabilities } = createConnector(sandbox);
  const headers = [{ key: 'Authorization', value: 'Bearer mine' }];
  const target = { objectName: 'deals', headers };
  const record = { name: 'One' };
  const outcomes = [
    await capabilities.writeRecord(session, { ...target, type: 'CREATE', record }),
    ...(await capabilities.writeBatch(session, {
      ...target,
      type: 'CREATE',
      records: [{ record }],
      allOrNone: false,
    })),
    await capabilities.deleteRecord(session, { ...target, id: '1' }),
  ];
  for (const outcome of outcomes) {
    expect(outcome.errors).toEqual([expect.stringContaining('Authorization')]);
  }
  expect(sandbox.listRecords('deals')).toEqual([]);
});

test('creates one record when a lost request is retried with its key', async () => {
  await using sandbox = await startSandbox();
  const { session, capabilities } = createConnector(sandbox);
  sandbox.faults.set({ drop: 'after' });
  const write = {
    type: 'CREATE',
    objectName: 'deals',
    record: { name: 'Once' },
    idempotencyKey: 'key-1',
  } as const;
  await expect(capabilities.writeRecord(session, write)).rejects.toMatchObject({
    kind: 'DISCONNECTED',
    isOutcomeUnknown: true,
  });
  expect(await capabilities.writeRecord(session, write)).toMatchObject({ recordId: '1' });
  expect(sandbox.listRecords('deals')).toHaveLength(1);
  const repeated = await capabilities.writeRecord(session, { ...write, record: { name: 'Twice' } });
  expect(repeated.errors).toEqual(['This Idempotency-Key was used for another request']);
});

test('reports an unknown outcome for a write that timed out', async () => {
  await using sandbox = await startSandbox();
  const { capabilities } = createConnector(sandbox);
  sandbox.faults.set({ delayMs: 60_000 });
  const sessionWithTimeout = createPlainSession(sandbox.url, {}, { timeoutMs: 200 });
  const write = { type: 'CREATE', objectName: 'deals', record: { name: 'Slow' } } as const;
  await expect(capabilities.writeRecord(sessionWithTimeout, write)).rejects.toMatchObject({
    kind: 'TIMEOUT',
    isOutcomeUnknown: true,
  });
  await expect.poll(() => sandbox.listRecords('deals')).toMatchObject([{ name: 'Slow' }]);
});

test('reports that a stopped server was not reached', async () => {
  const sandbox = await startSandbox();
  const { session, capabilities } = createConnector(sandbox);
  await sandbox.close();
  await expect(capabilities.describeObject(session, 'deals')).rejects.toMatchObject({
    kind: 'UNREACHABLE',
    isOutcomeUnknown: false,
  });
});
