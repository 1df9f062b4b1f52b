import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError, describeConfig, readConfig } from '../src/config.ts';

const key = Buffer.alloc(32, 1).toString('base64');

test('nothing has to be set', () => {
  expect(readConfig({})).toMatchObject({ PORT: 4000, HOST: '127.0.0.1', DATA_DIR: './data' });
});

test('all problems are told at once, without secrets', () => {
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

test('PostgreSQL needs an encryption key, and an issuer its keys', () => {
  const variables = { DATABASE_URL: 'postgres://db/x', BEARER_ISSUER: 'https://id.example' };
  expect(() => readConfig(variables)).toThrow(/ENCRYPTION_KEY.*\n.*BEARER_JWKS_URL/);
  const given = { ...variables, ENCRYPTION_KEY: key, BEARER_JWKS_URL: 'https://id.example/keys' };
  expect(readConfig(given).ENCRYPTION_KEY?.reveal()).toBe(key);
});

test('secrets are masked when the configuration is logged', () => {
  const config = readConfig({ DATABASE_URL: 'postgres://u:hunter2@db/x', ENCRYPTION_KEY: key });
  expect(JSON.stringify(config)).not.toContain('hunter2');
  expect(JSON.stringify(config)).not.toContain(key);
});

test('every variable is in docs/operations.md', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'docs', 'operations.md'), 'utf8');
  const missing = describeConfig().filter(({ name }) => !text.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});
