import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { createSignatureHeaders, createSigningKey, isSigned } from '../../src/deliveries/sign.ts';
import { createSigningSecret } from '../../src/deliveries/signing-secret.ts';

const secret = createSigningSecret();
const nowSeconds = Math.floor(Date.now() / 1000);

function signBody(body: string, timestampSeconds = nowSeconds, secrets = [secret]) {
  return createSignatureHeaders(
    { id: 'dlv_1', timestampSeconds, body },
    secrets.map(createSigningKey),
  );
}

test('signs any text so that the reference library verifies it', () => {
  fc.assert(
    fc.property(fc.json(), (body) => {
      expect(new Webhook(secret).verify(body, signBody(body))).toEqual(JSON.parse(body));
    }),
  );
});

test('verifies signatures of the reference library', () => {
  const body = '{"ä":"😀"}';
  const signature = new Webhook(secret).sign('dlv_1', new Date(nowSeconds * 1000), body);
  const headers = { ...signBody(body), 'webhook-signature': signature };
  expect(isSigned(body, headers, { secret, nowSeconds })).toBe(true);
});

test('signs with two secrets, either of which verifies the signature', () => {
  const otherSecret = createSigningSecret();
  const headers = signBody('{}', nowSeconds, [secret, otherSecret]);
  expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
  for (const signingKey of [secret, otherSecret]) {
    expect(isSigned('{}', headers, { secret: signingKey, nowSeconds })).toBe(true);
  }
});

test.each([
  ['another body', '{"a":1}', {}],
  ['another id', '{}', { 'webhook-id': 'dlv_2' }],
  ['another time', '{}', { 'webhook-timestamp': String(nowSeconds + 1) }],
  ['an old time', '{}', signBody('{}', nowSeconds - 301)],
  ['a future time', '{}', signBody('{}', nowSeconds + 301)],
  ['no time', '{}', { 'webhook-timestamp': undefined }],
  ['no signature', '{}', { 'webhook-signature': undefined }],
  ['a part of the signature', '{}', { 'webhook-signature': 'v1,AAAA' }],
  ['another secret', '{}', signBody('{}', nowSeconds, [createSigningSecret()])],
])('rejects %s', (_name, body, headers) => {
  expect(isSigned(body, { ...signBody('{}'), ...headers }, { secret, nowSeconds })).toBe(false);
});

test('hides the secret when a key is serialized', () => {
  expect(JSON.stringify({ key: createSigningKey(secret) })).not.toContain(secret.slice(6));
});
