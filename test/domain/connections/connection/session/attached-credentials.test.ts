import { expect, test } from 'vitest';
import type { Credentials } from '../../../../../src/domain/connections/connection/credentials.ts';
import { attachCredentials } from '../../../../../src/domain/connections/connection/session/attached-credentials.ts';
import type { Provider } from '../../../../../src/providers/contract.ts';
import { PROVIDERS } from '../../../../support/fixtures/connections.ts';

function attachTo(name: string, credentials: Credentials) {
  return attachCredentials(
    { now: () => new Date() },
    PROVIDERS.find((provider) => provider.name === name) as Provider,
    credentials,
  );
}

const createTokenCredentials = (token: string): Credentials => ({
  scheme: 'OAUTH2_AUTHORIZATION_CODE',
  accessToken: { token },
  scopes: [],
});

test.each<[string, Credentials, object]>([
  [
    'stripe',
    { scheme: 'API_KEY', apiKey: 'sandbox-key' },
    { headers: { authorization: 'Bearer sandbox-key' } },
  ],
  [
    'monday',
    { scheme: 'API_KEY', apiKey: 'sandbox-key' },
    { headers: { authorization: 'sandbox-key' } },
  ],
  [
    'jotform',
    { scheme: 'API_KEY', apiKey: 'sandbox-key' },
    { headers: {}, query: { apiKey: 'sandbox-key' } },
  ],
  [
    'freshdesk',
    { scheme: 'BASIC', username: 'ann', password: 'ö:x' },
    { headers: { authorization: `Basic ${Buffer.from('ann:ö:x').toString('base64')}` } },
  ],
  ['hubspot', createTokenCredentials('t'), { headers: { authorization: 'Bearer t' } }],
  ['shopify', createTokenCredentials('t'), { headers: { 'x-shopify-access-token': 't' } }],
  [
    'sandbox',
    { scheme: 'NONE', custom: { accountKey: 'a' } },
    { headers: { 'x-account-key': 'a' } },
  ],
  ['sandbox', { scheme: 'NONE', custom: {} }, { headers: {} }],
])('attaches credentials to requests to %s', (name, credentials, expected) => {
  expect(attachTo(name, credentials)).toEqual({ query: {}, ...expected });
});

test('refuses a value that could add a header, and does not repeat the value', () => {
  for (const invalidKey of ['secret\r\nx-evil: 1', 'secret\n', 'sécr€t']) {
    const attachInvalid = () =>
      attachTo('sandbox', { scheme: 'NONE', custom: { accountKey: invalidKey } });
    expect(attachInvalid).toThrow(/invalid in an HTTP header/);
    expect(attachInvalid).not.toThrow(/secret|sécr/);
  }
});

test('refuses credentials of a kind that the provider does not accept', () => {
  expect(() => attachTo('hubspot', { scheme: 'API_KEY', apiKey: 'sandbox-key' })).toThrow(
    /of this kind/,
  );
});
