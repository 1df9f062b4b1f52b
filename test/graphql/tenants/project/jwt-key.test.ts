import { UnsecuredJWT } from 'jose';
import { expect, test } from 'vitest';
import { createTestApp, getSharedApp } from '../../../support/app.ts';
import {
  createBearerClient,
  createJwtIssuer,
  createJwtKeyPair,
  type JwtOptions,
} from '../../../support/fixtures/end-users.ts';

const app = await getSharedApp();
const QUERY_VIEWER =
  '{ viewer { kind permissions expireTime group { groupRef } consumer { consumerRef } } }';
const CREATE_JWT_KEY = `mutation CreateJwtKey($input: CreateJwtKeyInput!) {
  createJwtKey(input: $input) { jwtKey { id label algorithm publicKeyPem active project { id } } }
}`;
const UPDATE_JWT_KEY = `mutation UpdateJwtKey($input: UpdateJwtKeyInput!) {
  updateJwtKey(input: $input) { jwtKey { id label active updateTime } }
}`;
const DELETE_JWT_KEY = `mutation DeleteJwtKey($input: DeleteJwtKeyInput!) {
  deleteJwtKey(input: $input) { deletedId }
}`;
const LIST_JWT_KEYS = `query ListJwtKeys($active: Boolean) {
  viewer { project { jwtKeys(active: $active) { nodes { id } } } }
}`;

test('creates, lists, changes and deletes a key', async () => {
  const tenant = await app.createTenant();
  const { publicKeyPem } = createJwtKeyPair();
  const project = { projectIdOrName: tenant.projectId };
  const input = { ...project, label: ' server ', publicKeyPem };
  const { jwtKey } = (await tenant.query(CREATE_JWT_KEY, { input })).createJwtKey;
  expect(jwtKey).toEqual({
    id: expect.stringMatching(/^jwk_/),
    label: 'server',
    algorithm: 'RS256',
    publicKeyPem,
    active: true,
    project: { id: tenant.projectId },
  });
  const change = { ...project, jwtKeyId: jwtKey.id, label: 'old', active: false };
  const { updateJwtKey } = await tenant.query(UPDATE_JWT_KEY, { input: change });
  expect(updateJwtKey.jwtKey).toMatchObject({ label: 'old', active: false });
  const { viewer } = await tenant.query(LIST_JWT_KEYS, { active: true });
  expect(viewer.project.jwtKeys.nodes).toEqual([]);
  expect((await tenant.query(LIST_JWT_KEYS)).viewer.project.jwtKeys.nodes).toEqual([
    { id: jwtKey.id },
  ]);
  const deletion = { input: { ...project, jwtKeyId: jwtKey.id } };
  expect((await tenant.query(DELETE_JWT_KEY, deletion)).deleteJwtKey).toEqual({
    deletedId: jwtKey.id,
  });
  expect(await tenant.expectRefusal(DELETE_JWT_KEY, deletion)).toMatchObject({ code: 'NOT_FOUND' });
});

test("returns NOT_FOUND for another tenant's key, and requires the scopes that the key grants", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { id } = await createJwtIssuer(tenant);
  for (const [query, change] of [
    [UPDATE_JWT_KEY, { label: 'mine' }],
    [DELETE_JWT_KEY, {}],
  ] as const) {
    const input = { projectIdOrName: otherTenant.projectId, jwtKeyId: id, ...change };
    expect(await otherTenant.expectRefusal(query, { input })).toMatchObject({ code: 'NOT_FOUND' });
  }
  const weakKey = await tenant.withScopes('keys:write', 'read');
  const input = { projectIdOrName: tenant.projectId, label: 'x', ...createJwtKeyPair() };
  const { privateKeyPem: _, ...registered } = input;
  const refused = await weakKey.expectRefusal(CREATE_JWT_KEY, { input: registered });
  expect(refused.problem.detail).toContain('connections:write');
  const key = { projectIdOrName: tenant.projectId, jwtKeyId: id };
  await tenant.query(UPDATE_JWT_KEY, { input: { ...key, active: false } });
  const refusal = await weakKey.expectRefusal(UPDATE_JWT_KEY, { input: { ...key, active: true } });
  expect(refusal.problem.detail).toContain('connections:write');
});

test('refuses a value that is not a public RSA key of 2048 to 4096 bits, without repeating it', async () => {
  const tenant = await app.createTenant();
  const { privateKeyPem } = createJwtKeyPair();
  for (const [publicKeyPem, words] of [
    ['text', 'public RSA key'],
    [privateKeyPem, 'public RSA key'],
    [createJwtKeyPair(1_024).publicKeyPem, '2048 to 4096'],
  ] as const) {
    const input = { projectIdOrName: tenant.projectId, label: 'x', publicKeyPem };
    const { problem } = await tenant.expectRefusal(CREATE_JWT_KEY, { input });
    expect(problem.issues).toEqual([
      expect.objectContaining({
        name: 'input.publicKeyPem',
        detail: expect.stringContaining(words),
      }),
    ]);
    expect(JSON.stringify(problem)).not.toContain(publicKeyPem.slice(30, 60) || 'text"');
  }
});

test("accepts a token of the builder's server, and creates its group and consumer", async () => {
  const tenant = await app.createTenant();
  const issuer = await createJwtIssuer(tenant);
  const token = await issuer.sign({ claims: { sub: 'anything' } });
  expect((await createBearerClient(app, token).query(QUERY_VIEWER)).viewer).toEqual({
    kind: 'END_USER',
    permissions: ['CONNECT', 'INSTALL', 'READ'],
    expireTime: expect.any(String),
    group: { groupRef: 'acme' },
    consumer: { consumerRef: 'ann' },
  });
});

test('rejects tokens with wrong times, claims, key or algorithm', async () => {
  const tenant = await app.createTenant();
  const issuer = await createJwtIssuer(tenant);
  const otherIssuer = await createJwtIssuer(tenant, createJwtKeyPair());
  const now = Math.floor(Date.now() / 1_000);
  const wrongOptions: JwtOptions[] = [
    { claims: { iat: now - 900, exp: now - 300 } },
    { claims: { iat: now, exp: now + 601 } },
    { claims: { iat: now + 120, exp: now + 300 } },
    { claims: { nbf: now + 120 } },
    { claims: { iat: undefined } },
    { claims: { exp: undefined } },
    { claims: { groupRef: undefined } },
    { claims: { consumerRef: '' } },
    { claims: { groupRef: 'a\0b' } },
    { header: { kid: otherIssuer.id } },
    { header: { kid: 'jwk_01h455vb4pex5vsknk084sn02q' } },
    { header: { kid: undefined } },
  ];
  for (const signing of wrongOptions) {
    const refusal = await createBearerClient(app, await issuer.sign(signing)).expectRefusal(
      QUERY_VIEWER,
    );
    expect([signing, refusal.code]).toEqual([signing, 'UNAUTHENTICATED']);
  }
  const unsigned = new UnsecuredJWT({
    groupRef: 'acme',
    consumerRef: 'ann',
    iat: now,
    exp: now + 60,
  })
    .encode()
    .replace(
      /^[^.]+/,
      Buffer.from(JSON.stringify({ alg: 'none', kid: issuer.id })).toString('base64url'),
    );
  expect(await createBearerClient(app, unsigned).expectRefusal(QUERY_VIEWER)).toMatchObject({
    code: 'UNAUTHENTICATED',
  });
  await createBearerClient(app, await issuer.sign()).query(QUERY_VIEWER);
});

test('rejects tokens of an inactive or deleted key immediately, and accepts those of a reactivated one', async () => {
  const tenant = await app.createTenant();
  const issuer = await createJwtIssuer(tenant);
  const user = createBearerClient(app, await issuer.sign());
  await user.query(QUERY_VIEWER);
  const key = { projectIdOrName: tenant.projectId, jwtKeyId: issuer.id };
  await tenant.query(UPDATE_JWT_KEY, { input: { ...key, active: false } });
  expect(await user.expectRefusal(QUERY_VIEWER)).toMatchObject({ code: 'UNAUTHENTICATED' });
  await tenant.query(UPDATE_JWT_KEY, { input: { ...key, active: true } });
  await user.query(QUERY_VIEWER);
  await tenant.query(DELETE_JWT_KEY, { input: key });
  expect(await user.expectRefusal(QUERY_VIEWER)).toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('rejects a token after its expiry, and after its project is deleted', async () => {
  let ms = Date.now();
  await using testApp = await createTestApp({ now: () => new Date(ms) });
  const tenant = await testApp.createTenant();
  const issuer = await createJwtIssuer(tenant);
  const user = createBearerClient(testApp, await issuer.sign({}, new Date(ms)));
  const { viewer } = await user.query(QUERY_VIEWER);
  ms = Date.parse(viewer.expireTime);
  expect(await user.expectRefusal(QUERY_VIEWER)).toMatchObject({ code: 'UNAUTHENTICATED' });
  const laterUser = createBearerClient(testApp, await issuer.sign({}, new Date(ms)));
  await laterUser.query(QUERY_VIEWER);
  const deletion = { projectIdOrName: tenant.projectId, confirmName: tenant.projectName };
  await tenant.builder.query(
    'mutation DeleteProject($input: DeleteProjectInput!) { deleteProject(input: $input) { deletedId } }',
    { input: deletion },
  );
  expect(await laterUser.expectRefusal(QUERY_VIEWER)).toMatchObject({ code: 'UNAUTHENTICATED' });
});
