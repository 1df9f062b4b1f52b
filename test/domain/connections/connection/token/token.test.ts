import { describe, expect, test } from 'vitest';
import {
  canRefresh,
  isRefreshDue,
  replaceTokens,
} from '../../../../../src/domain/connections/connection/token/token.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

const authorizationCode = {
  scheme: 'OAUTH2_AUTHORIZATION_CODE' as const,
  accessToken: { token: 'old-access' },
  refreshToken: { token: 'old-refresh' },
  scopes: ['old-scope'],
};
const clientCredentials = {
  scheme: 'OAUTH2_CLIENT_CREDENTIALS' as const,
  clientId: 'client',
  clientSecret: 'secret',
  scopes: ['old-scope'],
};

function createToken(secondsLeft: number, lifetimeSeconds?: number) {
  const addSeconds = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000).toISOString();
  return {
    token: 'access',
    expiresAt: addSeconds(secondsLeft),
    ...(lifetimeSeconds !== undefined && { issuedAt: addSeconds(secondsLeft - lifetimeSeconds) }),
  };
}

test('refreshes a token in the last minute of its lifetime, or in the last tenth if the lifetime is short', () => {
  expect(isRefreshDue(undefined, NOW)).toBe(true);
  expect(isRefreshDue({ token: 'without an expiry' }, NOW)).toBe(false);
  expect(isRefreshDue(createToken(61, 3_600), NOW)).toBe(false);
  expect(isRefreshDue(createToken(60, 3_600), NOW)).toBe(true);
  expect(isRefreshDue(createToken(31, 300), NOW)).toBe(false);
  expect(isRefreshDue(createToken(30, 300), NOW)).toBe(true);
  expect(isRefreshDue(createToken(61), NOW)).toBe(false);
  expect(isRefreshDue(createToken(60), NOW)).toBe(true);
  expect(isRefreshDue(createToken(-1, 3_600), NOW)).toBe(true);
});

describe('a response of the token endpoint', () => {
  const accessToken = { token: 'new-access' };

  test('replaces the access token, the refresh token and the scopes', () => {
    const grantedTokens = { accessToken, refreshToken: 'new-refresh', scopes: ['new-scope'] };
    expect(replaceTokens(authorizationCode, grantedTokens)).toEqual({
      scheme: authorizationCode.scheme,
      accessToken,
      refreshToken: { token: 'new-refresh' },
      scopes: ['new-scope'],
    });
  });

  test('keeps the refresh token and the scopes if it has none', () => {
    expect(replaceTokens(authorizationCode, { accessToken })).toEqual({
      ...authorizationCode,
      accessToken,
    });
  });

  test('keeps the requested scopes of client credentials', () => {
    expect(replaceTokens(clientCredentials, { accessToken, scopes: ['new-scope'] })).toEqual({
      ...clientCredentials,
      token: accessToken,
    });
  });
});

test('refreshes client credentials, and an authorization code only with a refresh token', () => {
  expect(canRefresh(clientCredentials)).toBe(true);
  expect(canRefresh(authorizationCode)).toBe(true);
  expect(canRefresh({ ...authorizationCode, refreshToken: undefined })).toBe(false);
});
