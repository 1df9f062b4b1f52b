/** Choices that the reference API leaves open about connections, provider apps, responses, rates and versions. */
import { expect } from 'vitest';
import { createTestApp } from '../support/app.ts';
import { OAUTH_CLIENT } from '../support/conformance/accounts.ts';
import type { Json } from '../support/conformance/body.ts';
import type { Fixture } from '../support/conformance/fixture.ts';
import { createMappedContact } from '../support/conformance/fixture-resources.ts';
import { withValue } from '../support/conformance/json-paths.ts';
import {
  ACCEPTED,
  type BodyEndpoint,
  createOutcomeRule,
  matchRefusal,
} from '../support/conformance/outcome.ts';
import type { Choice, Section } from '../support/conformance/rule.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { WRITE_RECORDS } from '../support/fixtures/writes.ts';
import { stopRates } from '../support/process/rates.ts';
import { callSandbox, getConnection } from '../support/providers/oauth.ts';
import { createRestTenant } from '../support/rest/rest-client.ts';
import { createRestInstallation } from '../support/rest/rest-installation.ts';

const connectionBody: BodyEndpoint = {
  send: ({ request, base }, body) => request('POST', `${base}/connections:generate`, body),
  mutation: 'generateConnection',
};
const appBody: BodyEndpoint = {
  send: ({ request, base }, body) => request('POST', `${base}/provider-apps`, body),
  mutation: 'createProviderApp',
};

const createAccount = ({ createUniqueName }: Fixture, overrides: Json): Json => ({
  ...{ groupRef: createUniqueName('group'), consumerRef: 'ann', provider: 'sandbox' },
  ...overrides,
});

const BASIC_AUTH = { username: 'ann', password: 'sandbox-password-planted' };
/** Required members of each kind of credentials. */
const CREDENTIALS: Record<string, Json> = {
  basicAuth: BASIC_AUTH,
  oauth2ClientCredentials: OAUTH_CLIENT,
  oauth2PasswordCredentials: { ...BASIC_AUTH, ...OAUTH_CLIENT },
};

const METADATA = {
  region: { value: 'eu', source: 'input' },
  plan: 'gold',
  seats: [1, { a: null }],
};
const GET_METADATA = `query GetConnectedAccount($id: ID!) {
  node(id: $id) { ... on ConnectedAccount { providerMetadata } }
}`;

const connectionChoices: Choice[] = [
  {
    open: 'Fields of `providerMetadata`',
    title:
      'It can be any JSON object of at most 16 KiB. GraphQL returns it unchanged. REST returns each member as an object with `value` and `source`: a member that is such an object stays unchanged, and any other value gets the source `input` and is encoded as JSON if it is not a string.',
    rest: async (fixture) => {
      const path = `${fixture.base}/connections:generate`;
      const body = createAccount(fixture, { apiKey: 'sandbox-key', providerMetadata: METADATA });
      const { id } = await fixture.post(path, body);
      const response = await fixture.get(`${fixture.base}/connections/${id}`);
      expect(response.providerMetadata).toEqual({
        region: METADATA.region,
        plan: { value: 'gold', source: 'input' },
        seats: { value: '[1,{"a":null}]', source: 'input' },
      });
      const large = { ...body, providerMetadata: { text: 'x'.repeat(17 * 1_024) } };
      expect(await fixture.expectRefusal('POST', path, large)).toMatchObject({
        status: 400,
        issues: [{ name: 'providerMetadata' }],
      });
    },
    graphql: async ({ tenant, createUniqueName }) => {
      const body = {
        groupRef: createUniqueName('group'),
        apiKey: 'sandbox-key',
        providerMetadata: METADATA,
      };
      const { id } = await generateConnection(tenant, body);
      expect((await tenant.query(GET_METADATA, { id })).node.providerMetadata).toEqual(METADATA);
    },
  },
  {
    open: 'Fields of `basicAuth`, `oauth2ClientCredentials` and `oauth2PasswordCredentials`',
    ...createOutcomeRule(
      '`basicAuth` has `username` and `password`, `oauth2ClientCredentials` has `clientId`, `clientSecret` and `scopes`, and `oauth2PasswordCredentials` has all of them. Only `scopes` is optional.',
      connectionBody,
      async (fetchOutcome, fixture) => {
        for (const [kind, completeCredentials] of Object.entries(CREDENTIALS)) {
          const body = createAccount(fixture, { [kind]: completeCredentials });
          expect(await fetchOutcome(body), kind).toMatchObject(ACCEPTED);
          if (kind !== 'basicAuth') {
            const scoped = withValue(body, `${kind}.scopes`, ['read']);
            expect(await fetchOutcome(scoped), kind).toMatchObject(ACCEPTED);
          }
          for (const member of Object.keys(completeCredentials)) {
            const outcome = await fetchOutcome(withValue(body, `${kind}.${member}`, undefined));
            expect(outcome, `${kind}.${member}`).toMatchObject(matchRefusal(member));
          }
        }
      },
    ),
  },
  {
    open: 'Required fields of `oauth2AuthorizationCode`',
    ...createOutcomeRule(
      'It requires a token or `scopes`. With only `scopes`, the connection waits for a consent that requests them.',
      connectionBody,
      async (fetchOutcome, fixture) => {
        const connect = (oauth2AuthorizationCode: Json) =>
          fetchOutcome(createAccount(fixture, { oauth2AuthorizationCode }));
        expect(await connect({ accessToken: { token: 'at' } })).toMatchObject(ACCEPTED);
        expect(await connect({ refreshToken: { token: 'rt' } })).toMatchObject(ACCEPTED);
        expect(await connect({ scopes: ['read'] })).toMatchObject(ACCEPTED);
        expect(await connect({})).toMatchObject(
          matchRefusal('oauth2AuthorizationCode.accessToken'),
        );
      },
    ),
  },
  {
    open: 'Credentials that the provider refuses',
    ...createOutcomeRule(
      'Keys, passwords, and credentials that are exchanged for a token are checked before they are stored. If the provider refuses them, the response is 422. With `skipCheck`, they are stored without a check.',
      connectionBody,
      async (fetchOutcome, fixture) => {
        const wrongKeyBody = createAccount(fixture, { apiKey: 'wrong' });
        expect(await fetchOutcome(wrongKeyBody)).toMatchObject(
          matchRefusal('rejected the credentials', 422),
        );
        expect(await fetchOutcome({ ...wrongKeyBody, skipCheck: true })).toMatchObject(ACCEPTED);
        const client = { clientId: 'client', clientSecret: 'wrong' };
        const clientCredentialsBody = createAccount(fixture, { oauth2ClientCredentials: client });
        expect(await fetchOutcome(clientCredentialsBody)).toMatchObject(
          matchRefusal('invalid_client', 422),
        );
      },
    ),
  },
  {
    open: '`enableCSRFProtection` of an OAuth flow',
    title:
      'Both values are accepted and ignored: every OAuth flow has a secret link that works once, in the browser that opened it.',
    rest: async ({ post, tenant, resources, createUniqueName }) => {
      await resources.providerApp();
      const parties = {
        provider: 'sandbox',
        groupRef: createUniqueName('group'),
        consumerRef: 'ann',
      };
      for (const enableCSRFProtection of [true, false]) {
        const body = { projectIdOrName: tenant.projectName, ...parties, enableCSRFProtection };
        const url = await post('/oauth-connect', body, 200);
        expect(new URL(url).searchParams.get('ticket')).toBeTruthy();
      }
    },
  },
  {
    open: 'Transitions between the states of a connection',
    title:
      'New credentials change `bad_credentials` to `created`, and a successful request changes it to `working`.',
    rest: async (fixture) => {
      const { app, base, createUniqueName } = fixture;
      const body = { groupRef: createUniqueName('group'), consumerRef: 'ann', provider: 'sandbox' };
      const path = `${base}/connections:generate`;
      const { id } = await fixture.post(path, { ...body, apiKey: 'wrong', skipCheck: true });
      const fetchStatus = async () => (await fixture.get(`${base}/connections/${id}`)).status;
      const callProvider = async () => callSandbox(app, await getConnection(app, id));
      await callProvider();
      expect(await fetchStatus()).toBe('bad_credentials');
      await fixture.post(path, { ...body, apiKey: 'sandbox-key' });
      expect(await fetchStatus()).toBe('created');
      await callProvider();
      expect(await fetchStatus()).toBe('working');
    },
  },
  {
    open: 'Further keys of the metadata of a provider app',
    ...createOutcomeRule(
      'There are none: keys other than `authQueryParams`, `providerParams` and the three keys of `providerParams` are refused.',
      appBody,
      async (fetchOutcome) => {
        const app = {
          provider: 'salesforce',
          clientId: 'client',
          clientSecret: 'sandbox-secret-planted',
        };
        expect(await fetchOutcome({ ...app, metadata: { other: {} } })).toMatchObject(
          matchRefusal('metadata'),
        );
        const providerParams = { other: 'a' };
        expect(await fetchOutcome({ ...app, metadata: { providerParams } })).toMatchObject(
          matchRefusal('providerParams'),
        );
      },
    ),
  },
];

const writeResponseChoices: Choice[] = [
  {
    open: 'Further fields of the result of a write',
    title:
      '`errors`: the reasons of a refusal. The result of a batch has the result of each record, in order. `omittedFields`: names in the input that were not written.',
    rest: async ({ app, request, objectPath }) => {
      const write = { groupRef: 'acme', type: 'create' };
      const withoutEmail = { lastname: 'No email' };
      const singleResponse = await request('POST', objectPath, { ...write, record: withoutEmail });
      expect(singleResponse.status).toBe(422);
      expect(singleResponse.body.errors.length).toBeGreaterThan(0);
      const batch = [createMappedContact(), { record: withoutEmail }].map((record) =>
        'record' in record ? record : { record },
      );
      const { body } = await request('POST', objectPath, { ...write, batch });
      expect(body.results.map(({ success }: Json) => success)).toEqual([true, false]);
      const objects = [{ objectName: 'contacts', inheritMapping: true }];
      const rest = await createRestInstallation(app, { content: { write: { objects } } });
      const record = { email: 'omitted@example.test', unheardOf: 1 };
      const path = `${rest.integrationPath}/objects/contacts`;
      const response = await rest.post(path, { ...write, record }, 200);
      expect(response.omittedFields).toEqual(['unheardOf']);
    },
    graphql: async ({ tenant, createWriteInput }) => {
      const input = createWriteInput({ type: 'CREATE', record: { lastname: 'No email' } });
      const { result } = (await tenant.query(WRITE_RECORDS, { input })).writeRecords;
      expect(result).toMatchObject({ success: false, errors: [{ message: expect.any(String) }] });
    },
  },
  {
    open: 'Further endpoints',
    title:
      '`/v1/openapi.json` has endpoints of topics, destinations, integrations, installations, triggered reads and the metadata of an installation.',
    rest: async ({ app }) => {
      const document = await (await app.fetch('/v1/openapi.json')).json();
      const paths = Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, '*'));
      const integration = '/projects/*/integrations/*';
      expect(paths).toEqual(
        expect.arrayContaining([
          '/projects/*/topics',
          '/projects/*/destinations',
          '/projects/*/integrations',
          `${integration}/installations`,
          `${integration}/objects/*`,
          `${integration}/objects/*/metadata`,
        ]),
      );
    },
  },
  {
    open: 'Rate limits',
    title:
      'A key may send `RATE_LIMIT_PER_SECOND` requests per second, with bursts of `RATE_LIMIT_BURST`. Further requests return 429 with `Retry-After`.',
    rest: async () => {
      stopRates();
      const env = { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '2' };
      await using app = await createTestApp({ env });
      const { tenant, base } = await createRestTenant(app);
      const headers = { 'x-api-key': tenant.apiKey };
      const responses = [];
      for (let count = 0; count < 6; count += 1) {
        responses.push(await app.fetch(`/v1${base}/topics`, { headers }));
      }
      const limited = responses.find(({ status }) => status === 429);
      expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(0);
    },
  },
  {
    open: 'Deprecation and negotiation of versions',
    title: 'Only `/v1` exists, without negotiation: another version returns 404.',
    rest: async ({ app, tenant }) => {
      const headers = { 'x-api-key': tenant.apiKey };
      expect((await app.fetch('/v1/projects', { headers })).status).toBe(200);
      expect((await app.fetch('/v2/projects', { headers })).status).toBe(404);
    },
  },
];

export const accountChoices: Section = {
  title: 'Accounts',
  rules: [],
  choices: [...connectionChoices, ...writeResponseChoices],
};
