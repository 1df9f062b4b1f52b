/** Rules for the rights of callers, and for the credentials that connect accounts. */
import { expect } from 'vitest';
import { ENDPOINTS } from '../../src/rest/endpoints.ts';
import { OAUTH_CLIENT, TOKENS } from '../support/conformance/accounts.ts';
import type { Fixture } from '../support/conformance/fixture.ts';
import {
  createDomainClaimBody,
  createProjectBody,
} from '../support/conformance/fresh-resources.ts';
import type { Choice, Rule, Section } from '../support/conformance/rule.ts';
import { createRestClient } from '../support/rest/rest-client.ts';

const GET_PROJECT = '{ viewer { project { id } } }';
const createKeyClients = ({ app }: Fixture, key: string) => ({
  rest: createRestClient(app, { 'x-api-key': key }),
  graphql: app.createClient({ 'x-api-key': key }),
});

const keyRules: Rule[] = [
  {
    title: 'An endpoint requires the header `X-Api-Key` with an API key.',
    rest: async ({ anonymous, get, base }) => {
      for (const list of ['connections', 'provider-apps', 'topics', 'api-keys']) {
        expect(await anonymous.request('GET', `${base}/${list}`)).toMatchObject({ status: 401 });
        await get(`${base}/${list}`);
      }
    },
    graphql: async ({ app, tenant }) => {
      expect(await app.createClient().expectRefusal(GET_PROJECT)).toMatchObject({
        code: 'UNAUTHENTICATED',
      });
      await tenant.query(GET_PROJECT);
    },
  },
  {
    title: 'Every endpoint returns 401 without a key and without a token.',
    rest: async ({ anonymous }) => {
      for (const { method, path } of ENDPOINTS) {
        const url = path.replaceAll(/\{\w+\}/g, 'unknown');
        const { status } = await anonymous.request(method, url);
        expect(status, `${method} ${path}`).toBe(401);
      }
    },
  },
  {
    title:
      "New projects and claims of domains require `Authorization: Bearer` with a builder's token.",
    rest: async (fixture) => {
      for (const [path, body] of [
        ['/projects', createProjectBody(fixture)],
        ['/claimed-domains', createDomainClaimBody(fixture)],
      ] as const) {
        expect(await fixture.anonymous.request('POST', path, body)).toMatchObject({ status: 401 });
        expect((await fixture.request('POST', path, body)).status).toBeGreaterThanOrEqual(401);
        await fixture.builder.post(path, body);
      }
    },
    graphql: async (fixture) => {
      const query = `mutation CreateProject($input: CreateProjectInput!) {
        createProject(input: $input) { project { id } }
      }`;
      const input = createProjectBody(fixture);
      expect((await fixture.tenant.expectRefusal(query, { input })).problem.status).toBeGreaterThan(
        400,
      );
      await fixture.tenant.builder.query(query, { input });
    },
  },
  {
    title: 'API keys can access the invites, builders and billing accounts of an org, too.',
    rest: async ({ get, tenant: { orgId } }) => {
      for (const list of ['invites', 'builders', 'billingAccount']) {
        await get(`/orgs/${orgId}/${list}`);
      }
    },
    graphql: async ({ tenant }) => {
      const selection =
        'invites { nodes { id } } members { nodes { builderId } } billingAccount { id }';
      const query = `query GetOrg($id: ID!) { org(id: $id) { ${selection} } }`;
      expect((await tenant.query(query, { id: tenant.orgId })).org).toBeTruthy();
    },
  },
  {
    title: 'The scopes of an API key limit what its requests may do.',
    rest: async ({ withScopes, base }) => {
      const reader = await withScopes('read');
      await reader.get(`${base}/topics`);
      expect(await reader.request('POST', `${base}/topics`, { name: 'a' })).toMatchObject({
        status: 403,
      });
    },
    graphql: async ({ tenant }) => {
      const reader = await tenant.withScopes('read');
      await reader.query(GET_PROJECT);
      const query = `mutation CreateTopic { createTopic(input: { projectIdOrName: "${tenant.projectName}",
        name: "a" }) { topic { id } } }`;
      expect(await reader.expectRefusal(query)).toMatchObject({ code: 'FORBIDDEN' });
    },
  },
  {
    title: 'An API key works while it is `active`, and is refused when it is inactive or deleted.',
    rest: async (fixture) => {
      const path = `${fixture.base}/api-keys`;
      const { id, key } = await fixture.post(path, { label: 'short' });
      const { rest, graphql } = createKeyClients(fixture, key);
      await rest.get(`${fixture.base}/topics`);
      for (const active of [false, true]) {
        await fixture.patch(`${path}/${id}`, { updateMask: ['active'], apiKey: { active } });
        const { status } = await rest.request('GET', `${fixture.base}/topics`);
        expect(status).toBe(active ? 200 : 401);
      }
      await fixture.delete(`${path}/${key}`);
      expect(await rest.request('GET', `${fixture.base}/topics`)).toMatchObject({ status: 401 });
      expect(await graphql.expectRefusal(GET_PROJECT)).toMatchObject({ code: 'UNAUTHENTICATED' });
    },
  },
];

const basicAuth = { username: 'ann', password: 'sandbox-password' };
const CREDENTIALS_BY_SCHEME: [scheme: string, credentials: object][] = [
  ['apiKey', { apiKey: 'sandbox-key' }],
  ['basic', { basicAuth }],
  ['oauth2/clientCredentials', { oauth2ClientCredentials: OAUTH_CLIENT }],
  ['oauth2/password', { oauth2PasswordCredentials: { ...OAUTH_CLIENT, ...basicAuth } }],
  ['oauth2/authorizationCode', { oauth2AuthorizationCode: TOKENS }],
  [
    'oauth2/authorizationCodePKCE',
    { oauth2AuthorizationCode: TOKENS, authScheme: 'oauth2/authorizationCodePKCE' },
  ],
  ['none', { customAuth: { accountKey: 'sandbox-key-a' } }],
];

const schemeRules = CREDENTIALS_BY_SCHEME.map(
  ([scheme, credentials]): Rule => ({
    title: `With \`${Object.keys(credentials).join('` and `')}\` a connection has the scheme \`${scheme}\`.`,
    rest: async ({ post, base, createUniqueName }) => {
      const account = {
        groupRef: createUniqueName('group'),
        consumerRef: 'ann',
        provider: 'sandbox',
      };
      const response = await post(`${base}/connections:generate`, { ...account, ...credentials });
      expect(response).toMatchObject({ authScheme: scheme, status: 'created' });
    },
  }),
);

const scopeChoices: Choice[] = [
  {
    open: 'Meaning of the scopes of a key',
    title:
      'A key without `scopes` has `full` over REST. GraphQL requires `scopes`. Unknown scopes and scopes that the caller lacks are refused.',
    rest: async ({ post, expectRefusal, withScopes, base }) => {
      const path = `${base}/api-keys`;
      expect((await post(path, { label: 'a' })).scopes).toEqual(['full']);
      expect(await expectRefusal('POST', path, { label: 'a', scopes: ['all'] })).toMatchObject({
        status: 400,
      });
      const keyManager = await withScopes('keys:write');
      const { status } = await keyManager.request('POST', path, { label: 'a', scopes: ['full'] });
      expect(status).toBeGreaterThanOrEqual(400);
    },
    graphql: async ({ tenant }) => {
      const query = `mutation CreateApiKey($input: CreateApiKeyInput!) {
        createApiKey(input: $input) { key }
      }`;
      const input = { projectIdOrName: tenant.projectId, label: 'a' };
      expect(await tenant.expectRefusal(query, { input })).toMatchObject({
        code: 'BAD_USER_INPUT',
      });
    },
  },
  {
    open: 'How a bearer token is obtained',
    title:
      'The configured issuer issues the token. Without an issuer, `npm run token` creates one. A changed token is rejected.',
    rest: async (fixture) => {
      const { token } = fixture.tenant;
      await createRestClient(fixture.app, { authorization: `Bearer ${token}` }).get('/my-info');
      const clientWithChangedToken = createRestClient(fixture.app, {
        authorization: `Bearer ${token.slice(0, -4)}AAAA`,
      });
      expect(await clientWithChangedToken.request('GET', '/my-info')).toMatchObject({
        status: 401,
      });
    },
  },
];

export const callers: Section = {
  title: 'Callers and credentials',
  rules: [...keyRules, ...schemeRules],
  choices: scopeChoices,
};
