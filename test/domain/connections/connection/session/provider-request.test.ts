import { expect, test } from 'vitest';
import {
  createRequestUrl,
  sendRequest,
} from '../../../../../src/domain/connections/connection/session/provider-request.ts';
import { createDeclarativeProvider } from '../../../../../src/providers/declarative/declarative-provider.ts';
import { front } from '../../../../../src/providers/declared/support/front.ts';

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

test('sends no header whose value could end it', async () => {
  const sent: unknown[] = [];
  const outbound = { send: async (request: unknown) => sent.push(request) as never };
  const send = (value: string) =>
    sendRequest(outbound as unknown as Parameters<typeof sendRequest>[0], {
      provider: createDeclarativeProvider(front),
      url: new URL('https://api2.frontapp.com/contacts'),
      request: { method: 'GET', path: '/contacts', headers: { 'X-Cursor': value } },
      attached: { headers: {}, query: {} },
      mask: (text) => text,
    });
  for (const value of ['a\r\nX-Admin: 1', 'a\nb', 'a\0', 'a\u2028b']) {
    await expect(send(value)).rejects.toMatchObject({
      kind: 'BAD_REQUEST',
      message: 'The value of the header X-Cursor contains characters that are invalid in a header.',
    });
  }
  expect(sent).toEqual([]);
});
