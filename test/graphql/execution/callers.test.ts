/** Authenticates callers of real HTTP requests. */
import { createPrivateKey, createPublicKey, type JsonWebKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getNullableType, isListType, isRequiredArgument } from 'graphql';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createBearerVerifier, enrollBuilder } from '../../../src/domain/access/viewer/bearer.ts';
import { createKeyValue } from '../../../src/domain/access/viewer/key/api-key-value.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { createTestApp, type GraphqlResponse, getSharedApp } from '../../support/app.ts';
import { createClient, type GraphqlClient } from '../../support/graphql-client.ts';
import { setSharedTokens, stopRates } from '../../support/process/rates.ts';
import { serve } from '../../support/wire/serve.ts';

const app = await getSharedApp({ env: { WRONG_KEY_LIMIT_PER_MINUTE: '1000' } });
const { url } = await app.app.start();
const { prisma } = app.app.services.database;

type Headers = Record<string, string>;

/** Sends requests over a real connection, so that the server knows the caller's address. */
function createClientAt(base: string, headers: Headers = {}): GraphqlClient {
  return createClient((path, init) => fetch(`${base}${path}`, init), headers);
}
const createBearerClient = (token: string) =>
  createClientAt(url, { authorization: `Bearer ${token}` });
const mint = app.app.verifier.mint ?? (() => Promise.reject(new Error('no local issuer')));

const VIEWER_KIND = '{ viewer { kind } }';
const VIEWER_BUILDER = '{ viewer { builder { id firstName fullName primaryEmail } } }';

const keyFile = join(app.app.services.config.DATA_DIR, 'issuer-key.json');
const issuerKey = createPrivateKey({
  key: JSON.parse(readFileSync(keyFile, 'utf8')) as JsonWebKey,
  format: 'jwk',
});
const issuerPublicKey = createPublicKey(issuerKey).export({ type: 'spki', format: 'pem' });

/** A token like the local issuer's, with `parts` replaced. */
async function signToken(parts: {
  key?: Parameters<SignJWT['sign']>[0];
  algorithm?: string;
  claims?: Record<string, unknown>;
}) {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: 'urn:integration-gateway:local-issuer',
    aud: 'integration-gateway',
    sub: 'forged',
    iat: now,
    exp: now + 600,
    ...parts.claims,
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: parts.algorithm ?? 'ES256' })
    .sign(parts.key ?? issuerKey);
}

test('returns only introspection without credentials', async () => {
  const anonymous = createClientAt(url);
  for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
    const required = field.args
      .filter(isRequiredArgument)
      .map(
        ({ name, type }) => `${name}: ${isListType(getNullableType(type)) ? '[]' : '"a.example"'}`,
      );
    const args = required.length > 0 ? `(${required.join(', ')})` : '';
    const { status, data, errors } = await anonymous.request(
      `{ ${field.name}${args} { __typename } }`,
    );
    expect([field.name, status]).toEqual([field.name, 401]);
    expect(Object.values(data ?? {}).every((value) => value === null)).toBe(true);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
    expect(errors?.[0]?.extensions.problem).toMatchObject({ status: 401 });
  }
  const create = 'mutation CreateOrg { createOrg(input: { label: "x" }) { org { id } } }';
  expect(await anonymous.request(create)).toMatchObject({ status: 401, data: { createOrg: null } });
  for (const refused of [
    'mutation CreateOrg { createOrg(input: { label: "" }) { org { id } } }',
    '{ claimedDomain(domain: "!") { id } }',
    '{ project(idOrName: "\\u0000") { id } }',
  ]) {
    const { status, errors } = await anonymous.request(refused);
    expect(status).toBe(401);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
  }
  expect(await anonymous.request('{ __typename }')).toMatchObject({
    status: 200,
    data: { __typename: 'Query' },
  });
  const { __schema } = await anonymous.query('{ __schema { queryType { name } } }');
  expect(__schema.queryType.name).toBe('Query');
});

test('takes an API key from X-Api-Key, and a token from Authorization', async () => {
  const { apiKey, token } = await app.createTenant();
  expect(await createClientAt(url, { 'x-api-key': apiKey }).query(VIEWER_KIND)).toEqual({
    viewer: { kind: 'API_KEY' },
  });
  for (const authorization of [`Bearer ${token}`, `bearer ${token}`]) {
    expect(await createClientAt(url, { authorization }).query(VIEWER_KIND)).toEqual({
      viewer: { kind: 'BUILDER' },
    });
  }
});

test('rejects a wrong key of any form', async () => {
  const { apiKey } = await app.createTenant();
  for (const value of [createKeyValue(), 'nonsense', apiKey.slice(0, -1), `${apiKey}0`]) {
    const { status, data, errors } = await createClientAt(url, { 'x-api-key': value }).request(
      VIEWER_KIND,
    );
    expect(status).toBe(401);
    expect(data ?? null).toBeNull();
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
    expect(JSON.stringify(errors)).not.toContain(value);
  }
});

test('rejects a deactivated or deleted key, immediately if it was never used', async () => {
  for (const isUsed of [true, false]) {
    for (const end of ['deactivate', 'delete']) {
      const { apiKey, apiKeyId: id } = await app.createTenant();
      const client = createClientAt(url, { 'x-api-key': apiKey });
      if (isUsed) await client.query(VIEWER_KIND);
      if (end === 'delete') await prisma.apiKey.deleteMany({ where: { id } });
      else await prisma.apiKey.updateMany({ where: { id }, data: { active: false } });
      const fetchStatus = async () => (await client.request(VIEWER_KIND)).status;
      if (isUsed) await expect.poll(fetchStatus, { interval: 20 }).toBe(401);
      else expect(await fetchStatus()).toBe(401);
    }
  }
});

test('accepts the token that the next tests forge, without a forged part', async () => {
  expect(await createBearerClient(await signToken({})).query(VIEWER_KIND)).toEqual({
    viewer: { kind: 'BUILDER' },
  });
});

const otherKey = await generateKeyPair('ES256');
const past = Math.floor(Date.now() / 1000) - 3600;
test.each<[string, () => Promise<string>]>([
  ['signed by another key', () => signToken({ key: otherKey.privateKey })],
  ['expired', () => signToken({ claims: { exp: past } })],
  ['without an expiry', () => signToken({ claims: { exp: undefined } })],
  ['not valid yet', () => signToken({ claims: { nbf: past + 7200 } })],
  ['for another audience', () => signToken({ claims: { aud: 'another' } })],
  ['for no audience', () => signToken({ claims: { aud: undefined } })],
  ['of another issuer', () => signToken({ claims: { iss: 'https://issuer.test' } })],
  ['without a subject', () => signToken({ claims: { sub: undefined } })],
  ['with an empty subject', () => signToken({ claims: { sub: '' } })],
  ['with a NUL in its subject', () => signToken({ claims: { sub: 'a\0b' } })],
  ['with half a character in its subject', () => signToken({ claims: { sub: 'a\ud800' } })],
  [
    'not signed at all',
    async () =>
      new UnsecuredJWT({ sub: 'forged' })
        .setIssuer('urn:integration-gateway:local-issuer')
        .setAudience('integration-gateway')
        .setExpirationTime('1h')
        .encode(),
  ],
  [
    "signed with the issuer's public key as a shared secret",
    () => signToken({ key: Buffer.from(issuerPublicKey), algorithm: 'HS256' }),
  ],
  ['not a token', async () => 'nonsense'],
])('rejects a token that is %s', async (_what, createToken) => {
  const token = await createToken();
  const { status, data, errors } = await createBearerClient(token).request(VIEWER_KIND);
  expect(status).toBe(401);
  expect(data ?? null).toBeNull();
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
  expect(await prisma.builder.count({ where: { idpProvider: 'https://issuer.test' } })).toBe(0);
});

test('rejects a scheme other than Bearer', async () => {
  const { token } = await app.createTenant();
  for (const authorization of [`Basic ${token}`, token, 'Bearer']) {
    expect((await createClientAt(url, { authorization }).request(VIEWER_KIND)).status).toBe(401);
  }
});

test('creates a builder with the first token, and updates it with later ones', async () => {
  const sub = crypto.randomUUID();
  const firstToken = await mint({ sub, email: 'Ada@Example.com', name: 'Ada' });
  const { builder } = (await createBearerClient(firstToken).query(VIEWER_BUILDER)).viewer;
  expect(builder).toEqual({
    id: expect.stringMatching(/^bld_/),
    firstName: null,
    fullName: 'Ada',
    primaryEmail: 'ada@example.com',
  });
  const laterToken = await mint({
    sub,
    email: 'ada@new.example',
    name: 'Ada King',
    given_name: 'Ada',
  });
  expect((await createBearerClient(laterToken).query(VIEWER_BUILDER)).viewer.builder).toEqual({
    id: builder.id,
    firstName: 'Ada',
    fullName: 'Ada King',
    primaryEmail: 'ada@new.example',
  });
});

test('creates one builder for concurrent first tokens', async () => {
  const sub = crypto.randomUUID();
  const tokens = await Promise.all(['A', 'B', 'C', 'D'].map((name) => mint({ sub, name })));
  const responses = await Promise.all(
    tokens.map((token) => createBearerClient(token).query(VIEWER_BUILDER)),
  );
  expect(new Set(responses.map(({ viewer }) => viewer.builder.id)).size).toBe(1);
  expect(await prisma.builder.count({ where: { idpRef: sub } })).toBe(1);
});

test('compares subjects exactly, and omits a name that cannot be stored', async () => {
  const sub = crypto.randomUUID();
  const queryBuilder = async (claims: { sub: string; name: string }) =>
    (await createBearerClient(await mint(claims)).query(VIEWER_BUILDER)).viewer.builder;
  const plain = await queryBuilder({ sub, name: ' Ada ' });
  expect(plain.fullName).toBe('Ada');
  const spaced = await queryBuilder({ sub: ` ${sub}`, name: 'a\0b' });
  expect(spaced.id).not.toBe(plain.id);
  expect(spaced.fullName).toBeNull();
});

test.each([false, undefined])('ignores an address whose email_verified is %s', async (verified) => {
  const claims = { sub: crypto.randomUUID(), email: 'ada@example.com', email_verified: verified };
  expect(
    (await createBearerClient(await mint(claims)).query(VIEWER_BUILDER)).viewer.builder
      .primaryEmail,
  ).toBeNull();
});

test('keeps an address without email_verified only if BEARER_EMAILS_VERIFIED is set', async () => {
  const issuer = 'https://issuer.example';
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] });
  const keys = await serve((_req, res) => res.end(jwks));
  onTestFinished(() => keys.stop());
  const settings = { BEARER_ISSUER: issuer, BEARER_JWKS_URL: keys.url };
  const enrolAndReadEmail = async (
    env: Record<string, string>,
    claims: Record<string, unknown>,
  ) => {
    const { verify } = await createBearerVerifier(readConfig({ ...settings, ...env }));
    const token = await new SignJWT({ sub: 'ada', email: 'ada@example.com', ...claims })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(issuer)
      .setAudience('integration-gateway')
      .setExpirationTime('5m')
      .sign(privateKey);
    const { builder } = await enrollBuilder(app.app.services, await verify(token));
    return builder.primaryEmail;
  };
  const trusted = { BEARER_EMAILS_VERIFIED: 'true' };
  expect(await enrolAndReadEmail({}, {})).toBeNull();
  expect(await enrolAndReadEmail({}, { email_verified: 'true' })).toBeNull();
  expect(await enrolAndReadEmail(trusted, {})).toBe('ada@example.com');
  expect(await enrolAndReadEmail(trusted, { email_verified: false })).toBeNull();
  expect(await enrolAndReadEmail(trusted, { email_verified: 'false' })).toBeNull();
  expect(await enrolAndReadEmail({}, { email_verified: true })).toBe('ada@example.com');
});

test('returns FORBIDDEN for an API key of every scope in mutations for people', async () => {
  const { apiKey, orgId } = await app.createTenant();
  const key = createClientAt(url, { 'x-api-key': apiKey });
  for (const [name, type, input, response] of [
    ['createOrg', 'CreateOrgInput', { label: 'x' }, 'org { id }'],
    ['createProject', 'CreateProjectInput', { name: 'xx', appName: 'x', orgId }, 'project { id }'],
    [
      'claimDomain',
      'ClaimDomainInput',
      { domain: 'for-people.example', parentId: orgId, parentType: 'ORG' },
      'claimedDomain { id }',
    ],
    ['acceptInvite', 'AcceptInviteInput', { inviteId: newId('inv') }, 'invite { id }'],
  ] as const) {
    const mutation = `mutation RunMutation($input: ${type}!) { ${name}(input: $input) { ${response} } }`;
    expect(await key.expectRefusal(mutation, { input })).toMatchObject({ code: 'FORBIDDEN' });
  }
});

test('refuses wrong keys from an address above a rate limit, and accepts valid ones', async () => {
  stopRates();
  const guarded = await createTestApp({ env: { WRONG_KEY_LIMIT_PER_MINUTE: '3' } });
  onTestFinished(() => guarded[Symbol.asyncDispose]());
  const { url: base } = await guarded.app.start();
  const { apiKey, token } = await guarded.createTenant();
  const wrongHeaders: Headers[] = [
    { 'x-api-key': createKeyValue() },
    { authorization: 'Bearer nonsense' },
    { 'x-api-key': 'nonsense' },
  ];
  for (const headers of wrongHeaders)
    expect((await createClientAt(base, headers).request(VIEWER_KIND)).status).toBe(401);

  const furtherHeaders: Headers[] = [
    { 'x-api-key': createKeyValue() },
    { authorization: 'Bearer more' },
  ];
  for (const headers of furtherHeaders) {
    const response = await createClientAt(base, headers).request(VIEWER_KIND);
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(response.errors?.map(({ extensions }) => extensions.code)).toEqual(['RATE_LIMITED']);
  }
  // The server has cached neither credential yet.
  const validHeaders: Headers[] = [{ 'x-api-key': apiKey }, { authorization: `Bearer ${token}` }];
  for (const headers of validHeaders) {
    expect((await createClientAt(base, headers).request(VIEWER_KIND)).status).toBe(200);
  }
  // The flood leaves room in the queue, so one more request waits for its turn instead of being refused.
  const flood = Array.from({ length: 240 }, () =>
    createClientAt(base, { 'x-api-key': createKeyValue() }).request(VIEWER_KIND),
  );
  const lateTenant = await guarded.createTenant();
  expect(
    (await createClientAt(base, { 'x-api-key': lateTenant.apiKey }).request(VIEWER_KIND)).status,
  ).toBe(200);
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
  const otherAddressAgent = new Agent({ localAddress: '127.0.0.2' });
  const response = await request(`${base}/graphql`, {
    dispatcher: otherAddressAgent,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify({ query: VIEWER_KIND }),
  });
  expect(await response.body.json()).toEqual({ data: { viewer: { kind: 'API_KEY' } } });
  await otherAddressAgent.close();
});

test.each([
  'memory',
  'database',
])('spends the cost of an operation from the rate (%s)', async (store) => {
  const limited = await createTestApp({
    env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '100', RATE_LIMIT_STORE: store },
  });
  onTestFinished(() => limited[Symbol.asyncDispose]());
  stopRates();
  const tenant = await limited.createTenant();
  await setSharedTokens(limited.app.services.database, tenant.apiKeyId, 100);
  const createHeavyQuery = (first: number) =>
    `{ viewer { project { operations(first: ${first}) { edges { node { id } } } } } }`;
  const readRemaining = ({ headers }: GraphqlResponse) =>
    Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  // The operation costs 502, so it spends six tokens: one for the request and five for its cost.
  for (let remaining = 94; remaining > 0; remaining -= 6) {
    expect(readRemaining(await tenant.request(createHeavyQuery(500)))).toBe(remaining);
  }
  const refusal = await tenant.request(createHeavyQuery(500));
  expect(refusal.status).toBe(429);
  expect(refusal.errors?.[0]?.extensions).toMatchObject({
    code: 'RATE_LIMITED',
    problem: { limit: 'RATE_LIMIT_PER_SECOND', retryAfterSeconds: expect.any(Number) },
  });
  expect((await tenant.request(VIEWER_KIND)).status).toBe(200);
});

test('spends the whole burst for an operation that costs more', async () => {
  stopRates();
  const limited = await createTestApp({
    env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '3' },
  });
  onTestFinished(() => limited[Symbol.asyncDispose]());
  const tenant = await limited.createTenant();
  const heavy = '{ viewer { project { operations(first: 1000) { edges { node { id } } } } } }';
  expect((await tenant.request(heavy)).status).toBe(200);
  expect((await tenant.request(VIEWER_KIND)).status).toBe(429);
});

test('refuses a key over its rate with Retry-After, and accepts others', async () => {
  stopRates();
  const limits = { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '2' };
  const limited = await createTestApp({ env: limits });
  onTestFinished(() => limited[Symbol.asyncDispose]());
  const { url: base } = await limited.app.start();
  const [busy, calm] = [await limited.createTenant(), await limited.createTenant()];
  const key = createClientAt(base, { 'x-api-key': busy.apiKey });
  const responses = await Promise.all(Array.from({ length: 20 }, () => key.request(VIEWER_KIND)));
  const refusals = responses.filter(({ status }) => status === 429);
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(2);
  expect(refusals).toHaveLength(18);
  for (const { headers, errors } of refusals) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['RATE_LIMITED']);
  }
  expect(
    (await createClientAt(base, { 'x-api-key': calm.apiKey }).request(VIEWER_KIND)).status,
  ).toBe(200);
});
