/** Values for the arguments and members of random calls. */

export const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  '\ud800',
  '\u202e\u200b',
  'x'.repeat(300),
  'x'.repeat(20_000),
  '\' or 1=1; drop table "Project"; --',
  '%s%n${7*7}{{workspace}}',
  '__proto__',
  '../../etc/passwd\r\nx-injected: 1',
  '😀'.repeat(70),
  '-1',
  'null',
  '[object Object]',
];

export const HOSTILE_JSON = [
  '{"a": [null, true, 1.5, {"b": "\\u0000"}]}',
  '{"__proto__": {"x": 1}, "constructor": 1}',
  `{"a": ${'['.repeat(90)}${']'.repeat(90)}}`,
  `{"a": ${'{"a":'.repeat(500)}1${'}'.repeat(500)}}`,
  '{"Host": "x", "X-Ok": "y", "webhook-id": "z"}',
  `{"a": "${'x'.repeat(20_000)}"}`,
].map((text): unknown => JSON.parse(text));

export const TIMES = [
  '2026-01-31T12:00:00Z',
  '1970-01-01T00:00:00+14:00',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59-23:59',
  '2026-02-30T00:00:00Z',
];

export const NUMBERS = [1, 2, 50, 60, 0, -1, 1001, 36_500, 2 ** 31 - 1, 0.5];

/** Values that pass the first check, by the name of the member. */
export const LIKELY_VALUES: Record<string, readonly unknown[]> = {
  provider: [...Array<string>(8).fill('sandbox'), 'hubspot', 'nobody'],
  groupRef: ['acme', 'acme', 'umbrella'],
  consumerRef: ['ann', 'ann', 'bob'],
  objectName: [...Array<string>(8).fill('contacts'), 'companies', 'nothing'],
  destination: [...Array<string>(8).fill('records'), 'others', 'nowhere'],
  name: [...Array<string>(8).fill('crm'), 'records', 'other'],
  integrationIdOrName: ['crm', 'crm', 'other'],
  specVersion: ['1.0.0'],
  schedule: ['0 * * * *', '0 0 * * 1', '*/10 0 1 1 *', '* * * * *', '0 0 30 2 *', '@hourly'],
  url: ['https://example.com/in', 'http://169.254.169.254/', 'https://u:p@x/', 'https://[::1]/#'],
  domain: ['acme.example', 'bob@acme.example', 'https://www.umbrella.example/x', 'localhost'],
  email: ['ann@acme.example', 'bob@acme.example', 'eve@acme.example'],
  fieldName: ['email', 'phone', 'nothing'],
  mapToName: ['mail', 'phone'],
  mode: ['auto', 'onRequest'],
  enabled: ['always', 'always', 'never'],
  optionalFieldsAuto: ['all'],
  watchFieldsAuto: ['all', 'selected'],
  scopes: ['read', 'org:read', 'records:write', 'nothing'],
  idempotencyKey: ['once', 'twice'],
};

/** How often an optional member is present, in percent, if that decides how far a call gets. */
export const PRESENCE_PERCENT: Record<string, number> = {
  apiKey: 80,
  basicAuth: 3,
  oauth2ClientCredentials: 3,
  oauth2PasswordCredentials: 3,
  oauth2AuthorizationCode: 6,
  customAuth: 3,
  authScheme: 3,
  providerAppId: 6,
  providerWorkspaceRef: 6,
  connectionId: 6,
  first: 30,
  last: 6,
  after: 20,
  before: 10,
  record: 80,
  destination: 90,
  batch: 8,
  associations: 5,
  headers: 10,
  batchPolicy: 5,
  autoBatchPolicy: 10,
  config: 20,
  read: 60,
  write: 30,
  subscribe: 4,
  delivery: 5,
  fieldMappings: 4,
  selectedFields: 8,
  backfill: 6,
  destructive: 40,
};

/** Request bodies that are no JSON objects, or that no client writes. */
export const MALFORMED_BODIES = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '1e999',
  '\ufeff{}',
  `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  `{"name": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
  `{"record": ${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
  `{${'"a": 1, '.repeat(10_000)}"b": 2}`,
  `{"name": "${'\\u0000'.repeat(1_000)}"}`,
  '{"__proto__": {"name": "x"}, "name": "y", "name": {"constructor": 1}}',
];

export const MALFORMED_QUERIES = [
  '&&&',
  'pageSize=1&pageSize=2',
  'pageSize=1e3',
  'pageToken=%00',
  'pageToken=%ff%fe',
  '__proto__=1&constructor=2&toString=3',
  'a[b][c]=1',
  '%=%&=',
  `x=${'y'.repeat(5_000)}`,
  `${'a=1&'.repeat(1_500)}`,
];
