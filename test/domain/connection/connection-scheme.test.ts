import { describe, expect, test } from 'vitest';
import {
  chooseScheme,
  listReplacementIssues,
} from '../../../src/domain/connection/connection-scheme.ts';
import { SCHEMES_OF_FIELD } from '../../../src/domain/connection/credential-input.ts';
import type { AuthScheme, Provider } from '../../../src/providers/contract.ts';
import { PROVIDERS } from '../../support/fixtures/connections.ts';

type Input = Parameters<typeof chooseScheme>[1];

const sandbox = getProvider('sandbox');
const stripe = getProvider('stripe');
const gitlab = getProvider('gitlab');
const unauthenticated: Provider = { ...stripe, name: 'open', authSchemes: ['NONE'] };

const CREDENTIALS_BY_FIELD = {
  apiKey: 'planted',
  basicAuth: { username: 'u', password: 'planted' },
  oauth2ClientCredentials: { clientId: 'c', clientSecret: 'planted' },
  oauth2PasswordCredentials: {
    username: 'u',
    password: 'planted',
    clientId: 'c',
    clientSecret: 'planted',
  },
  oauth2AuthorizationCode: { accessToken: { token: 'planted' } },
  customAuth: { accountKey: 'planted' },
};

function getProvider(name: string): Provider {
  return PROVIDERS.find((provider) => provider.name === name) as Provider;
}

function listIssueNames(provider: Provider, input: Input) {
  const { scheme, issues } = chooseScheme(provider, input);
  expect(scheme).toBeNull();
  expect(JSON.stringify(issues)).not.toContain('planted');
  return issues.map(({ name }) => name);
}

describe('one credential field', () => {
  test.each(Object.entries(CREDENTIALS_BY_FIELD))('%s selects its scheme', (field, value) => {
    const [scheme] = SCHEMES_OF_FIELD[field as keyof typeof CREDENTIALS_BY_FIELD];
    expect(chooseScheme(sandbox, { [field]: value })).toEqual({ scheme, issues: [] });
  });

  test.each(
    Object.entries(CREDENTIALS_BY_FIELD).filter(([field]) => field !== 'apiKey'),
  )('a provider of API keys refuses %s', (field, value) => {
    expect(listIssueNames(stripe, { [field]: value })).toEqual([`input.${field}`]);
  });

  test('authScheme selects one of several matching schemes', () => {
    const { oauth2AuthorizationCode } = CREDENTIALS_BY_FIELD;
    const choose = (authScheme: AuthScheme) =>
      chooseScheme(sandbox, { oauth2AuthorizationCode, authScheme }).scheme;
    expect(choose('OAUTH2_AUTHORIZATION_CODE_PKCE')).toBe('OAUTH2_AUTHORIZATION_CODE_PKCE');
    expect(choose('OAUTH2_AUTHORIZATION_CODE')).toBe('OAUTH2_AUTHORIZATION_CODE');
    expect(chooseScheme(getProvider('airtable'), { oauth2AuthorizationCode }).scheme).toBe(
      'OAUTH2_AUTHORIZATION_CODE_PKCE',
    );
  });

  test('refuses an authScheme that contradicts the field', () => {
    expect(listIssueNames(sandbox, { apiKey: 'planted', authScheme: 'BASIC' })).toEqual([
      'input.authScheme',
    ]);
    const authScheme = 'OAUTH2_AUTHORIZATION_CODE_PKCE';
    const { oauth2AuthorizationCode } = CREDENTIALS_BY_FIELD;
    expect(listIssueNames(getProvider('slack'), { oauth2AuthorizationCode, authScheme })).toEqual([
      'input.authScheme',
    ]);
  });
});

test('refuses two credential fields, with an issue for each', () => {
  const { apiKey, customAuth } = CREDENTIALS_BY_FIELD;
  expect(listIssueNames(sandbox, { apiKey, customAuth })).toEqual([
    'input.apiKey',
    'input.customAuth',
  ]);
});

describe('no credential field', () => {
  test('is accepted for a provider whose only scheme is NONE', () => {
    expect(chooseScheme(unauthenticated, {}).scheme).toBe('NONE');
    expect(chooseScheme(unauthenticated, { apiKey: null }).scheme).toBe('NONE');
  });

  test('is accepted for another provider only if authScheme is NONE', () => {
    expect(listIssueNames(sandbox, {})).toEqual(['input']);
    expect(chooseScheme(sandbox, { authScheme: 'NONE' }).scheme).toBe('NONE');
    expect(listIssueNames(sandbox, { authScheme: 'BASIC' })).toEqual(['input']);
  });

  test('is refused if the provider needs credentials or lacks the scheme', () => {
    expect(listIssueNames(stripe, {})).toEqual(['input']);
    expect(listIssueNames(stripe, { authScheme: 'NONE' })).toEqual(['input.authScheme']);
  });

  test('is refused if the provider accepts only custom inputs', () => {
    expect(listIssueNames(gitlab, {})).toEqual(['input.customAuth']);
    expect(listIssueNames(gitlab, { authScheme: 'NONE' })).toEqual(['input.customAuth']);
  });
});

test('refuses missing, unknown and unusable custom inputs', () => {
  expect(chooseScheme(gitlab, { customAuth: { token: 'planted' } }).scheme).toBe('NONE');
  expect(chooseScheme(gitlab, { customAuth: { token: ['structured'] } }).scheme).toBe('NONE');
  expect(listIssueNames(gitlab, { customAuth: { other: 'planted' } })).toEqual([
    'input.customAuth.other',
    'input.customAuth.token',
  ]);
  for (const token of ['', null, 1]) {
    expect(listIssueNames(gitlab, { customAuth: { token } })).toEqual(['input.customAuth.token']);
  }
});

test("accepts new credentials only for the connection's scheme", () => {
  const listRefusedNames = (scheme: AuthScheme, input: Input) =>
    listReplacementIssues(sandbox, scheme, input).map(({ name }) => name);
  const { apiKey, oauth2AuthorizationCode, customAuth } = CREDENTIALS_BY_FIELD;
  expect(listRefusedNames('API_KEY', { apiKey })).toEqual([]);
  expect(listRefusedNames('BASIC', { apiKey })).toEqual(['input.apiKey']);
  expect(listRefusedNames('OAUTH2_AUTHORIZATION_CODE_PKCE', { oauth2AuthorizationCode })).toEqual(
    [],
  );
  expect(listRefusedNames('NONE', { customAuth })).toEqual([]);
  expect(listRefusedNames('NONE', { customAuth: { token: 'planted' } })).toEqual([
    'input.customAuth.token',
    'input.customAuth.accountKey',
  ]);
  expect(listRefusedNames('API_KEY', {})).toEqual([]);
});
