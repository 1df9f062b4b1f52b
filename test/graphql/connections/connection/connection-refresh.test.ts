import { expect, test } from 'vitest';
import { tokenRefreshes } from '../../../../src/domain/connections/connection/token/refresh-due-token.ts';
import { createLog } from '../../../../src/kernel/log.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { generateConnection, recordEvents } from '../../../support/fixtures/connections.ts';
import {
  CLIENT,
  callSandbox,
  connectWithTokens,
  getConnection,
  readStoredCredentials,
} from '../../../support/providers/oauth.ts';
import { runAllDueRows, runDueRows } from '../../../support/work/due-work.ts';

const app = await getSharedApp({ log: createLog('silent') });
const { sandbox, services } = app.app;

const REFRESH_CONNECTION = `mutation RefreshConnection($input: RefreshConnectionInput!) {
  refreshConnection(input: $input) { connection { id status updateTime } }
}`;

function createRefreshInput({ projectId }: Pick<Tenant, 'projectId'>, { id }: { id: string }) {
  return { input: { projectIdOrName: projectId, connectionId: id } };
}

async function readToken(connection: Parameters<typeof readStoredCredentials>[1]) {
  const storedCredentials = await readStoredCredentials(app, connection);
  return 'accessToken' in storedCredentials ? storedCredentials.accessToken?.token : undefined;
}

test('refreshes the token immediately, and sets the connection to CREATED', async () => {
  const tenant = await app.createTenant();
  const connection = await connectWithTokens(app, tenant, { expiresAt: null });
  await callSandbox(app, connection);
  const listEvents = await recordEvents(app, tenant);
  const oldToken = await readToken(connection);
  const { refreshConnection } = await tenant.query(
    REFRESH_CONNECTION,
    createRefreshInput(tenant, connection),
  );
  expect(refreshConnection.connection).toEqual({
    id: connection.id,
    status: 'CREATED',
    updateTime: expect.any(String),
  });
  expect(await readToken(connection)).not.toBe(oldToken);
  expect(await listEvents()).toMatchObject([
    { eventType: 'CONNECTION_REFRESHED', connectionId: connection.id },
  ]);
  // Each call refreshes the token.
  await tenant.query(REFRESH_CONNECTION, createRefreshInput(tenant, connection));
  expect(await listEvents()).toHaveLength(2);
});

test('fetches the first token of a client, and recovers refused credentials', async () => {
  const tenant = await app.createTenant();
  const { id } = await generateConnection(tenant, { oauth2ClientCredentials: CLIENT });
  const listEvents = await recordEvents(app, tenant);
  await tenant.query(REFRESH_CONNECTION, createRefreshInput(tenant, { id }));
  expect(await listEvents()).toMatchObject([{ eventType: 'CONNECTION_REFRESHED' }]);
  const rejection = { status: 'BAD_CREDENTIALS', refreshRejectedTime: new Date() } as const;
  await services.database.prisma.connection.updateMany({ where: { id }, data: rejection });
  const { refreshConnection } = await tenant.query(
    REFRESH_CONNECTION,
    createRefreshInput(tenant, { id }),
  );
  expect(refreshConnection.connection.status).toBe('CREATED');
});

test('refuses a connection without a token to refresh', async () => {
  const tenant = await app.createTenant();
  const keyed = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  expect(
    await tenant.expectRefusal(REFRESH_CONNECTION, createRefreshInput(tenant, keyed)),
  ).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: expect.stringContaining('API_KEY') },
  });
  const importedConnection = await connectWithTokens(app, tenant, { refreshToken: null });
  expect(
    await tenant.expectRefusal(REFRESH_CONNECTION, createRefreshInput(tenant, importedConnection)),
  ).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: expect.stringContaining('no refresh token') },
  });
});

test("returns the provider's error, and leaves the connection unchanged", async () => {
  const tenant = await app.createTenant();
  const connection = await connectWithTokens(app, tenant);
  sandbox.faults.set({ pathPrefix: '/oauth/token', status: 503, retryAfterSeconds: 9 });
  expect(
    await tenant.expectRefusal(REFRESH_CONNECTION, createRefreshInput(tenant, connection)),
  ).toMatchObject({
    code: 'PROVIDER_ERROR',
    problem: {
      status: 502,
      detail: expect.stringMatching(/token endpoint of Sandbox CRM responded with 503/),
      retryAfterSeconds: 9,
    },
  });
  expect(await getConnection(app, connection.id)).toMatchObject({ status: 'CREATED' });
});

test("returns the provider's refusal, and sets the connection to BAD_CREDENTIALS", async () => {
  const tenant = await app.createTenant();
  const connection = await connectWithTokens(app, tenant, { refreshToken: 'sbx_rt_unknown' });
  expect(
    await tenant.expectRefusal(REFRESH_CONNECTION, createRefreshInput(tenant, connection)),
  ).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: expect.stringContaining('invalid_grant') },
  });
  expect(await getConnection(app, connection.id)).toMatchObject({ status: 'BAD_CREDENTIALS' });
});

test('refuses another tenant, a missing scope and an unknown connection', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const connection = await connectWithTokens(app, tenant);
  const storedCredentials = await readStoredCredentials(app, connection);
  for (const { projectId } of [tenant, otherTenant]) {
    expect(
      await otherTenant.expectRefusal(
        REFRESH_CONNECTION,
        createRefreshInput({ projectId }, connection),
      ),
    ).toMatchObject({ code: 'NOT_FOUND' });
  }
  const reader = await tenant.withScopes('read', 'records:write');
  expect(
    await reader.expectRefusal(REFRESH_CONNECTION, createRefreshInput(tenant, connection)),
  ).toMatchObject({ code: 'FORBIDDEN' });
  expect(
    await tenant.expectRefusal(REFRESH_CONNECTION, createRefreshInput(tenant, { id: 'con_none' })),
  ).toMatchObject({ code: 'NOT_FOUND' });
  expect(await readStoredCredentials(app, connection)).toEqual(storedCredentials);
});

test('refreshes tokens of idle connections that expire soon, and no others', async () => {
  const createTimeIn = (ms: number) => new Date(services.now().getTime() + ms);
  const tenant = await app.createTenant();
  const connectExpiringAt = async (expiresAt: Date) =>
    connectWithTokens(app, await app.createTenant(), { expiresAt });
  const dueConnection = await connectExpiringAt(createTimeIn(50_000));
  const laterConnection = await connectExpiringAt(createTimeIn(60 * 60_000));
  const refusedConnection = await connectWithTokens(app, tenant, {
    refreshToken: 'sbx_rt_unknown',
  });
  const connectionWithoutRefreshToken = await connectWithTokens(app, await app.createTenant(), {
    refreshToken: null,
  });
  const readTokens = async () => Promise.all([dueConnection, laterConnection].map(readToken));
  const [dueToken, laterToken] = await readTokens();

  await runAllDueRows(services, tokenRefreshes);
  const [refreshedToken, unchangedToken] = await readTokens();
  expect(refreshedToken).not.toBe(dueToken);
  expect(unchangedToken).toBe(laterToken);
  expect(await getConnection(app, refusedConnection.id)).toMatchObject({
    status: 'BAD_CREDENTIALS',
  });
  expect(await getConnection(app, connectionWithoutRefreshToken.id)).toMatchObject({
    status: 'CREATED',
    tokenExpireTime: null,
  });
});

test('retries a failed refresh later', async () => {
  // Refreshes the tokens that other tests left.
  await runAllDueRows(services, tokenRefreshes);
  const connection = await connectWithTokens(app, await app.createTenant());
  sandbox.faults.set({ pathPrefix: '/oauth/token', status: 500 });
  expect(await runDueRows(services, tokenRefreshes)).toHaveLength(1);
  expect(await runDueRows(services, tokenRefreshes)).toEqual([]);
  expect(await getConnection(app, connection.id)).toMatchObject({
    status: 'CREATED',
    refreshDueTime: expect.toSatisfy((time: Date) => time > services.now()),
  });
  const later = new Date(services.now().getTime() + 10 * 60_000);
  expect(await runDueRows({ ...services, now: () => later }, tokenRefreshes)).toHaveLength(1);
  expect((await getConnection(app, connection.id)).tokenExpireTime).toSatisfy(
    (time: Date) => time > services.now(),
  );
});
