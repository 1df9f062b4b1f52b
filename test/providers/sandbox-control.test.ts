import { expect, test } from 'vitest';
import { createRecordRequest, startSandbox } from '../support/providers/sandbox.ts';

test('returns Retry-After when the requests of a second are used up', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  await using sandbox = await startSandbox(() => now);
  const settings = { requestsPerSecond: 0.5 };
  await sandbox.send({ method: 'PUT', path: '/control/settings', body: settings });
  expect((await sandbox.send({ path: '/objects' })).status).toBe(200);
  const limited = await sandbox.send({ path: '/objects' });
  expect(limited).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
  expect(limited.headers['retry-after']).toBe('2');
  now = new Date('2026-01-01T00:00:02Z');
  expect((await sandbox.send({ path: '/objects' })).status).toBe(200);
});

test('applies a fault to matching requests, up to its count', async () => {
  await using sandbox = await startSandbox();
  const fault = {
    status: 503,
    retryAfterSeconds: 9,
    times: 2,
    method: 'GET',
    pathPrefix: '/objects/deals',
  };
  await sandbox.send({ method: 'PUT', path: '/control/faults', body: fault });
  expect((await sandbox.send({ path: '/objects/contacts' })).status).toBe(200);
  expect((await sandbox.send(createRecordRequest('deals', { name: 'One' }))).status).toBe(201);
  for (let time = 1; time <= 2; time += 1) {
    const throttled = await sandbox.send({ path: '/objects/deals' });
    expect(throttled).toMatchObject({ status: 503, body: { error: { code: 'fault' } } });
    expect(throttled.headers['retry-after']).toBe('9');
  }
  expect((await sandbox.send({ path: '/objects/deals' })).status).toBe(200);
});

test('drops the connection before or after the request is executed', async () => {
  await using sandbox = await startSandbox();
  for (const drop of ['before', 'after'] as const) {
    await sandbox.send({ method: 'PUT', path: '/control/faults', body: { drop } });
    const sendPromise = sandbox.send(createRecordRequest('deals', { name: drop }));
    await expect(sendPromise).rejects.toMatchObject({ kind: 'DISCONNECTED' });
  }
  expect(sandbox.listRecords('deals')).toMatchObject([{ name: 'after' }]);
});

test('delays the response and not the execution', async () => {
  await using sandbox = await startSandbox();
  sandbox.faults.set({ delayMs: 20 });
  expect((await sandbox.send(createRecordRequest('deals', { name: 'Slow' }))).status).toBe(201);
  expect(sandbox.listRecords('deals')).toHaveLength(1);
});

test('applies no fault after they are cleared', async () => {
  await using sandbox = await startSandbox();
  await sandbox.send({ method: 'PUT', path: '/control/faults', body: { status: 500, times: 9 } });
  expect((await sandbox.send({ path: '/' })).status).toBe(500);
  expect((await sandbox.send({ method: 'DELETE', path: '/control/faults' })).status).toBe(204);
  expect((await sandbox.send({ path: '/' })).status).toBe(200);
});

test.each([
  [{}],
  [{ status: 200 }],
  [{ drop: 'sometimes' }],
  [{ drop: 'after', status: 500 }],
  [{ status: 500, unknown: true }],
])('refuses the fault %o', async (body) => {
  await using sandbox = await startSandbox();
  const refusal = await sandbox.send({ method: 'PUT', path: '/control/faults', body });
  expect(refusal).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
});

test('seeds deterministic records, and continues after existing ones', async () => {
  await using sandbox = await startSandbox();
  await sandbox.send(createRecordRequest('contacts', { email: 'contact-2@example.test' }));
  const body = { objectName: 'contacts', count: 2 };
  await sandbox.send({ method: 'POST', path: '/control/seed', body });
  expect((await sandbox.send({ method: 'POST', path: '/control/seed', body })).status).toBe(201);
  expect(sandbox.listRecords('contacts').map(({ email }) => email)).toEqual(
    [2, 1, 3, 4, 5].map((index) => `contact-${index}@example.test`),
  );
});

test('refuses to store more than a million records of an object', async () => {
  await using sandbox = await startSandbox();
  sandbox.seed('deals', 1);
  const body = { objectName: 'deals', count: 1_000_000 };
  expect(await sandbox.send({ method: 'POST', path: '/control/seed', body })).toMatchObject({
    status: 409,
    body: { error: { code: 'record_limit_reached' } },
  });
  expect(sandbox.listRecords('deals')).toHaveLength(1);
});

test('seeds only valid records', async () => {
  await using sandbox = await startSandbox();
  await using copy = await startSandbox();
  for (const objectName of ['contacts', 'companies', 'deals'] as const) {
    sandbox.seed(objectName, 60);
    const records = sandbox
      .listRecords(objectName)
      .map(({ id, created_at, updated_at, associations, ...record }) => ({ record }));
    const path = `/objects/${objectName}/batch/create`;
    const { body } = await copy.send({ method: 'POST', path, body: { records, allOrNone: true } });
    expect((body as { results: { errors?: unknown }[] }).results[0]?.errors).toBeUndefined();
    expect(copy.listRecords(objectName)).toHaveLength(60);
  }
});

test('keeps the exact bytes of an inbox until it is cleared', async () => {
  await using sandbox = await startSandbox();
  const path = '/inbox/orders';
  const rawBody = '{ "n": 1.0 }';
  await fetch(sandbox.url + path, {
    method: 'POST',
    headers: { 'webhook-id': 'msg_1' },
    body: rawBody,
  });
  expect((await sandbox.send({ path })).body).toMatchObject({
    total: 1,
    messages: [{ headers: { 'webhook-id': 'msg_1' }, body: { n: 1 }, rawBody }],
  });
  expect((await sandbox.send({ path: '/inbox/others' })).body).toEqual({ total: 0, messages: [] });
  expect((await sandbox.send({ method: 'DELETE', path })).status).toBe(204);
  expect(sandbox.inbox.list('orders')).toEqual([]);
});

test('keeps the newest 1,000 messages of an inbox, and returns the newest', async () => {
  await using sandbox = await startSandbox();
  for (let n = 1; n <= 1_002; n += 1) sandbox.inbox.receive('busy', {}, String(n));
  const { body } = await sandbox.send({ path: '/inbox/busy', query: { limit: 2 } });
  expect(body).toMatchObject({ total: 1_000, messages: [{ body: 1_001 }, { body: 1_002 }] });
  expect(sandbox.inbox.list('busy')[0]?.body).toBe(3);
});

test('fails a message to an inbox by a fault', async () => {
  await using sandbox = await startSandbox();
  sandbox.faults.set({ status: 410, pathPrefix: '/inbox/' });
  const message = { method: 'POST', path: '/inbox/gone', body: { n: 1 } } as const;
  expect((await sandbox.send(message)).status).toBe(410);
  expect(sandbox.inbox.count('gone')).toBe(0);
});

test('shows its newest records on a page, escaped', async () => {
  await using sandbox = await startSandbox();
  sandbox.seed('companies', 11);
  await sandbox.send(createRecordRequest('deals', { name: '<script>alert("x")</script>' }));
  const { body, headers } = await sandbox.send({ path: '/' });
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(body).toContain('Company 11');
  expect(body).not.toMatch(/Company 1<|<script/);
  expect(body).toContain('&#60;script&#62;');
});

test.each([
  ['malformed JSON', 'POST', '/objects/deals/records', '{', 400, 'malformed_json'],
  ['JSON of another type', 'POST', '/objects/deals/records', '[]', 400, 'invalid_request'],
  ['an unknown object', 'GET', '/objects/tickets', undefined, 404, 'object_not_found'],
  ['an unknown path', 'GET', '/objects/deals/else', undefined, 404, 'not_found'],
  ['a malformed path', 'GET', '/objects/%zz', undefined, 400, 'malformed_path'],
  ['another method', 'PUT', '/objects/deals', '{}', 405, 'method_not_allowed'],
  ['a damaged cursor', 'GET', '/objects/deals/records?cursor=x', undefined, 400, 'invalid_cursor'],
  [
    'a page size over the limit',
    'GET',
    '/objects/deals/records?limit=1001',
    undefined,
    400,
    'invalid_request',
  ],
  [
    'an invalid time',
    'GET',
    '/objects/deals/records?updated_since=1',
    undefined,
    400,
    'invalid_request',
  ],
  ['an invalid name of an inbox', 'POST', '/inbox/a.b', '{}', 400, 'invalid_request'],
  [
    'a body over the limit',
    'POST',
    '/inbox/a',
    `"${'x'.repeat(1_048_576)}"`,
    413,
    'body_too_large',
  ],
])('refuses %s and keeps running', async (_, method, path, body, status, code) => {
  await using sandbox = await startSandbox();
  const response = await fetch(sandbox.url + path, { method, body });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { code, message: expect.any(String) } });
  expect((await sandbox.send({ path: '/objects' })).status).toBe(200);
});
