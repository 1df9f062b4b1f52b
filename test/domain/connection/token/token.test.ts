import { expect, test } from 'vitest';
import { canRefresh, isDue, withTokens } from '../../../../src/domain/connection/token/token.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

function createToken(secondsLeft: number, lifetimeSeconds?: number) {
  const secondsLater = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000).toISOString();
  return {
    token: 't',
    expiresAt: secondsLater(secondsLeft),
    ...(lifetimeSeconds !== undefined && { issuedAt: secondsLater(secondsLeft - lifetimeSeconds) }),
  };
}

test('refreshes a token from a minute before its expiry, or in the last tenth of a short lifetime', () => {
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
  const before = {
    scheme: 'OAUTH2_AUTHORIZATION_CODE' as const,
    accessToken: { token: 'a' },
    refreshToken: { token: 'r' },
    scopes: ['s'],
  };
  const accessToken = { token: 'b' };
  expect(withTokens(before, { accessToken })).toEqual({ ...before, accessToken });
  expect(withTokens(before, { accessToken, refreshToken: 'q', scopes: ['t'] })).toEqual({
    scheme: before.scheme,
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
  expect(canRefresh({ ...before, refreshToken: undefined })).toBe(false);
});
