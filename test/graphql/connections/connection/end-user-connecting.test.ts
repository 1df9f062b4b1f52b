/** End users set names when they connect accounts, and replace expired credentials. */

import { expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import {
  createConnectionVariables,
  GENERATE_CONNECTION,
  GET_CREDENTIALS,
  generateConnection,
} from '../../../support/fixtures/connections.ts';
import {
  createEndUser,
  createJwtIssuer,
  type EndUser,
} from '../../../support/fixtures/end-users.ts';
import { connectAndInstall, createIntegration } from '../../../support/fixtures/integrations.ts';
import { listIssueNames } from '../../../support/graphql-client.ts';
import { createRestClient } from '../../../support/rest/rest-client.ts';

const app = await getSharedApp();

const UPDATE_CONNECTION = `mutation UpdateConnection($input: UpdateConnectionInput!) {
  updateConnection(input: $input) { connection { id status } }
}`;

async function createJwtClient(tenant: Tenant) {
  const token = await (await createJwtIssuer(tenant)).sign();
  return createRestClient(app, { authorization: `Bearer ${token}` });
}

const queryApiKey = async (tenant: Tenant, id: string) =>
  (await tenant.query(GET_CREDENTIALS, { id })).node.credentials.apiKey;

test("sets the names of the end user's own group and consumer on connecting, over both surfaces", async () => {
  const tenant = await app.createTenant();
  const rivalConnection = await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    groupRef: 'rival',
    consumerRef: 'bob',
    groupName: 'Rival Ltd.',
    consumerName: 'Bob',
  });
  const session = await createEndUser(app, tenant);
  const names = { groupName: 'Acme Inc.', consumerName: 'Ann' };
  expect(await generateConnection(session, { apiKey: 'sandbox-key', ...names })).toMatchObject({
    group: { groupRef: 'acme', groupName: 'Acme Inc.' },
    consumer: { consumerRef: 'ann', consumerName: 'Ann' },
  });
  const body = {
    groupRef: 'acme',
    groupName: 'Acme Ltd.',
    consumerRef: 'ann',
    consumerName: 'Ann B.',
    provider: 'sandbox',
    apiKey: 'sandbox-key',
  };
  const page = await createJwtClient(tenant);
  const path = `/projects/${tenant.projectId}/connections`;
  expect(await page.post(`${path}:generate`, body)).toMatchObject({
    group: { groupRef: 'acme', groupName: 'Acme Ltd.' },
    consumer: { consumerRef: 'ann', consumerName: 'Ann B.' },
  });

  const foreign = { apiKey: 'sandbox-key', groupRef: 'rival', consumerRef: 'bob', ...names };
  const { code, problem } = await session.expectRefusal(
    GENERATE_CONNECTION,
    createConnectionVariables(tenant, foreign),
  );
  expect(code).toBe('BAD_USER_INPUT');
  expect(listIssueNames(problem)).toEqual(['input.groupRef', 'input.consumerRef']);
  const query = `query GetConnectedAccount($id: ID!) {
    node(id: $id) { ... on ConnectedAccount { group { groupName } consumer { consumerName } } }
  }`;
  expect((await tenant.query(query, { id: rivalConnection.id })).node).toEqual({
    group: { groupName: 'Rival Ltd.' },
    consumer: { consumerName: 'Bob' },
  });
});

test("replaces an end user's expired credentials, and keeps the installation", async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant);
  const { id: installationId, connection } = await connectAndInstall(tenant, integration, {});
  const { consumerRef } = connection.consumer;
  const path = `/projects/${tenant.projectId}/connections/${connection.id}`;
  const token = await (await createJwtIssuer(tenant)).sign({ claims: { consumerRef } });
  const page = createRestClient(app, { authorization: `Bearer ${token}` });
  const body = { updateMask: ['apiKey'], connection: { apiKey: 'sandbox-key-2' } };
  expect(await page.patch(path, body)).toMatchObject({ id: connection.id, status: 'created' });
  expect(await queryApiKey(tenant, connection.id)).toBe('sandbox-key-2');
  const session = await createEndUser(app, tenant, { consumerRef });
  const input = {
    projectIdOrName: tenant.projectId,
    connectionId: connection.id,
    credentials: { apiKey: 'sandbox-key-3' },
  };
  const { updateConnection } = await session.query(UPDATE_CONNECTION, { input });
  expect(updateConnection.connection).toMatchObject({ id: connection.id, status: 'CREATED' });
  expect(await queryApiKey(tenant, connection.id)).toBe('sandbox-key-3');
  const { node } = await tenant.query(
    'query GetInstallation($id: ID!) { node(id: $id) { ... on Installation { connection { id } } } }',
    { id: installationId },
  );
  expect(node.connection).toEqual({ id: connection.id });
});

test('refuses new credentials from other groups, other consumers and tokens that may not connect', async () => {
  const tenant = await app.createTenant();
  const { id } = await generateConnection(tenant);
  const rivals: [who: object, code: string][] = [
    [{ groupRef: 'rival' }, 'NOT_FOUND'],
    [{ consumerRef: 'bob' }, 'FORBIDDEN'],
    [{ permissions: ['INSTALL', 'READ'] }, 'FORBIDDEN'],
  ];
  const getUpdateRefusal = (user: EndUser) => {
    const credentials = { apiKey: 'other-key' };
    const input = { projectIdOrName: tenant.projectId, connectionId: id, credentials };
    return user.expectRefusal(UPDATE_CONNECTION, { input });
  };
  for (const [rival, code] of rivals) {
    expect(await getUpdateRefusal(await createEndUser(app, tenant, rival))).toMatchObject({ code });
  }
  const otherTenant = await app.createTenant();
  expect(await getUpdateRefusal(await createEndUser(app, otherTenant))).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await queryApiKey(tenant, id)).toBe('sandbox-key');
});
