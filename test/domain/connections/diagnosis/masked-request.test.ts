import { expect, test } from 'vitest';
import { maskRequest } from '../../../../src/domain/connections/diagnosis/masked-request.ts';
import type { ObservedRequest } from '../../../../src/domain/connections/diagnosis/observed-outbound.ts';
import { SecretMask } from '../../../../src/work/secret-mask.ts';

type SentRequest = Partial<ObservedRequest['request']>;

function maskExchange(
  body: unknown,
  request: SentRequest = {},
  { contentType = 'application/json', secrets = [] as string[] } = {},
) {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return maskRequest({
    id: 'req_1',
    kind: 'API',
    connection: { projectId: 'prj_1', id: 'con_1' },
    secrets: new SecretMask(secrets),
    request: { method: 'POST', url: 'https://api.crm.test/contacts', headers: {}, ...request },
    response: {
      status: 400,
      headers: { 'content-type': contentType, 'set-cookie': ['a=1', 'b=2'], 'x-request-id': '7' },
      body: Buffer.from(text),
    },
    error: null,
    isFailed: true,
    durationMs: 3,
    createTime: new Date(),
  });
}

const maskBody = (...exchange: Parameters<typeof maskExchange>) =>
  maskExchange(...exchange).responseBody;
const maskJson = (...exchange: Parameters<typeof maskExchange>) =>
  JSON.parse(maskBody(...exchange) as string);

test('masks values of the query and private segments of the path', () => {
  const url = new URL('https://api.crm.test:8443/v3/people/ann@example.test/notes/123');
  url.search = 'limit=100&email=ann%40example.test&api_key=secret&archived=false&after=abc';
  const { host, path } = maskExchange({}, { url: url.href });
  expect(host).toBe('api.crm.test:8443');
  expect(path).toBe(
    '/v3/people/***/notes/123?limit=100&email=***&api_key=***&archived=false&after=***',
  );
});

test.each([
  ['updated_since=2026-01-02T03:04:05.678Z', 'updated_since=2026-01-02T03:04:05.678Z'],
  ['since=2026-01-02&until=1767312000', 'since=2026-01-02&until=1767312000'],
  ['modified_after=1767312000000', 'modified_after=1767312000000'],
  [
    "q=SELECT Id FROM Contact WHERE Name = 'Ann' AND Changed >= 2026-01-02T03:04:05%2B00:00 LIMIT 5",
    'q=***2026-01-02T03:04:05+00:00***',
  ],
  ['fields=email,phone&sort=-updated_at', 'fields=email,phone&sort=-updated_at'],
  ['fields=ann%40example.test', 'fields=***'],
  ['born=1990-05-17&phone=4915112345678', 'born=***&phone=***'],
  ['after=12345678901', 'after=***'],
])('shows times and field names of the query %s, and masks its other values', (query, expected) => {
  const { path } = maskExchange({}, { url: `https://api.crm.test/contacts?${query}` });
  expect(path).toBe(`/contacts?${expected}`);
});

test('keeps a time of the query in an error that repeats it', () => {
  const message = 'updated_since 2026-01-02T03:04:05Z is too early';
  const url = 'https://api.crm.test/contacts?updated_since=2026-01-02T03:04:05Z';
  expect(maskJson({ message }, { url })).toEqual({ message });
});

test('masks the values of headers that are not known to be harmless', () => {
  const headers = {
    authorization: 'Bearer token-1',
    'x-shopify-access-token': 'shpat_1',
    'content-type': 'application/json',
    'user-agent': 'integration-gateway',
  };
  expect(maskExchange({}, { headers })).toMatchObject({
    requestHeaders: {
      authorization: '***',
      'x-shopify-access-token': '***',
      'content-type': 'application/json',
      'user-agent': 'integration-gateway',
    },
    responseHeaders: {
      'content-type': 'application/json',
      'set-cookie': '***',
      'x-request-id': '7',
    },
  });
});

test('keeps the members that describe an error, and masks all others', () => {
  const error = {
    status: 'error',
    message: 'Property values were not valid',
    correlationId: '0b3a5c1e-7f0a-4a3c-9d5e-2f1b6c7d8e9f',
    category: 'VALIDATION_ERROR',
    errors: [{ message: 'is invalid', code: 'INVALID_EMAIL', in: 'body' }],
    errorsByField: { email: ['is taken'] },
    contact: { email: 'bob@other.test', description: 'A private note' },
  };
  expect(maskJson(error)).toEqual({
    ...error,
    errors: [{ message: 'is invalid', code: 'INVALID_EMAIL', in: '***' }],
    errorsByField: '***',
    contact: '***',
  });
  expect(maskJson({ errors: { email: ['is invalid'], ref: 'a private text' } })).toEqual({
    errors: { email: ['is invalid'], ref: '***' },
  });
});

test('masks a record that the response contains instead of an error', () => {
  const record = { id: 'c-17', title: 'A private deal', description: 'Details', tags: ['vip'] };
  expect(maskJson(record)).toEqual({ id: '***', title: '***', description: '***', tags: '***' });
  expect(maskJson([record])).toEqual([maskJson(record)]);
});

test.each([
  ['in JSON', JSON.stringify({ name: 'Ada "the" Lovelace', age: 123_456, tags: ['vip'] })],
  ['in a form', 'name=Ada+%22the%22+Lovelace&age=123456&tags=vip'],
])('masks values of the request, sent %s, that the response repeats', (_form, body) => {
  const message = 'No Ada "the" Lovelace is here';
  const masked = 'No *** is here';
  expect(maskJson({ message, code: 123_456 }, { body })).toEqual({ message: masked, code: '***' });
  expect(maskBody(message, { body }, { contentType: 'text/plain' })).toBe(masked);
});

test('masks a value of fewer than 8 characters only where it is the whole text', () => {
  const body = JSON.stringify({ name: 'the', pin: '1234567', phone: '12345678' });
  const message = 'the field is other than the 1234567 of 12345678';
  const errors = { name: ['the', 'is other than the name'] };
  expect(maskJson({ message, errors }, { body })).toEqual({
    message: 'the field is other than the 1234567 of ***',
    errors: { name: ['***', 'is other than the name'] },
  });
});

test('masks credentials that the response repeats', () => {
  const basic = `Basic ${Buffer.from('bobby-jones:pass-word').toString('base64')}`;
  const headers = { authorization: basic, 'x-api-key': 'key-12345' };
  const url = 'https://api.crm.test/contacts?token=query-secret';
  const message = `bobby-jones with pass-word, key-12345 and query-secret; Bearer abc.def; ${'x'.repeat(40)}`;
  expect(maskJson({ message }, { headers, url }).message).toBe(
    '*** with ***, *** and ***; ***; ***',
  );
});

test('masks credentials in names of members and headers, in the path, and in shown headers', () => {
  const secret = 'key-"12345';
  const base64 = Buffer.from(`user:${secret}`).toString('base64');
  const error = { [secret]: 1, error: { [`in ${base64}`]: ['x'], message: base64 } };
  expect(maskJson(error, {}, { secrets: [secret] })).toEqual({
    '***': '***',
    error: { 'in ***': ['x'], message: '***' },
  });
  const { path, requestHeaders, responseHeaders } = maskExchange(
    {},
    {
      url: `https://api.crm.test/v1/${encodeURIComponent(secret)}/contacts`,
      headers: { [`x-${base64.toLowerCase()}`]: 'a', 'user-agent': secret },
    },
    { secrets: [secret, base64.toLowerCase()], contentType: `text/plain; a=${base64}` },
  );
  expect(path).toBe('/v1/***/contacts');
  expect(requestHeaders).toEqual({ 'x-***': '***', 'user-agent': '***' });
  expect(responseHeaders).toMatchObject({ 'content-type': 'text/plain; a=***' });
});

test('masks a credential that contains an address completely', () => {
  const secret = 'ann@example.test!and-a-long-tail';
  expect(maskJson({ message: `${secret} is wrong` }, {}, { secrets: [secret] })).toEqual({
    message: '*** is wrong',
  });
});

test('keeps the error of a token endpoint, and masks values of the request', () => {
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: 'rt-secret',
    client_secret: 'cs-secret',
  }).toString();
  const error = { error: 'invalid_grant', error_description: 'refresh_token rt-secret expired' };
  expect(maskJson(error, { body })).toEqual({
    error: 'invalid_grant',
    error_description: 'refresh_token *** expired',
  });
});

test('records the first 4 KiB of a text, and a note instead of other bodies', () => {
  expect(maskBody('ä'.repeat(4_000), {}, { contentType: 'text/plain' })).toBe('ä'.repeat(2_048));
  expect(maskBody(Buffer.from([0xff, 0xfe]), {}, { contentType: 'image/png' })).toBe(
    '(binary, image/png)',
  );
  expect(maskBody(Buffer.alloc(300_000, 'a'))).toBe('(not recorded: 300,000 bytes)');
  expect(maskBody('')).toBeNull();
});

test.each([
  ['130,000 levels', '['.repeat(130_000)],
  ['100 levels', '['.repeat(100) + ']'.repeat(100)],
  ['20,000 items', `[${'1,'.repeat(20_000)}1]`],
])('records a note instead of a body with %s', (_, body) => {
  expect(maskBody(body)).toMatch(/^(\(not recorded: [\d,]+ bytes\)|\[+)$/);
});

test('masks each of thousands of values in an error with thousands of texts', () => {
  const values = Array.from({ length: 9_000 }, (_, index) => `private value ${index}`);
  const body = JSON.stringify({ values });
  const errors = Array.from({ length: 4_000 }, (_, index) => `No private value ${index}`);
  const text = maskBody({ message: 'Invalid', errors }, { body });
  expect(text).toContain('Invalid');
  expect(text).not.toContain('private');
});

test('records the beginning of a long text that may be an address', () => {
  expect(maskBody(`${'!'.repeat(200_000)}@`)).toBe('!'.repeat(4_096));
});
