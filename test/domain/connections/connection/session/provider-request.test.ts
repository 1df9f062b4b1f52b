import { expect, test } from 'vitest';
import { createRequestUrl } from '../../../../../src/domain/connections/connection/session/provider-request.ts';
import { front } from '../../../../../src/providers/declared/support/frontapp.ts';

const createUrl = (path: string) => createRequestUrl(front, { method: 'GET', path }).href;

test('follows a link to a host that the declaration lists', () => {
  expect(createUrl('https://acme.api.frontapp.com/contacts?page_token=a')).toBe(
    'https://acme.api.frontapp.com/contacts?page_token=a',
  );
  expect(createUrl('https://api2.frontapp.com/contacts')).toBe(
    'https://api2.frontapp.com/contacts',
  );
  expect(createUrl('/contacts')).toBe('https://api2.frontapp.com/contacts');
});

test.each([
  'https://api.frontapp.com.attacker.example/',
  'https://attackerapi.frontapp.com/',
  'https://api.frontapp.com/',
  'http://acme.api.frontapp.com/',
  'https://acme.api.frontapp.com:8443/',
  'https://user:pass@acme.api.frontapp.com/',
  'https://acme.api.frontapp.com@attacker.example/',
  'no url',
])('sends no credentials to %s', (path) => {
  expect(() => createUrl(path)).toThrow('does not belong to the connected account');
});
