import { expect, test } from 'vitest';
import { canRefresh, isDue, withTokens } from '../../../../src/domain/connection/token/token.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

function createToken(secondsLeft: number, lifetimeSeconds?: number) {
  const addSeconds = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000).toISOString();
  return {
    token: 't',
    expiresAt: addSeconds(secondsLeft),
    ...(lifetimeSeconds !== undefined && { issuedAt: addSeconds(secondsLeft - lifetimeSeconds) }),
  };
}

test('refreshes a token in the last minute of its lifetime, or in the last tenth if the lifetime is short', () => {
  expect(isDue(undefined, NOW)).toBe(true);
  expect(isDue({ token: 'without an end' }, NOW)).toBe(false);
  expect(isDue(createToken(61, 3_600), NOW)).toBe(false);
  expect(isDue(createToken(60, 3_600), NOW)).toBe(true);
  expect(isDue(createToken(31, 300), NOW)).toBe(false);
  expect(isDue(createToken(30, 300), NOW)).toBe(true);
  expect(isDue(createToken(61), NOW)).toBe(false);
  expect(isDue(createToken(60), NOW)).toBe(true);
  expect(isDue(createToken(-1, 3_600), NOW)).toBe(true);
});

test('replaces the refresh token, and keeps the old one if the response has none', () => {
  const credentials = {
    scheme: 'OAUTH2_AUTHORIZATION_CODE' as const,
    accessToken: { token: 'a' },
    refreshToken: { token: 'r' },
    scopes: ['s'],
  };
  const accessToken = { token: 'b' };
  expect(withTokens(credentials, { accessToken })).toEqual({ ...credentials, accessToken });
  expect(withTokens(credentials, { accessToken, refreshToken: 'q', scopes: ['t'] })).toEqual({
    scheme: credentials.scheme,
    accessToken,
    refreshToken: { token: 'q' },
    scopes: ['t'],
  });
  const client = { clientId: 'c', clientSecret: 's', scopes: ['s'] };
  const clientCredentials = { scheme: 'OAUTH2_CLIENT_CREDENTIALS' as const, ...client };
  expect(withTokens(clientCredentials, { accessToken, scopes: ['t'] })).toEqual({
    ...clientCredentials,
    token: accessToken,
  });
  expect(canRefresh(clientCredentials)).toBe(true);
  expect(canRefresh({ ...credentials, refreshToken: undefined })).toBe(false);
});
