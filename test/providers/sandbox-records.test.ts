import { expect, test } from 'vitest';
import { createRecordRequest, startSandbox } from '../support/providers/sandbox.ts';

test('lists its objects, and describes their fields', async () => {
  await using sandbox = await startSandbox();
  const { body } = await sandbox.send({ path: '/objects' });
  expect(body).toEqual({
    objects: [
      { name: 'contacts', displayName: 'Contacts' },
      { name: 'companies', displayName: 'Companies' },
      { name: 'deals', displayName: 'Deals' },
    ],
  });
  const { body: contacts } = await sandbox.send({ path: '/objects/contacts' });
  expect(contacts).toMatchObject({
    fields: expect.arrayContaining([
      expect.objectContaining({ name: 'email', type: 'email', required: true, unique: true }),
      expect.objectContaining({ name: 'company_id', references: ['companies'] }),
    ]),
  });
  const { body: deals } = await sandbox.send({ path: '/objects/deals' });
  expect(deals).not.toMatchObject({
    fields: expect.arrayContaining([expect.objectContaining({ unique: true })]),
  });
});

test('creates, returns, updates and deletes a record', async () => {
  await using sandbox = await startSandbox(() => new Date('2026-02-03T04:05:06.789Z'));
  const record = { email: 'ada@example.test', interests: ['product', 'events'], score: 3 };
  const creation = await sandbox.send(createRecordRequest('contacts', record));
  expect(creation.status).toBe(201);
  const path = '/objects/contacts/records/1';
  expect((await sandbox.send({ path })).body).toMatchObject({
    record: {
      ...record,
      id: '1',
      phone: null,
      created_at: '2026-02-03T04:05:06.789Z',
      updated_at: '2026-02-03T04:05:06.789Z',
      associations: [],
    },
  });
  const changes = { phone: '+31 20 1', score: null };
  const changed = await sandbox.send({ method: 'PATCH', path, body: { record: changes } });
  expect(changed.body).toMatchObject({ record: { ...record, ...changes } });
  expect((await sandbox.send({ method: 'DELETE', path })).status).toBe(200);
  expect(await sandbox.send({ path })).toMatchObject({
    status: 404,
    body: { error: { code: 'record_not_found' } },
  });
});

test.each([
  ['unknown_field', { color: 'red' }],
  ['read_only_field', { id: '5' }],
  ['missing_field', { email: '' }],
  ['wrong_type', { email: 'nobody' }],
  ['wrong_type', { firstname: 5 }],
  ['wrong_type', { score: 1.5 }],
  ['wrong_type', { annual_spend: '12' }],
  ['wrong_type', { newsletter: 'yes' }],
  ['wrong_type', { birthday: '31-01-2026' }],
  ['wrong_type', { interests: 'product' }],
  ['invalid_option', { lifecycle: 'Lead' }],
  ['invalid_option', { interests: ['product', 'nothing'] }],
  ['reference_not_found', { company_id: '9' }],
  ['too_long', { lastname: 'x'.repeat(1_001) }],
])('refuses a contact for %s: %o', async (code, values) => {
  await using sandbox = await startSandbox();
  const record = { email: 'ada@example.test', ...values };
  const refusal = await sandbox.send(createRecordRequest('contacts', record));
  const [field] = Object.keys(values);
  expect(refusal).toMatchObject({ status: 400, body: { error: { code, field } } });
  expect(sandbox.listRecords('contacts')).toEqual([]);
});

test('reports every invalid value of a record', async () => {
  await using sandbox = await startSandbox();
  const refusal = await sandbox.send(
    createRecordRequest('deals', { amount: 'much', stage: 'odd' }),
  );
  expect(refusal.body).toMatchObject({
    errors: [
      { code: 'wrong_type', field: 'amount' },
      { code: 'invalid_option', field: 'stage' },
      { code: 'missing_field', field: 'name' },
    ],
  });
});

test('compares unique values regardless of case, and accepts them again when their record changes', async () => {
  await using sandbox = await startSandbox();
  const creation = await sandbox.send(
    createRecordRequest('contacts', { email: 'ada@example.test' }),
  );
  const repeated = createRecordRequest('contacts', { email: 'ADA@example.test' });
  expect(await sandbox.send(repeated)).toMatchObject({
    status: 409,
    body: { error: { code: 'not_unique', field: 'email' } },
  });
  const path = `/objects/contacts/records/${(creation.body as { record: { id: string } }).record.id}`;
  const update = {
    method: 'PATCH',
    path,
    body: { record: { email: 'Ada@example.test' } },
  } as const;
  expect((await sandbox.send(update)).status).toBe(200);
  await sandbox.send({ method: 'PATCH', path, body: { record: { email: 'eve@example.test' } } });
  expect((await sandbox.send(repeated)).status).toBe(201);
  await sandbox.send({ method: 'DELETE', path });
  const freed = createRecordRequest('contacts', { email: 'eve@example.test' });
  expect((await sandbox.send(freed)).status).toBe(201);
});

test('returns outcomes of a batch in order, and refuses a duplicate of a unique value', async () => {
  await using sandbox = await startSandbox();
  const emails = ['a@example.test', 'b@example.test', 'A@example.test'];
  const records = emails.map((email) => ({ record: { email } }));
  const path = '/objects/contacts/batch/create';
  const allOrNone = await sandbox.send({
    method: 'POST',
    path,
    body: { records, allOrNone: true },
  });
  expect(allOrNone.body).toMatchObject({
    results: [
      { success: false, errors: [{ code: 'not_written' }] },
      { success: false, errors: [{ code: 'not_written' }] },
      { success: false, errors: [{ code: 'not_unique', field: 'email' }] },
    ],
  });
  expect(sandbox.listRecords('contacts')).toEqual([]);
  const partial = await sandbox.send({ method: 'POST', path, body: { records } });
  expect(partial.body).toMatchObject({
    results: [{ success: true, record: { id: '1' } }, { success: true }, { success: false }],
  });
  expect(sandbox.listRecords('contacts')).toHaveLength(2);
});

test('updates a batch by id, and refuses records without one', async () => {
  await using sandbox = await startSandbox();
  sandbox.seed('deals', 2);
  const records = [{ id: '2', amount: 5 }, { amount: 6 }, { id: '1', amount: 7 }];
  const { body } = await sandbox.send({
    method: 'POST',
    path: '/objects/deals/batch/update',
    body: { records: records.map((record) => ({ record })) },
  });
  expect(body).toMatchObject({
    results: [
      { success: true, record: { id: '2', amount: 5 } },
      { success: false, errors: [{ code: 'record_not_found' }] },
      { success: true, record: { id: '1', amount: 7 } },
    ],
  });
});

test('refuses a batch of more than 100 records', async () => {
  await using sandbox = await startSandbox();
  const records = Array.from({ length: 101 }, () => ({ record: { name: 'Deal' } }));
  const path = '/objects/deals/batch/create';
  expect(await sandbox.send({ method: 'POST', path, body: { records } })).toMatchObject({
    status: 400,
    body: { error: { code: 'invalid_request', field: 'records' } },
  });
});

test('pages through the changes of a time range', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  await using sandbox = await startSandbox(() => now);
  for (const day of [1, 2, 3, 4]) {
    now = new Date(Date.UTC(2026, 0, day));
    sandbox.seed('deals', 2);
  }
  const query = {
    updated_since: '2026-01-02T00:00:00Z',
    updated_until: '2026-01-03T00:00:00Z',
    fields: 'name',
    limit: 3,
  };
  const path = '/objects/deals/records';
  const { body: firstPage } = await sandbox.send({ path, query });
  expect(firstPage).toMatchObject({
    records: [{ name: 'Deal 3' }, { name: 'Deal 4' }, { name: 'Deal 5' }],
    total: 4,
  });
  const { nextCursor: cursor } = firstPage as { nextCursor: string };
  const { body: lastPage } = await sandbox.send({ path, query: { ...query, cursor } });
  expect(lastPage).toEqual({
    records: [{ id: '6', updated_at: '2026-01-03T00:00:00.000Z', name: 'Deal 6' }],
    nextCursor: null,
    total: 4,
  });
});

test('repeats no write with an idempotency key for a day, separately for each caller', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  await using sandbox = await startSandbox(() => now);
  const key = { 'idempotency-key': 'key-1' };
  const ownKey = { ...key, 'x-api-key': 'sandbox-key-1' };
  const creation = await sandbox.send(createRecordRequest('deals', { name: 'One' }, ownKey));
  const repeated = await sandbox.send(createRecordRequest('deals', { name: 'One' }, ownKey));
  expect(repeated.body).toEqual(creation.body);
  expect(repeated.headers['idempotent-replayed']).toBe('true');
  expect(await sandbox.send(createRecordRequest('deals', { name: 'Two' }, ownKey))).toMatchObject({
    status: 409,
    body: { error: { code: 'idempotency_key_reused' } },
  });
  expect(sandbox.listRecords('deals')).toHaveLength(1);
  const otherKey = { ...key, 'x-api-key': 'sandbox-key-2' };
  await sandbox.send(createRecordRequest('deals', { name: 'Two' }, otherKey));
  expect(sandbox.listRecords('deals')).toHaveLength(2);
  now = new Date('2026-01-02T00:00:00Z');
  await sandbox.send(createRecordRequest('deals', { name: 'Three' }, ownKey));
  expect(sandbox.listRecords('deals')).toHaveLength(3);
});

test('accepts an idempotency key again after a refused write', async () => {
  await using sandbox = await startSandbox();
  const key = { 'idempotency-key': 'key-1' };
  expect((await sandbox.send(createRecordRequest('deals', {}, key))).status).toBe(400);
  expect((await sandbox.send(createRecordRequest('deals', { name: 'One' }, key))).status).toBe(201);
});

test('echoes only the sandbox headers of a write', async () => {
  await using sandbox = await startSandbox();
  const headers = { 'x-sandbox-trace': 'abc', 'x-api-key': 'sandbox-key', 'x-other': 'no' };
  const { body } = await sandbox.send(createRecordRequest('deals', { name: 'One' }, headers));
  expect(body).toMatchObject({ echoedHeaders: { 'x-sandbox-trace': 'abc' } });
  expect(JSON.stringify(body)).not.toMatch(/sandbox-key|x-other/);
});
