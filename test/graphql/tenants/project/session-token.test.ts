import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { createTestApp, getSharedApp } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import {
  CREATE_SESSION_TOKEN,
  createBearerClient,
  createEndUser,
  createSessionToken,
} from '../../../support/fixtures/end-users.ts';
import {
  connectAndInstall,
  createIntegration,
  insertDestination,
} from '../../../support/fixtures/integrations.ts';
import { listIssueNames } from '../../../support/graphql-client.ts';

const app = await getSharedApp();
const QUERY_VIEWER = `{ viewer {
  kind scopes permissions expireTime project { id } builder { id }
  group { groupRef groupName } consumer { consumerRef consumerName }
} }`;
const LIST_PARTIES = `query ListParties($p: String!) { project(idOrName: $p) {
  connections { totalCount nodes { id group { groupRef } consumer { consumerRef } credentials { apiKey } } }
  installations { totalCount nodes { id } }
  integrations { totalCount nodes { name } }
  operations { totalCount nodes { id } }
} }`;

const compareRefs = (a: { groupRef: string }, b: { groupRef: string }) =>
  a.groupRef.localeCompare(b.groupRef);

test('creates the group and consumer of a token, and returns them in viewer', async () => {
  const tenant = await app.createTenant();
  const names = { groupName: 'Acme Inc.', consumerName: 'Ann' };
  const { token, expireTime, connectUrl } = await createSessionToken(tenant, names);
  const { viewer } = await createBearerClient(app, token).query(QUERY_VIEWER);
  expect(viewer).toEqual({
    kind: 'END_USER',
    scopes: [],
    permissions: ['CONNECT', 'INSTALL', 'READ'],
    expireTime,
    project: { id: tenant.projectId },
    builder: null,
    group: { groupRef: 'acme', groupName: 'Acme Inc.' },
    consumer: { consumerRef: 'ann', consumerName: 'Ann' },
  });
  expect(connectUrl).toBe(`${app.app.services.publicUrl()}/connect#token=${token}`);
  const renamedToken = await createSessionToken(tenant, { groupName: 'Acme Ltd.' });
  expect(
    (await createBearerClient(app, renamedToken.token).query(QUERY_VIEWER)).viewer.group.groupName,
  ).toBe('Acme Ltd.');
});

test('creates each group and consumer once for concurrent first requests', async () => {
  const tenant = await app.createTenant();
  const users = Array.from({ length: 16 }, (_, index) => ({
    groupRef: `group-${index % 2}`,
    groupName: index % 4 === 1 ? 'Named' : null,
    consumerRef: `consumer-${index % 3}`,
  }));
  const tokens = await Promise.all(users.map((user) => createSessionToken(tenant, user)));
  const responses = await Promise.all(
    tokens.map(({ token }) => createBearerClient(app, token).query(QUERY_VIEWER)),
  );
  expect(
    responses.map(({ viewer }) => [viewer.group.groupRef, viewer.consumer.consumerRef]),
  ).toEqual(users.map(({ groupRef, consumerRef }) => [groupRef, consumerRef]));
  const lists = `query ListGroups($p: String!) { project(idOrName: $p) {
    groups { nodes { groupRef groupName } } consumers { nodes { consumerRef consumerName } }
  } }`;
  const { project } = await tenant.query(lists, { p: tenant.projectId });
  expect(project.groups.nodes.toSorted(compareRefs)).toEqual([
    { groupRef: 'group-0', groupName: 'group-0' },
    { groupRef: 'group-1', groupName: 'Named' },
  ]);
  expect(project.consumers.nodes).toHaveLength(3);
});

test('accepts a token until its expiry', async () => {
  let ms = Date.now();
  await using testApp = await createTestApp({ now: () => new Date(ms) });
  const tenant = await testApp.createTenant();
  const { token, expireTime } = await createSessionToken(tenant, { expiresInSeconds: 60 });
  const user = createBearerClient(testApp, token);
  expect(Date.parse(expireTime) - ms).toBeLessThanOrEqual(60_000);
  ms = Date.parse(expireTime) - 1;
  await user.query(QUERY_VIEWER);
  // The server still caches the caller, so the token's expiry ends it.
  ms += 1;
  expect(await user.expectRefusal(QUERY_VIEWER)).toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('rejects an altered or forged token', async () => {
  const tenant = await app.createTenant();
  const { token } = await createSessionToken(tenant);
  const [head, , signature] = token.split('.');
  const claims = { ...decodeJwt(token), group: 'grp_other' };
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'session+jwt' }));
  for (const forged of [
    `${head}.${body}.${signature}`,
    `${unsigned.toString('base64url')}.${body}.`,
    `${token}x`,
  ]) {
    expect(await createBearerClient(app, forged).expectRefusal(QUERY_VIEWER)).toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  }
});

test('refuses to grant permissions that the caller lacks', async () => {
  const tenant = await app.createTenant();
  const weak = { ...tenant, ...(await tenant.withScopes('read', 'connections:write')) };
  const input = { projectIdOrName: tenant.projectId, groupRef: 'acme', consumerRef: 'ann' };
  const refusal = await weak.expectRefusal(CREATE_SESSION_TOKEN, { input });
  expect(refusal).toMatchObject({ code: 'FORBIDDEN' });
  expect(refusal.problem.detail).toContain('installations:write, reads:control');
  const { viewer } = await (await createEndUser(app, weak, { permissions: ['CONNECT'] })).query(
    QUERY_VIEWER,
  );
  expect(viewer.permissions).toEqual(['CONNECT']);
  const user = await createEndUser(app, tenant);
  expect(await user.expectRefusal(CREATE_SESSION_TOKEN, { input })).toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('reports every invalid input', async () => {
  const tenant = await app.createTenant();
  const input = { projectIdOrName: tenant.projectId, groupRef: '', consumerRef: 'ann' };
  const schemaRefusal = await tenant.expectRefusal(CREATE_SESSION_TOKEN, {
    input: { ...input, expiresInSeconds: 59, returnUrl: 'javascript:alert(1)' },
  });
  expect(listIssueNames(schemaRefusal.problem)).toEqual([
    'input.groupRef',
    'input.expiresInSeconds',
    'input.returnUrl',
  ]);
  const projectRefusal = await tenant.expectRefusal(CREATE_SESSION_TOKEN, {
    input: { ...input, groupRef: 'acme', integrations: ['none'], returnUrl: 'https://evil.test/' },
  });
  expect(listIssueNames(projectRefusal.problem)).toEqual([
    'input.integrations[0]',
    'input.returnUrl',
  ]);
});

test("accepts a returnUrl at the project's allowed origins only", async () => {
  const tenant = await app.createTenant();
  const allow = `mutation UpdateProject($input: UpdateProjectInput!) {
    updateProject(input: $input) { project { allowedOrigins } }
  }`;
  const createInput = (allowedOrigins: string[]) => ({
    input: { projectIdOrName: tenant.projectId, allowedOrigins },
  });
  const { updateProject } = await tenant.query(allow, createInput(['https://shop.test']));
  expect(updateProject.project.allowedOrigins).toEqual(['https://shop.test']);
  const { token } = await createSessionToken(tenant, { returnUrl: 'https://shop.test/done' });
  expect(decodeJwt(token)).toMatchObject({ returnUrl: 'https://shop.test/done' });
  const wrong = ['https://shop.test/', 'shop.test', 'null', 'file:///x', '*'];
  const { problem } = await tenant.expectRefusal(allow, createInput(wrong));
  expect(problem.issues).toHaveLength(wrong.length);
});

test("lists only the group's objects and the token's integrations to an end user", async () => {
  const tenant = await app.createTenant();
  await insertDestination(app, tenant);
  const crm = await createIntegration(app, tenant);
  await createIntegration(app, tenant, { ...createContent('other') });
  await connectAndInstall(tenant, crm);
  await generateConnection(tenant, {
    groupRef: 'rival',
    consumerRef: 'bob',
    apiKey: 'sandbox-key',
  });
  const user = await createEndUser(app, tenant, { integrations: ['crm'] });
  const { data } = await user.request(LIST_PARTIES, { p: tenant.projectId });
  expect(data.project.connections.nodes.map(({ group }: never) => group)).toEqual([
    { groupRef: 'acme' },
  ]);
  expect(data.project).toMatchObject({
    installations: { totalCount: 1 },
    integrations: { totalCount: 1, nodes: [{ name: 'crm' }] },
  });
});

function createContent(name: string) {
  return { name, provider: 'sandbox', write: { objects: [{ objectName: 'deals' }] } };
}
