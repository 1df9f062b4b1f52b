/**
 * Walks over all providers with a consent page: the parameters of the page, a consent that repeats another one without a
 * refresh token, a refresh, and each final and temporary error of the token endpoint.
 * @module-tag all/walk
 */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Row } from '../../../src/domain/access/scope.ts';
import { openProviderSessionOf } from '../../../src/domain/connections/connection/connection-session.ts';
import { CATALOG, PROXY_ENTRIES } from '../../../src/providers/catalog/all-entries.ts';
import {
  isConsentScheme,
  type Provider,
  type TokenErrorRule,
} from '../../../src/providers/contract.ts';
import { createHubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import { createSalesforceProvider } from '../../../src/providers/salesforce/salesforce-provider.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/work/durations.ts';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection, recordEvents } from '../../support/fixtures/connections.ts';
import { createAheadClock } from '../../support/process/ahead-clock.ts';
import {
  createProviderApp,
  getConnection,
  readStoredCredentials,
} from '../../support/providers/oauth.ts';
import {
  type ServedResponse,
  startProviderServer,
} from '../../support/providers/provider-server.ts';
import { consent, createAccountInput, redirectEntry } from '../../support/wire/oauth-entries.ts';

const clock = createAheadClock();
/** The response of each token endpoint. All other paths respond with 404. */
let tokenResponse: ServedResponse = { status: 200 };
const server = await startProviderServer(({ body }) => {
  const isTokenRequest = typeof body === 'object' && body !== null && 'grant_type' in body;
  return isTokenRequest ? tokenResponse : { status: 404 };
});
afterAll(() => server[Symbol.asyncDispose]());

/** Entries without settings for consent pages and token errors behave alike. catalog-walk.test.ts refreshes each of them. */
const plainNames = PROXY_ENTRIES.filter(
  ({ oauth2, usesMicrosoftTokens }) =>
    !oauth2?.authorizeParams && !oauth2?.tokenErrors && !usesMicrosoftTokens,
).map(({ name }) => name);
const providers = [createHubspotProvider(), createSalesforceProvider(), ...CATALOG]
  .filter(({ name }) => !plainNames.includes(name))
  .filter(({ authSchemes }) => authSchemes.some(isConsentScheme))
  .map((provider) => redirectEntry(provider, server.url));
const app = await getSharedApp({
  providers,
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  now: clock.now,
});
const { services } = app.app;

beforeEach(() => {
  clock.aheadMs = 0;
  server.reset();
});

/** Parameters by which a provider issues a refresh token, or without which its consent page fails. */
const CONSENT_PARAMS: Record<string, Record<string, string>> = {
  atlassian: { audience: 'api.atlassian.com', prompt: 'consent' },
  dropbox: { token_access_type: 'offline' },
  google: { access_type: 'offline', prompt: 'consent' },
  lever: { audience: 'https://api.lever.co/v1/' },
  leverSandbox: { audience: 'https://api.sandbox.lever.co/v1/' },
  notion: { owner: 'user' },
  redditAds: { duration: 'permanent' },
  salesforce: { prompt: 'login' },
  square: { session: 'true' },
  zoho: { access_type: 'offline' },
};
const REPEATED_CONSENT_PARAMS: Record<string, Record<string, string>> = {
  ...CONSENT_PARAMS,
  zoho: { access_type: 'offline', prompt: 'consent' },
};
const PROTOCOL_PARAMS = [
  ...['response_type', 'client_id', 'redirect_uri', 'scope', 'state'],
  ...['code_challenge', 'code_challenge_method'],
];
/** Providers whose token responses name the person, and the account if an account has several persons. */
const IDENTIFYING = ['asana', 'close', 'dropbox', 'notion', 'salesforce', 'slack', 'square'];

/** Returns a token response that names the same account and person each time. */
function grantTokens({ oauth2 }: Provider, tokens: object): ServedResponse {
  const body: Record<string, unknown> = { access_token: 'access', expires_in: 3_600, ...tokens };
  for (const path of [oauth2?.tokenFields?.workspaceRef, oauth2?.tokenFields?.consumerRef]) {
    if (path === undefined) continue;
    const [name = '', ...innerNames] = path.split('.');
    body[name] = innerNames.reduceRight<unknown>((value, inner) => ({ [inner]: value }), 'same');
  }
  return { status: 200, body };
}

function readExtraParams({ searchParams }: URL): Record<string, string> {
  return Object.fromEntries([...searchParams].filter(([name]) => !PROTOCOL_PARAMS.includes(name)));
}

async function readRefreshToken(connection: Row<'Connection'>): Promise<string | undefined> {
  const credentials = await readStoredCredentials(app, connection);
  return 'refreshToken' in credentials ? credentials.refreshToken?.token : undefined;
}

const LIST_ATTENTION_ITEMS = `query ListAttentionItems($project: String) {
  project(idOrName: $project) { attentionItems { kind } }
}`;

describe.each(providers.map((provider) => ({ name: provider.name, provider })))('$name', ({
  name,
  provider,
}) => {
  test('consents twice, keeps a refresh token of the same account only, and refreshes', async () => {
    const tenant = await app.createTenant();
    await createProviderApp(tenant, { provider: name });
    const input = { ...createAccountInput(provider), scopes: ['read'] };
    tokenResponse = grantTokens(provider, { refresh_token: 'first' });
    const first = await consent(app, tenant, input);
    expect(readExtraParams(first.consentUrl)).toEqual(CONSENT_PARAMS[name] ?? {});

    tokenResponse = grantTokens(provider, {});
    const second = await consent(app, tenant, input);
    expect(readExtraParams(second.consentUrl)).toEqual(REPEATED_CONSENT_PARAMS[name] ?? {});
    const row = await services.database.prisma.connection.findFirstOrThrow({
      where: { projectId: tenant.projectId },
    });
    const connection = await getConnection(app, row.id);
    const isKept = IDENTIFYING.includes(name);
    expect(await readRefreshToken(connection)).toBe(isKept ? 'first' : undefined);
    const { project } = await tenant.query(LIST_ATTENTION_ITEMS, { project: tenant.projectId });
    expect(project.attentionItems).toEqual(isKept ? [] : [{ kind: 'CONNECTION_UNREFRESHABLE' }]);

    if (!isKept) {
      tokenResponse = grantTokens(provider, { refresh_token: 'first' });
      await consent(app, tenant, input);
    }
    clock.aheadMs += 3 * HOUR_MS;
    tokenResponse = grantTokens(provider, { refresh_token: 'second' });
    const session = await openProviderSessionOf(services, await getConnection(app, row.id));
    await session.send({ method: 'GET', path: '/records' });
    const request = server.requests.findLast(({ method }) => method === 'POST');
    expect(request?.body).toMatchObject({ grant_type: 'refresh_token', refresh_token: 'first' });
    expect(await readRefreshToken(connection)).toBe('second');
  });

  test('sets BAD_CREDENTIALS immediately for codes of OAuth, and after a repetition for its own', async () => {
    const { tokenErrors = [] } = provider.oauth2 ?? {};
    const ownErrors = tokenErrors.filter(({ kind }) => kind === 'AUTH_INVALIDATED');
    for (const error of ['invalid_grant', 'invalid_client', 'unauthorized_client']) {
      const connection = await connectWithExpiredToken(provider);
      tokenResponse = { status: 400, body: { error } };
      expect(await connection.refresh()).toEqual(['AUTH_INVALIDATED', 'BAD_CREDENTIALS', 1]);
    }
    const repeatable: Omit<TokenErrorRule, 'kind'>[] = [
      { code: 'invalid_request', status: 400 },
      ...ownErrors,
    ];
    for (const { code: error, description, status = 400 } of repeatable) {
      const connection = await connectWithExpiredToken(provider);
      tokenResponse = { status, body: { error, error_description: description } };
      expect(await connection.refresh()).toEqual(['RETRYABLE', 'CREATED', 0]);
      clock.aheadMs += 9 * MINUTE_MS;
      expect(await connection.refresh()).toEqual(['RETRYABLE', 'CREATED', 0]);
      clock.aheadMs += MINUTE_MS;
      expect(await connection.refresh()).toEqual(['AUTH_INVALIDATED', 'BAD_CREDENTIALS', 1]);
    }
  });

  test('survives temporary errors, for however long they last', async () => {
    const { tokenErrors = [] } = provider.oauth2 ?? {};
    const ownErrors = tokenErrors.filter(({ kind }) => kind === 'RATE_LIMITED');
    const connection = await connectWithExpiredToken(provider);
    for (const [status, body] of [
      [500, { error: 'invalid_grant' }],
      [503, undefined],
      [429, { error: 'invalid_grant' }],
      [400, { error: 'temporarily_unavailable' }],
      [400, { error: 'server_error' }],
      [404, 'No such page'],
      [200, '<h1>Maintenance</h1>'],
      ...ownErrors.map(({ code }) => [400, { error: code }] as const),
    ] as const) {
      tokenResponse = { status, body };
      for (let hours = 0; hours < 3; hours += 1) {
        const [, ...state] = await connection.refresh();
        expect([body, ...state]).toEqual([body, 'CREATED', 0]);
        clock.aheadMs += HOUR_MS;
      }
    }
    tokenResponse = grantTokens(provider, {});
    expect((await connection.refresh())[1]).toBe('CREATED');
    expect(await connection.refresh()).toEqual([null, 'CREATED', 0]);
  });
});

/**
 * Returns a function that sends a request, for which the token must be refreshed. It returns the kind of the error, the
 * connection's status, and the number of error events.
 */
async function connectWithExpiredToken(provider: Provider) {
  const tenant = await app.createTenant();
  await createProviderApp(tenant, { provider: provider.name });
  const { id } = await generateConnection(tenant, {
    ...createAccountInput(provider),
    oauth2AuthorizationCode: {
      accessToken: { token: 'expired', expireTime: new Date('2020-01-01T00:00:00Z') },
      refreshToken: { token: 'refresh' },
    },
  });
  const listEvents = await recordEvents(app, tenant);
  return {
    async refresh() {
      const session = await openProviderSessionOf(services, await getConnection(app, id));
      const error = await session.send({ method: 'GET', path: '/records' }).then(
        () => null,
        ({ kind }) => kind,
      );
      const { status } = await getConnection(app, id);
      const events = await listEvents();
      return [
        error,
        status,
        events.filter(({ eventType }) => eventType === 'CONNECTION_ERROR').length,
      ];
    },
  };
}
