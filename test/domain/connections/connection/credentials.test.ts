import { expect, test } from 'vitest';
import { parseCredentials } from '../../../../src/domain/connections/connection/credential-input.ts';
import {
  type Credentials,
  openCredentials,
  sealCredentials,
} from '../../../../src/domain/connections/connection/credentials.ts';
import { findTokenExpireTime } from '../../../../src/domain/connections/connection/token/token.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { createVault } from '../../../../src/kernel/secrets.ts';

const vault = createVault([Buffer.alloc(32, 1)]);
const connection = { id: newId('con'), projectId: newId('prj') };
const token = { token: 'at', issuedAt: '2026-01-01T00:00:00.000Z' };
const client = { clientId: 'c', clientSecret: 's', scopes: ['a'] };

const CREDENTIALS: Credentials[] = [
  { scheme: 'API_KEY', apiKey: 'sandbox-key' },
  { scheme: 'BASIC', username: 'u', password: '' },
  { scheme: 'OAUTH2_CLIENT_CREDENTIALS', ...client },
  { scheme: 'OAUTH2_CLIENT_CREDENTIALS', ...client, token },
  { scheme: 'OAUTH2_PASSWORD', username: 'u', password: 'p', ...client, token },
  { scheme: 'OAUTH2_AUTHORIZATION_CODE', accessToken: token, scopes: [] },
  { scheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE', refreshToken: token, scopes: ['a'] },
  { scheme: 'NONE', custom: { accountKey: 'k', list: [1, { a: null }] } },
];

test.each(CREDENTIALS)('opens sealed credentials of scheme $scheme unchanged', (credentials) => {
  const sealed = sealCredentials({ vault }, connection, credentials);
  expect(sealed).toMatch(/^v1\./);
  expect(openCredentials({ vault }, connection, sealed)).toEqual(credentials);
});

test('stores empty credentials as null', () => {
  const noneCredentials: Credentials = { scheme: 'NONE', custom: {} };
  expect(sealCredentials({ vault }, connection, noneCredentials)).toBeNull();
  expect(openCredentials({ vault }, connection, null)).toEqual(noneCredentials);
});

test('refuses to open credentials of another connection or project', () => {
  const sealed = sealCredentials({ vault }, connection, {
    scheme: 'API_KEY',
    apiKey: 'sandbox-key',
  });
  for (const otherKey of [{ id: newId('con') }, { projectId: newId('prj') }]) {
    expect(() => openCredentials({ vault }, { ...connection, ...otherKey }, sealed)).toThrow();
  }
});

test('stores the dates of a token as strings, and returns its expiry', () => {
  const expireTime = new Date('2026-01-01T02:00:00Z');
  const tokens = { accessToken: { token: 'at', expireTime }, refreshToken: null };
  const credentials = parseCredentials(
    { authScheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE', custom: undefined },
    { oauth2AuthorizationCode: tokens },
  );
  const sealed = sealCredentials({ vault }, connection, credentials);
  expect(openCredentials({ vault }, connection, sealed)).toEqual({
    scheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE',
    accessToken: { token: 'at', expiresAt: '2026-01-01T02:00:00.000Z' },
    scopes: [],
  });
  expect(findTokenExpireTime(credentials)).toEqual(expireTime);
  expect(findTokenExpireTime({ scheme: 'API_KEY', apiKey: 'sandbox-key' })).toBeNull();
});
