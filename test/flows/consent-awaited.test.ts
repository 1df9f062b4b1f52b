/** A connection that is created only from scopes has no tokens until a person consents. */
import { expect, test } from 'vitest';
import { getSharedApp } from '../support/app.ts';
import {
  GET_CREDENTIALS,
  generateConnection,
  recordEvents,
} from '../support/fixtures/connections.ts';
import {
  createInstallation,
  createIntegration,
  createIntegrationContent,
  insertDestination,
} from '../support/fixtures/integrations.ts';
import { POLLING, retryReadsNow, startReadJobs, TRIGGER_READ } from '../support/fixtures/reads.ts';
import { WRITE_RECORDS } from '../support/fixtures/writes.ts';
import { createProviderApp, START_CONNECT } from '../support/providers/oauth.ts';
import { createOAuthBrowser } from '../support/providers/oauth-browser.ts';
import { expectEqualRefusal } from '../support/rest/equal-refusals.ts';
import { createRestTenant } from '../support/rest/rest-client.ts';

const app = await getSharedApp({ env: { PUBLIC_URL: 'https://gateway.test/' } });
const { prisma } = app.app.services.database;
const browser = createOAuthBrowser(app);
const SCOPES = ['records.read', 'records.write'];

const CONSENT_REQUIRED =
  "The connection is waiting for a person's consent. Send them to the link that startOAuthUpdate returns.";
const START_UPDATE = `mutation StartOAuthUpdate($input: StartOAuthUpdateInput!) {
  startOAuthUpdate(input: $input) { authorizeUrl }
}`;

async function createWaitingConnection() {
  const rest = await createRestTenant(app);
  const { tenant } = rest;
  await insertDestination(app, tenant);
  await createProviderApp(tenant, { scopes: ['of.the.app'] });
  const listEvents = await recordEvents(app, tenant);
  const connection = await generateConnection(tenant, {
    oauth2AuthorizationCode: { scopes: SCOPES },
  });
  return { ...rest, listEvents, connection };
}

type WaitingConnection = Awaited<ReturnType<typeof createWaitingConnection>>;

async function install({ tenant }: WaitingConnection) {
  const content = createIntegrationContent('crm', {
    write: { objects: [{ objectName: 'contacts' }] },
    proxy: { enabled: true },
  });
  await createIntegration(app, tenant, content);
  const target = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
  };
  const { id } = await createInstallation(tenant);
  return { target, id: id as string };
}

async function giveConsent(link: string): Promise<void> {
  expect((await browser.connect(link)).status).toBe(200);
}

test('creates a connection without tokens from scopes, and refuses empty scopes', async () => {
  const rest = await createWaitingConnection();
  expect(rest.connection).toMatchObject({ status: 'CREATED' });
  const { node } = await rest.tenant.query(GET_CREDENTIALS, { id: rest.connection.id });
  expect(node.credentials.oauth2AuthorizationCode).toEqual({
    accessToken: null,
    refreshToken: null,
    scopes: SCOPES,
  });
  const query = 'includeCreds=true';
  const response = await rest.get(`${rest.base}/connections/${rest.connection.id}?${query}`);
  expect(response).toMatchObject({
    status: 'created',
    oauth2AuthorizationCode: { scopes: SCOPES },
  });
  expect(response.oauth2AuthorizationCode).not.toHaveProperty('accessToken');
  const parties = { groupRef: 'a', consumerRef: 'b', provider: 'sandbox' };
  for (const oauth2AuthorizationCode of [{}, { scopes: [] }]) {
    const input = { ...parties, oauth2AuthorizationCode };
    expect(await expectEqualRefusal(rest, 'generateConnection', input)).toMatchObject({
      status: 400,
    });
  }
});

test('requests the stored scopes at the consent, which completes the connection', async () => {
  const rest = await createWaitingConnection();
  const { tenant, connection } = rest;
  const project = { projectIdOrName: tenant.projectId };
  const parties = { ...project, provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' };
  const { startOAuthConnect } = await tenant.query(START_CONNECT, { input: parties });
  const readScope = async (link: string) => (await browser.open(link)).searchParams.get('scope');
  expect(await readScope(startOAuthConnect.authorizeUrl)).toBe(SCOPES.join(' '));
  const input = { ...project, connectionId: connection.id };
  const { startOAuthUpdate } = await tenant.query(START_UPDATE, { input });
  expect(await readScope(startOAuthUpdate.authorizeUrl)).toBe(SCOPES.join(' '));

  await giveConsent(startOAuthUpdate.authorizeUrl);
  const { node } = await tenant.query(GET_CREDENTIALS, { id: connection.id });
  expect(node.credentials.oauth2AuthorizationCode).toMatchObject({
    accessToken: { token: expect.any(String) },
    scopes: SCOPES,
  });
  expect(await prisma.connection.count({ where: { projectId: tenant.projectId } })).toBe(1);
  expect((await rest.listEvents()).map(({ eventType }) => eventType)).toEqual([
    'CONNECTION_CREATED',
    'CONNECTION_UPDATED',
  ]);
  // A connection with tokens stores the granted scopes. A further consent requests those of the provider app.
  const furtherUpdate = await tenant.query(START_UPDATE, { input });
  expect(await readScope(furtherUpdate.startOAuthUpdate.authorizeUrl)).toBe('of.the.app');
});

test('refuses operations that need a token with the reason, and stores nothing', async () => {
  const rest = await createWaitingConnection();
  const { tenant, base, connection } = rest;
  const { target, id } = await install(rest);
  const refusal = { status: 422, detail: CONSENT_REQUIRED };
  const objectName = 'contacts';
  const record = { email: 'ann@acme.test' };
  const countBefore = await prisma.operation.count({ where: { projectId: tenant.projectId } });
  for (const mode of ['SYNCHRONOUS', 'ASYNCHRONOUS']) {
    const input = { ...target, objectName, type: 'CREATE', records: { record }, mode };
    const { code, problem } = await tenant.expectRefusal(WRITE_RECORDS, { input });
    expect({ code, detail: problem.detail }).toEqual({
      code: 'UNPROCESSABLE',
      detail: CONSENT_REQUIRED,
    });
  }
  const readRefusal = await tenant.expectRefusal(TRIGGER_READ, {
    input: { ...target, objectName },
  });
  expect(readRefusal.problem).toMatchObject(refusal);
  expect(await prisma.operation.count({ where: { projectId: tenant.projectId } })).toBe(
    countBefore,
  );

  const path = `${base}/integrations/crm/objects/contacts`;
  const body = { groupRef: 'acme', type: 'create', record };
  expect(await rest.expectRefusal('POST', path, body)).toMatchObject(refusal);
  expect(
    await rest.expectRefusal('GET', `${base}/installations/${id}/proxy/objects`),
  ).toMatchObject(refusal);
  expect(await rest.expectRefusal('GET', `${path}/metadata?groupRef=acme`)).toMatchObject(refusal);
  const refreshPath = `${base}/connections/${connection.id}?refresh=force`;
  expect(await rest.expectRefusal('GET', refreshPath)).toMatchObject(refusal);
});

test('delays a scheduled read until the consent', async () => {
  const rest = await createWaitingConnection();
  const { tenant, connection } = rest;
  await install(rest);
  await using _workers = await startReadJobs(app);
  const { projectId } = tenant;
  await prisma.installedObject.updateMany({
    where: { projectId },
    data: { nextReadTime: new Date(0) },
  });
  const read = { projectId, actionType: 'READ' as const };
  const findOperation = () => prisma.operation.findFirst({ where: read });
  await expect
    .poll(async () => (await findOperation())?.result, POLLING)
    .toBe(`[contacts] ${CONSENT_REQUIRED}`);
  expect((await findOperation())?.status).toBe('IN_PROGRESS');
  const input = { projectIdOrName: projectId, connectionId: connection.id };
  await giveConsent((await tenant.query(START_UPDATE, { input })).startOAuthUpdate.authorizeUrl);
  await retryReadsNow(app, tenant);
  await expect.poll(async () => (await findOperation())?.status, POLLING).toBe('SUCCESS');
});
