import { expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import { createProviderApp } from '../../../support/providers/oauth.ts';
import { createOAuthBrowser } from '../../../support/providers/oauth-browser.ts';

const RETURN_URL = 'https://builder.test/done';
const app = await getSharedApp({
  env: { REDIRECT_ORIGINS: 'https://builder.test', PUBLIC_URL: 'https://gateway.test/' },
});
const { prisma } = app.app.services.database;

const START_OAUTH_UPDATE = `mutation StartOAuthUpdate($input: StartOAuthUpdateInput!) {
  startOAuthUpdate(input: $input) { authorizeUrl expireTime }
}`;
const importedTokens = { oauth2AuthorizationCode: { accessToken: { token: 'at' } } };

function createUpdateInput({ projectId }: Tenant, connectionId: string, overrides: object = {}) {
  return { input: { projectIdOrName: projectId, connectionId, ...overrides } };
}

test('replaces the tokens of the connection after a second consent', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  const { id } = await generateConnection(tenant, importedTokens);
  const input = { scopes: ['records.read'], returnUrl: RETURN_URL };
  const { startOAuthUpdate } = await tenant.query(
    START_OAUTH_UPDATE,
    createUpdateInput(tenant, id, input),
  );
  const browser = createOAuthBrowser(app);
  const url = await browser.open(startOAuthUpdate.authorizeUrl);
  expect(url.searchParams.get('scope')).toBe('records.read');
  const back = await browser.connect(startOAuthUpdate.authorizeUrl);
  expect(back.headers.get('location')).toBe(`${RETURN_URL}?connectionId=${id}`);
  expect(await prisma.connection.count({ where: { projectId: tenant.projectId } })).toBe(1);
});

test('reports invalid inputs as issues, and problems of the connection as UNPROCESSABLE', async () => {
  const tenant = await app.createTenant();
  const { id } = await generateConnection(tenant, importedTokens);
  const withoutProviderApp = await tenant.expectRefusal(
    START_OAUTH_UPDATE,
    createUpdateInput(tenant, id),
  );
  expect(withoutProviderApp).toMatchObject({ code: 'UNPROCESSABLE' });
  await createProviderApp(tenant);
  const withForeignUrl = await tenant.expectRefusal(
    START_OAUTH_UPDATE,
    createUpdateInput(tenant, id, { returnUrl: 'https://evil.test/' }),
  );
  expect(withForeignUrl.problem.issues).toMatchObject([{ in: 'body', name: 'input.returnUrl' }]);
});

test("refuses another tenant's connection, and a caller without the scope", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { id } = await generateConnection(tenant, importedTokens);
  expect(
    await otherTenant.expectRefusal(START_OAUTH_UPDATE, createUpdateInput(otherTenant, id)),
  ).toMatchObject({ code: 'NOT_FOUND' });
  const reader = await tenant.withScopes('read');
  expect(
    await reader.expectRefusal(START_OAUTH_UPDATE, createUpdateInput(tenant, id)),
  ).toMatchObject({ code: 'FORBIDDEN' });
});
