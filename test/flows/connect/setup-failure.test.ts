import { expect, test } from 'vitest';
import { readTextColumn } from '../../../src/domain/base/stored-text.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { generateConnection, recordEvents } from '../../support/fixtures/connections.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import { CREATE_INSTALLATION, createIntegration } from '../../support/fixtures/integrations.ts';
import type { GraphqlClient } from '../../support/graphql-client.ts';
import { createProviderApp, START_CONNECT } from '../../support/providers/oauth.ts';
import { createOAuthBrowser, submitConsent } from '../../support/providers/oauth-browser.ts';
import { createPlantedSecret, expectNoSecret, listForms } from '../credentials/planted-secrets.ts';

const clock = { aheadMs: 0 };
const app = await getSharedApp({
  env: { REDIRECT_ORIGINS: 'https://builder.test' },
  now: () => new Date(Date.now() + clock.aheadMs),
});
const browser = createOAuthBrowser(app);

const SETUP_FAILURES = `query SetupFailures($project: String) { project(idOrName: $project) {
  setupFailures { provider error count firstFailureTime lastFailureTime } } }`;
const PARTIES = { groupRef: 'acme', consumerRef: 'ann' };
const NO_APP_MESSAGE = expect.stringContaining('has no provider app for sandbox');

function createInput({ projectId }: Pick<Tenant, 'projectId'>, overrides: object = {}) {
  return { input: { projectIdOrName: projectId, provider: 'sandbox', ...PARTIES, ...overrides } };
}

async function listFailures(client: Pick<GraphqlClient, 'query'>, project?: string) {
  return (await client.query(SETUP_FAILURES, { project })).project?.setupFailures;
}

test('reports failures of end users, with at most one event an hour', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const user = await createEndUser(app, tenant);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    expect((await user.expectRefusal(START_CONNECT, createInput(tenant))).code).toBe(
      'BAD_USER_INPUT',
    );
  }
  const { projectId } = tenant;
  expect(await listEvents()).toEqual([
    {
      eventType: 'SETUP_FAILED',
      connectionId: null,
      data: { projectId, provider: 'sandbox', ...PARTIES, error: NO_APP_MESSAGE },
    },
  ]);
  const failures = await listFailures(tenant);
  expect(failures).toMatchObject([{ provider: 'sandbox', error: NO_APP_MESSAGE, count: 3 }]);

  await user.expectRefusal(
    START_CONNECT,
    createInput(tenant, { redirectUrl: 'https://evil.test' }),
  );
  expect(await listEvents()).toHaveLength(1);
  expect(await listFailures(tenant)).toMatchObject([
    { count: 4, error: expect.stringContaining('redirectUrl') },
  ]);

  clock.aheadMs += 61 * 60_000;
  const laterUser = await createEndUser(app, tenant);
  await laterUser.expectRefusal(START_CONNECT, createInput(tenant));
  expect(await listEvents()).toHaveLength(2);
  const [repeatedFailure] = await listFailures(tenant);
  expect(repeatedFailure.count).toBe(1);
  expect(repeatedFailure.firstFailureTime > failures[0].lastFailureTime).toBe(true);
});

test('reports neither failed calls of a backend nor invalid input of an end user', async () => {
  const tenant = await app.createTenant();
  await tenant.expectRefusal(START_CONNECT, createInput(tenant));
  const user = await createEndUser(app, tenant);
  await user.expectRefusal(START_CONNECT, createInput(tenant, { groupRef: 'rival' }));
  await user.expectRefusal(START_CONNECT, createInput(tenant, { provider: 'none' }));
  await createProviderApp(tenant, { provider: 'shopify', scopes: ['read_products'] });
  await user.expectRefusal(START_CONNECT, createInput(tenant, { provider: 'shopify' }));
  expect(await listFailures(tenant)).toEqual([]);
});

test('reports no failure for a provider that the token does not permit', async () => {
  const tenant = await app.createTenant();
  const { name } = await createIntegration(app, tenant);
  const user = await createEndUser(app, tenant, { integrations: [name] });
  await user.expectRefusal(START_CONNECT, createInput(tenant, { provider: 'hubspot' }));
  await user.expectRefusal(START_CONNECT, createInput(tenant));
  expect(await listFailures(tenant)).toMatchObject([{ provider: 'sandbox' }]);
});

test('reports an end user whose installation selects a field that the integration lacks', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const { id } = await createIntegration(app, tenant);
  const connection = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const user = await createEndUser(app, tenant);
  const { problem } = await user.expectRefusal(CREATE_INSTALLATION, {
    input: {
      projectIdOrName: tenant.projectId,
      integrationIdOrName: id,
      groupRef: 'acme',
      connectionId: connection.id,
      config: { read: [{ objectName: 'contacts', selectedFields: ['unicorn'] }] },
    },
  });
  expect(await listFailures(tenant)).toMatchObject([
    { provider: 'sandbox', error: problem.detail.replace('`input.', '`'), count: 1 },
  ]);
  const events = await listEvents();
  const failed = events.find(({ eventType }) => eventType === 'SETUP_FAILED');
  expect(failed?.data).toMatchObject({ error: problem.detail.replace('`input.', '`') });
  // The row has parts, so that members that are renamed later follow.
  const row = await app.app.services.database.prisma.setupFailure.findFirstOrThrow({
    where: { projectId: tenant.projectId },
  });
  expect(readTextColumn(row.error)).toContainEqual({
    member: ['config', 'read', 0, 'selectedFields', 0],
    of: 'CreateInstallationInput',
  });
});

test('shows a mistake that an earlier version has stored', async () => {
  const tenant = await app.createTenant();
  const time = new Date();
  const error = 'Invalid input. input.providerAppId: is required';
  await app.app.services.database.prisma.setupFailure.create({
    data: {
      projectId: tenant.projectId,
      provider: 'sandbox',
      error,
      count: 1,
      firstFailureTime: time,
      lastFailureTime: time,
    },
  });
  expect(await listFailures(tenant)).toMatchObject([{ error }]);
});

test('reports a rejected OAuth client, and hides the reason from the customer', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant, { clientSecret: 'wrong' });
  const user = await createEndUser(app, tenant);
  const connect = async (redirectUrl?: string) => {
    const input = createInput(tenant, redirectUrl ? { redirectUrl } : {});
    const { startOAuthConnect } = await user.query(START_CONNECT, input);
    return browser.connect(startOAuthConnect.authorizeUrl);
  };
  const page = await (await connect()).text();
  const [, content] = /<main>(.*)<\/main>/s.exec(page) ?? [];
  expect(content).toContain('Something is wrong on our side.');
  expect(content).not.toContain('invalid_client');
  // The script posts the reason to the builder's page.
  expect(page).toContain('invalid_client');
  const redirect = await connect('https://builder.test/done');
  const { searchParams } = new URL(redirect.headers.get('location') ?? '');
  expect(searchParams.get('fault')).toBe('setup');
  expect(searchParams.get('error_description')).toContain('invalid_client');
  expect(await listFailures(tenant)).toMatchObject([
    { provider: 'sandbox', error: expect.stringContaining('invalid_client'), count: 2 },
  ]);
});

test('reports a provider that refuses the scopes, but not a person who declines', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  const user = await createEndUser(app, tenant);
  const declineConsent = async () => {
    const { startOAuthConnect } = await user.query(START_CONNECT, createInput(tenant));
    return submitConsent(await browser.open(startOAuthConnect.authorizeUrl), false);
  };
  const declined = await (await browser.send(await declineConsent())).text();
  expect(declined).toContain('access_denied');
  expect(await listFailures(tenant)).toEqual([]);
  const url = await declineConsent();
  url.searchParams.set('error', 'invalid_scope');
  url.searchParams.set('error_description', 'Unknown scope crm.all.');
  expect(await (await browser.send(url)).text()).toContain('Something is wrong on our side.');
  expect(await listFailures(tenant)).toMatchObject([{ error: 'Unknown scope crm.all.' }]);
});

test('masks the client secret in the redirect of a provider', async () => {
  const tenant = await app.createTenant();
  const clientSecret = createPlantedSecret();
  await createProviderApp(tenant, { clientSecret });
  const user = await createEndUser(app, tenant);
  const connect = async (redirectUrl?: string) => {
    const input = createInput(tenant, redirectUrl ? { redirectUrl } : {});
    const { startOAuthConnect } = await user.query(START_CONNECT, input);
    const url = await submitConsent(await browser.open(startOAuthConnect.authorizeUrl), false);
    const forms = listForms(clientSecret).join(' ');
    url.searchParams.set('error', 'invalid_scope');
    url.searchParams.set('error_description', `${'x '.repeat(140)}${forms}`);
    return browser.send(url);
  };
  const page = await (await connect()).text();
  const redirect = await connect('https://builder.test/done');
  const location = decodeURIComponent(redirect.headers.get('location') ?? '');
  const failures = await listFailures(tenant);
  expect(location).toContain('error=invalid_scope');
  expect(failures).toMatchObject([
    { count: expect.any(Number), error: expect.stringContaining('***') },
  ]);
  expectNoSecret([clientSecret], `${page}\n${location}\n${JSON.stringify(failures)}`);
});

test('shows failures to neither another tenant nor an end user', async () => {
  const tenant = await app.createTenant();
  const user = await createEndUser(app, tenant);
  await user.expectRefusal(START_CONNECT, createInput(tenant));
  const otherTenant = await app.createTenant();
  expect(await listFailures(otherTenant, tenant.projectId)).toBeUndefined();
  expect((await user.expectRefusal(SETUP_FAILURES, {})).code).toBe('FORBIDDEN');
});
