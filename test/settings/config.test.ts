import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/settings/config.ts';

const key = Buffer.alloc(32, 1).toString('base64');

test('requires no setting', () => {
  expect(readConfig({})).toMatchObject({ PORT: 4000, HOST: '127.0.0.1', DATA_DIR: './data' });
});

test('reports all invalid settings together, without secrets', () => {
  const read = () =>
    readConfig({
      PORT: 'http',
      DATABASE_URL: 'mysql://root:hunter2@db/x',
      ALLOWED_PRIVATE_TARGETS: '10.0.0.0/8,everything',
      ENCRYPTION_KEY: 'hunter2',
      DELIVERY_RETRY_SECONDS: '5,soon',
      CORS_ORIGINS: 'https://app.example/path',
    });
  expect(read).toThrow(ConfigError);
  for (const name of [
    'PORT',
    'DATABASE_URL',
    'ALLOWED_PRIVATE_TARGETS.1',
    'ENCRYPTION_KEY',
    'DELIVERY_RETRY_SECONDS.1',
    'CORS_ORIGINS.0',
  ]) {
    expect(read).toThrow(name);
  }
  expect(read).not.toThrow('hunter2');
});

test.each([
  ['LIMIT_QUERY_MS', '2147483648'],
  ['LIMIT_MUTATION_MS', '86400001'],
  ['LIMIT_PROXY_MS', '1e12'],
  ['SHUTDOWN_MS', '2147483648'],
  ['DELIVERY_RETRY_SECONDS', '5,2592001'],
  ['RETENTION_DAYS', '3651'],
  ['LIMIT_BODY_BYTES', '1073741824'],
  ['LIMIT_DEPTH', '100000'],
  ['LIMIT_REQUESTS', '2147483648'],
  ['RATE_LIMIT_BURST', '9007199254740991'],
  ['WRONG_KEY_LIMIT_PER_MINUTE', 'Infinity'],
  ['PUBLIC_URL', 'ftp://gateway.example'],
  ['PUBLIC_URL', 'https://gateway.example/?x=1'],
  ['HUBSPOT_BASE_URL', 'javascript:alert(1)'],
  ['BEARER_ALGORITHMS', 'RS256,none'],
  ['DATABASE_URL', 'postgres://db:port/x'],
  ['DATABASE_URL', 'postgres://db:5432,other:port/x'],
  ['DATABASE_LISTEN_URL', 'mysql://db/x'],
  ['DATABASE_LISTEN_URL', 'postgres://direct/x'],
  ['SANDBOX_PORT', '4000'],
  ['SIGN_IN_ISSUERS', 'https://id.example'],
  ['SIGN_IN_ISSUERS', '{}'],
  ['SIGN_IN_ISSUERS', '[{"issuer":"https://id.example"}]'],
  ['SIGN_IN_ISSUERS', '[{"issuer":"http://id.example","clientId":"console"}]'],
  [
    'SIGN_IN_ISSUERS',
    '[{"issuer":"https://id.example","clientId":"a"},{"issuer":"https://id.example","clientId":"b"}]',
  ],
  [
    'SIGN_IN_ISSUERS',
    '[{"issuer":"https://id.example","clientId":"a","redirectUrl":"https://gateway.example/console"}]',
  ],
  ['LOCAL_ISSUER_PASSWORD', 'too short'],
  ['CONSOLE_SESSION_IDLE_MINUTES', '4'],
  ['CONSOLE_SESSION_HOURS', '721'],
  ['ORG_CREATION', 'members'],
])('refuses to start with an unusable value: %s=%s', (name, value) => {
  const otherSettings = name === 'DATABASE_URL' ? { ENCRYPTION_KEY: key } : {};
  const read = () => readConfig({ LOG_LEVEL: 'loud', ...otherSettings, [name]: value });
  // The message also names LOG_LEVEL.
  expect(read).toThrow('LOG_LEVEL');
  expect(read).toThrow(new RegExp(`\\n  ${name}`));
});

test('keeps the largest times within the range of timers', () => {
  const { LIMIT_PROXY_MS, SHUTDOWN_MS } = readConfig({
    LIMIT_PROXY_MS: '86400000',
    SHUTDOWN_MS: '86400000',
  });
  expect(Math.max(LIMIT_PROXY_MS, SHUTDOWN_MS)).toBeLessThan(2 ** 31 - 1);
});

test('requires an encryption key with PostgreSQL, and a key URL with an issuer', () => {
  const variables = { DATABASE_URL: 'postgres://db/x', BEARER_ISSUER: 'https://id.example' };
  expect(() => readConfig(variables)).toThrow(/ENCRYPTION_KEY.*\n.*BEARER_JWKS_URL/);
  const complete = {
    ...variables,
    ENCRYPTION_KEY: key,
    BEARER_JWKS_URL: 'https://id.example/keys',
  };
  expect(readConfig(complete).ENCRYPTION_KEY?.reveal()).toBe(key);
});

test('rejects a key URL without an issuer', () => {
  const variables = { BEARER_JWKS_URL: 'https://id.example/keys' };
  expect(() => readConfig(variables)).toThrow(/\n {2}BEARER_JWKS_URL: requires BEARER_ISSUER/);
});

test.each([
  [{ PROXY_URL: 'http://127.0.0.1:4000' }, 'must have another host than PUBLIC_URL'],
  [
    { PROXY_URL: 'https://gw.example', PUBLIC_URL: 'https://gw.example/' },
    'must have another host than PUBLIC_URL',
  ],
  [
    { PROXY_URL: 'https://read.example', READ_URL: 'https://read.example' },
    'must have another host than READ_URL',
  ],
  [{ PROXY_URL: 'https://proxy.example/path' }, 'must have no path'],
])('rejects a proxy that would hide other paths: %j', (variables, problem) => {
  expect(() => readConfig(variables)).toThrow(`PROXY_URL: ${problem}`);
  expect(readConfig({ ...variables, PROXY_URL: 'https://proxy.example' })).toMatchObject({
    PROXY_URL: 'https://proxy.example',
  });
});

test('rejects a password of the local issuer next to another issuer', () => {
  const variables = {
    BEARER_ISSUER: 'https://id.example',
    BEARER_JWKS_URL: 'https://id.example/keys',
    LOCAL_ISSUER_PASSWORD: 'correct horse battery',
  };
  expect(() => readConfig(variables)).toThrow(/\n {2}LOCAL_ISSUER_PASSWORD: /);
});

test('masks secrets when the configuration is logged', () => {
  const config = readConfig({
    DATABASE_URL: 'postgres://u:hunter2@db/x',
    ENCRYPTION_KEY: key,
    SIGN_IN_ISSUERS:
      '[{"issuer":"https://id.example","clientId":"console","clientSecret":"hunter2"}]',
    LOCAL_ISSUER_PASSWORD: 'hunter2 and more',
  });
  expect(JSON.stringify(config)).not.toContain('hunter2');
  expect(JSON.stringify(config)).not.toContain(key);
});
