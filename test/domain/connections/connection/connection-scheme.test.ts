import { describe, expect, test } from 'vitest';
import {
  chooseScheme,
  listReplacementIssues,
} from '../../../../src/domain/connections/connection/connection-scheme.ts';
import { SCHEMES_BY_FIELD } from '../../../../src/domain/connections/connection/credential-input.ts';
import { formatPath } from '../../../../src/kernel/text.ts';
import type { AuthScheme, Provider } from '../../../../src/providers/contract.ts';
import { PROVIDERS } from '../../../support/fixtures/connections.ts';

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

function expectIssues(provider: Provider, input: Input, names: string[]) {
  const { scheme, issues } = chooseScheme(provider, input);
  expect(scheme).toBeNull();
  expect(JSON.stringify(issues)).not.toContain('planted');
  expect(issues.map(({ path }) => formatPath(path))).toEqual(names);
}

describe('an input with one credential field', () => {
  test.each(Object.entries(CREDENTIALS_BY_FIELD))('selects the scheme of %s', (field, value) => {
    const [scheme] = SCHEMES_BY_FIELD[field as keyof typeof CREDENTIALS_BY_FIELD];
    expect(chooseScheme(sandbox, { [field]: value })).toEqual({ scheme, issues: [] });
  });

  test.each(
    Object.entries(CREDENTIALS_BY_FIELD).filter(([field]) => field !== 'apiKey'),
  )('refuses %s for a provider that supports only API keys', (field, value) => {
    expectIssues(stripe, { [field]: value }, [field]);
  });

  test('prefers authScheme over the first scheme that fits the field', () => {
    const { oauth2AuthorizationCode } = CREDENTIALS_BY_FIELD;
    const choose = (authScheme: AuthScheme) =>
      chooseScheme(sandbox, { oauth2AuthorizationCode, authScheme }).scheme;
    expect(choose('OAUTH2_AUTHORIZATION_CODE_PKCE')).toBe('OAUTH2_AUTHORIZATION_CODE_PKCE');
    expect(choose('OAUTH2_AUTHORIZATION_CODE')).toBe('OAUTH2_AUTHORIZATION_CODE');
    expect(chooseScheme(getProvider('airtable'), { oauth2AuthorizationCode }).scheme).toBe(
      'OAUTH2_AUTHORIZATION_CODE_PKCE',
    );
  });

  test('refuses an authScheme that does not fit the field', () => {
    expectIssues(sandbox, { apiKey: 'planted', authScheme: 'BASIC' }, ['authScheme']);
    const authScheme = 'OAUTH2_AUTHORIZATION_CODE_PKCE';
    const { oauth2AuthorizationCode } = CREDENTIALS_BY_FIELD;
    expectIssues(getProvider('slack'), { oauth2AuthorizationCode, authScheme }, ['authScheme']);
  });
});

test('refuses two credential fields, with an issue for each', () => {
  const { apiKey, customAuth } = CREDENTIALS_BY_FIELD;
  expectIssues(sandbox, { apiKey, customAuth }, ['apiKey', 'customAuth']);
});

describe('an input without a credential field', () => {
  test('selects NONE for a provider that supports only NONE', () => {
    expect(chooseScheme(unauthenticated, {}).scheme).toBe('NONE');
    expect(chooseScheme(unauthenticated, { apiKey: null }).scheme).toBe('NONE');
  });

  test('requires authScheme NONE for a provider that supports more schemes', () => {
    expectIssues(sandbox, {}, ['']);
    expect(chooseScheme(sandbox, { authScheme: 'NONE' }).scheme).toBe('NONE');
    expectIssues(sandbox, { authScheme: 'BASIC' }, ['']);
  });

  test('is refused if the provider does not support NONE', () => {
    expectIssues(stripe, {}, ['']);
    expectIssues(stripe, { authScheme: 'NONE' }, ['authScheme']);
  });

  test('is refused if the provider requires custom inputs', () => {
    expectIssues(gitlab, {}, ['customAuth']);
    expectIssues(gitlab, { authScheme: 'NONE' }, ['customAuth']);
  });
});

test('refuses missing, unknown and unusable custom inputs', () => {
  expect(chooseScheme(gitlab, { customAuth: { token: 'planted' } }).scheme).toBe('NONE');
  expect(chooseScheme(gitlab, { customAuth: { token: ['structured'] } }).scheme).toBe('NONE');
  expectIssues(gitlab, { customAuth: { other: 'planted' } }, [
    'customAuth.other',
    'customAuth.token',
  ]);
  for (const token of ['', null, 1]) {
    expectIssues(gitlab, { customAuth: { token } }, ['customAuth.token']);
  }
});

test("accepts new credentials only for the connection's scheme", () => {
  const listReplacementIssueNames = (scheme: AuthScheme, input: Input) =>
    listReplacementIssues(sandbox, scheme, input).map(({ path }) => formatPath(path));
  const { apiKey, oauth2AuthorizationCode, customAuth } = CREDENTIALS_BY_FIELD;
  expect(listReplacementIssueNames('API_KEY', { apiKey })).toEqual([]);
  expect(listReplacementIssueNames('BASIC', { apiKey })).toEqual(['apiKey']);
  expect(
    listReplacementIssueNames('OAUTH2_AUTHORIZATION_CODE_PKCE', { oauth2AuthorizationCode }),
  ).toEqual([]);
  expect(listReplacementIssueNames('NONE', { customAuth })).toEqual([]);
  expect(listReplacementIssueNames('NONE', { customAuth: { token: 'planted' } })).toEqual([
    'customAuth.token',
    'customAuth.accountKey',
  ]);
  expect(listReplacementIssueNames('API_KEY', {})).toEqual([]);
});
