import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { SandboxServer } from '../../src/sandbox/server.ts';
import { startSandbox } from '../support/providers/sandbox.ts';

const CLIENT = { client_id: 'sandbox-client', client_secret: 'sandbox-secret' };
const REDIRECT_URI = 'https://app.example.test/callback?tenant=1';
const VERIFIER = 'a-verifier-of-at-least-forty-three-characters-in-all';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

async function requestToken(
  sandbox: SandboxServer,
  form: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const body = new URLSearchParams(form);
  const response = await fetch(`${sandbox.url}/oauth/token`, { method: 'POST', body, headers });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

/** Returns the URL to which the user's browser is redirected. */
async function authorize(sandbox: SandboxServer, params: Record<string, string>): Promise<URL> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT.client_id,
    redirect_uri: REDIRECT_URI,
    state: 'state-1',
    approve: '1',
    ...params,
  });
  const response = await fetch(`${sandbox.url}/oauth/authorize?${query}`, { redirect: 'manual' });
  expect(response.status).toBe(302);
  return new URL(response.headers.get('location') ?? '');
}

async function fetchCode(sandbox: SandboxServer, params = {}): Promise<string> {
  return (await authorize(sandbox, params)).searchParams.get('code') ?? '';
}

async function canRead(sandbox: SandboxServer, token: string | undefined): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await fetch(`${sandbox.url}/objects`, { headers });
  expect([200, 401]).toContain(status);
  return status === 200;
}

test('exchanges a code for tokens that contain the user', async () => {
  await using sandbox = await startSandbox();
  const location = await authorize(sandbox, { scope: 'records.read' });
  expect(location.origin + location.pathname).toBe('https://app.example.test/callback');
  expect(location.searchParams.get('tenant')).toBe('1');
  expect(location.searchParams.get('state')).toBe('state-1');
  const { status, body } = await requestToken(sandbox, {
    ...CLIENT,
    grant_type: 'authorization_code',
    code: location.searchParams.get('code') ?? '',
    redirect_uri: REDIRECT_URI,
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: 3_600,
    scope: 'records.read',
    user: { id: 'sandbox-user' },
    workspace: { id: 'sandbox' },
  });
  expect(await canRead(sandbox, body.access_token)).toBe(true);
});

test('requests consent, and returns access_denied if it is declined', async () => {
  await using sandbox = await startSandbox();
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: '<b>client</b>',
    redirect_uri: REDIRECT_URI,
  });
  const page = await (await fetch(`${sandbox.url}/oauth/authorize?${query}`)).text();
  expect(page).toMatch(/<button name="approve" value="1">Approve/);
  expect(page).not.toContain('<b>client');
  const location = await authorize(sandbox, { approve: '0' });
  expect(location.searchParams.get('error')).toBe('access_denied');
  expect(location.searchParams.has('code')).toBe(false);
});

test('redirects an invalid request back with an error', async () => {
  await using sandbox = await startSandbox();
  const implicitGrant = await authorize(sandbox, { response_type: 'token' });
  expect(implicitGrant.searchParams.get('error')).toBe('unsupported_response_type');
  const plainChallenge = { code_challenge: VERIFIER, code_challenge_method: 'plain' };
  expect((await authorize(sandbox, plainChallenge)).searchParams.get('error')).toBe(
    'invalid_request',
  );
});

test('redirects only to HTTP and HTTPS URLs', async () => {
  await using sandbox = await startSandbox();
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'c',
    redirect_uri: 'javascript:alert(1)',
    approve: '1',
  });
  const response = await fetch(`${sandbox.url}/oauth/authorize?${query}`, { redirect: 'manual' });
  expect(response.status).toBe(400);
});

test.each([
  ['the right verifier', CHALLENGE, VERIFIER, 200],
  ['a wrong verifier', CHALLENGE, `${VERIFIER}x`, 400],
  ['no verifier', CHALLENGE, undefined, 400],
  ['a verifier without a challenge', undefined, VERIFIER, 400],
])('checks PKCE for a request with %s', async (_, challenge, verifier, status) => {
  await using sandbox = await startSandbox();
  const pkce = challenge && { code_challenge: challenge, code_challenge_method: 'S256' };
  const response = await requestToken(sandbox, {
    ...CLIENT,
    grant_type: 'authorization_code',
    code: await fetchCode(sandbox, pkce),
    redirect_uri: REDIRECT_URI,
    ...(verifier && { code_verifier: verifier }),
  });
  expect(response.status).toBe(status);
  if (status === 400) expect(response.body.error).toBe('invalid_grant');
});

test('accepts a code once, and revokes its tokens on reuse', async () => {
  await using sandbox = await startSandbox();
  const form = {
    ...CLIENT,
    grant_type: 'authorization_code',
    code: await fetchCode(sandbox),
    redirect_uri: REDIRECT_URI,
  };
  const tokens = await requestToken(sandbox, form);
  expect((await requestToken(sandbox, form)).body.error).toBe('invalid_grant');
  expect(await canRead(sandbox, tokens.body.access_token)).toBe(false);
});

test('accepts a code only from its client, with its redirect_uri and before it expires', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  await using sandbox = await startSandbox(() => now);
  const form = {
    ...CLIENT,
    grant_type: 'authorization_code',
    code: await fetchCode(sandbox),
    redirect_uri: REDIRECT_URI,
  };
  const otherRedirect = { ...form, redirect_uri: 'https://app.example.test/' };
  expect((await requestToken(sandbox, otherRedirect)).body.error).toBe('invalid_grant');
  const otherClient = { ...form, client_id: 'another-client' };
  expect((await requestToken(sandbox, otherClient)).body.error).toBe('invalid_grant');
  now = new Date('2026-01-01T00:05:00Z');
  expect((await requestToken(sandbox, form)).body.error).toBe('invalid_grant');
});

test('authenticates a client by a header or the body', async () => {
  await using sandbox = await startSandbox();
  const form = { grant_type: 'client_credentials' };
  const basic = Buffer.from('acme%3Aeu:sandbox-secret-of-acme').toString('base64');
  const { body } = await requestToken(sandbox, form, { authorization: `Basic ${basic}` });
  expect(body).toMatchObject({ user: { id: 'acme:eu' } });
  expect(body.refresh_token).toBeUndefined();
  expect(await canRead(sandbox, body.access_token)).toBe(true);
  const wrongSecret = { ...form, ...CLIENT, client_secret: 'guess' };
  expect(await requestToken(sandbox, wrongSecret)).toMatchObject({
    status: 401,
    body: { error: 'invalid_client' },
  });
});

test('grants a token for a user’s password', async () => {
  await using sandbox = await startSandbox();
  const form = { ...CLIENT, grant_type: 'password', username: 'ada', password: 'sandbox-password' };
  const { body } = await requestToken(sandbox, form);
  expect(body).toMatchObject({ user: { id: 'ada' }, refresh_token: expect.any(String) });
  expect(await canRead(sandbox, body.access_token)).toBe(true);
  const wrongPassword = await requestToken(sandbox, { ...form, password: 'guess' });
  expect(wrongPassword.body.error).toBe('invalid_grant');
});

test('rotates refresh tokens, and revokes all tokens of a consent if one is reused', async () => {
  await using sandbox = await startSandbox();
  const password = { username: 'ada', password: 'sandbox-password' };
  const grantedTokens = (
    await requestToken(sandbox, { ...CLIENT, grant_type: 'password', ...password })
  ).body;
  const refresh = (refresh_token = '') =>
    requestToken(sandbox, { ...CLIENT, grant_type: 'refresh_token', refresh_token });
  const refreshedTokens = (await refresh(grantedTokens.refresh_token)).body;
  expect(refreshedTokens.refresh_token).not.toBe(grantedTokens.refresh_token);
  expect(await canRead(sandbox, refreshedTokens.access_token)).toBe(true);
  expect((await refresh(grantedTokens.refresh_token)).body.error).toBe('invalid_grant');
  expect(await canRead(sandbox, refreshedTokens.access_token)).toBe(false);
  expect((await refresh(refreshedTokens.refresh_token)).body.error).toBe('invalid_grant');
  expect(sandbox.oauth.counts).toMatchObject({ issued: 2, refreshed: 1, reuseRefused: 1 });
});

test('revokes all tokens of a consent, but not at the request of another client', async () => {
  await using sandbox = await startSandbox();
  const password = { username: 'ada', password: 'sandbox-password' };
  const { body } = await requestToken(sandbox, { ...CLIENT, grant_type: 'password', ...password });
  const revoke = async (client: object) => {
    const form = new URLSearchParams({ ...client, token: body.refresh_token ?? '' });
    return fetch(`${sandbox.url}/oauth/revoke`, { method: 'POST', body: form });
  };
  expect((await revoke({ ...CLIENT, client_id: 'another' })).status).toBe(200);
  expect(await canRead(sandbox, body.access_token)).toBe(true);
  expect((await revoke({ ...CLIENT, client_secret: 'wrong' })).status).toBe(401);
  expect((await revoke(CLIENT)).status).toBe(200);
  expect(await canRead(sandbox, body.access_token)).toBe(false);
});

test('rejects an expired access token', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  await using sandbox = await startSandbox(() => now);
  sandbox.settings.tokenLifetimeSeconds = 60;
  const { body } = await requestToken(sandbox, { ...CLIENT, grant_type: 'client_credentials' });
  expect(body.expires_in).toBe(60);
  now = new Date('2026-01-01T00:00:59.999Z');
  expect(await canRead(sandbox, body.access_token)).toBe(true);
  now = new Date('2026-01-01T00:01:00Z');
  expect(await canRead(sandbox, body.access_token)).toBe(false);
});

test.each([
  [{ grant_type: 'implicit' }, 'unsupported_grant_type'],
  [{ grant_type: 'refresh_token' }, 'invalid_request'],
  [{ grant_type: 'refresh_token', refresh_token: 'unknown' }, 'invalid_grant'],
  [{ grant_type: 'authorization_code', code: 'c', redirect_uri: REDIRECT_URI }, 'invalid_grant'],
])('refuses the grant %o', async (form, error) => {
  await using sandbox = await startSandbox();
  expect((await requestToken(sandbox, { ...CLIENT, ...form })).body.error).toBe(error);
});
