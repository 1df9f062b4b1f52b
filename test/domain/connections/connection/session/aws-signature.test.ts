/** Checks signatures with the vectors of AWS's test suite for Signature Version 4. */
import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { openProviderSessionOf } from '../../../../../src/domain/connections/connection/connection-session.ts';
import { signAwsRequest } from '../../../../../src/domain/connections/connection/session/aws-signature.ts';
import type { StreamedRequest } from '../../../../../src/outbound/streamed-exchange.ts';
import { CATALOG } from '../../../../../src/providers/catalog/all-entries.ts';
import { getSharedApp } from '../../../../support/app.ts';
import {
  createConnectionVariables,
  GENERATE_CONNECTION,
  generateConnection,
} from '../../../../support/fixtures/connections.ts';
import { getConnection } from '../../../../support/providers/oauth.ts';

const KEY = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const NOW = new Date('2015-08-30T12:36:00Z');

test.each([
  ['GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'GET',
    '/?Param2=value2&Param1=value1',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
])('signs %s %s', (method, path, signature) => {
  const url = new URL(`https://example.amazonaws.com${path}`);
  const request = { method, url, headers: {}, body: '', service: 'service', region: 'us-east-1' };
  expect(signAwsRequest(KEY, request, NOW)).toEqual({
    'x-amz-date': '20150830T123600Z',
    authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
  });
});

const app = await getSharedApp({ providers: [...CATALOG] });
const { services } = app.app;
const account = {
  provider: 'aws',
  providerMetadata: { region: 'eu-west-1', identityStoreId: 'd-1', instanceArn: 'arn:aws:sso:1' },
  basicAuth: { username: KEY.id, password: KEY.secret },
};

function respondToCheck(status: number, type: string) {
  return vi.spyOn(services.providerAccess.outbound, 'send').mockResolvedValue({
    status,
    headers: {},
    body: Buffer.from(JSON.stringify({ __type: type, message: 'The token is invalid.' })),
    truncated: false,
  });
}

test('refuses an access key that AWS does not know, and accepts one without permissions', async () => {
  const tenant = await app.createTenant();
  const check = respondToCheck(400, 'com.amazon.coral.service#UnrecognizedClientException');
  const variables = createConnectionVariables(tenant, account);
  const { code } = await tenant.expectRefusal(GENERATE_CONNECTION, variables);
  expect(code).toBe('UNPROCESSABLE');
  expect(check.mock.lastCall?.[0]).toMatchObject({
    method: 'POST',
    url: 'https://identitystore.eu-west-1.amazonaws.com/',
    headers: { 'x-amz-target': 'AWSIdentityStore.ListUsers' },
  });
  respondToCheck(400, 'AccessDeniedException');
  await generateConnection(tenant, account);
});

test('signs the headers and the body of a forwarded request, and refuses a body that is too large', async () => {
  respondToCheck(400, 'ValidationException');
  const { id } = await generateConnection(await app.createTenant(), account);
  const forwarded: { request: StreamedRequest; body: string }[] = [];
  vi.spyOn(services.providerAccess.outbound, 'stream').mockImplementation(async (request) => {
    const chunks = await Array.fromAsync((request.body ?? []) as AsyncIterable<Buffer>);
    forwarded.push({ request, body: Buffer.concat(chunks).toString() });
    return { status: 200, headers: {}, body: Readable.from([]), closed: Promise.resolve() };
  });
  const session = await openProviderSessionOf(services, await getConnection(app, id));
  const forward = (body: string) =>
    session.forward({
      method: 'POST',
      target: '/',
      headers: { 'x-amz-target': 'AWSIdentityStore.ListUsers', authorization: 'for the gateway' },
      body: Readable.from([Buffer.from(body)]),
      signal: new AbortController().signal,
    });
  await forward('{"IdentityStoreId":"d-1"}');
  const [{ request, body }] = forwarded as [(typeof forwarded)[0]];
  expect(body).toBe('{"IdentityStoreId":"d-1"}');
  const { authorization, 'x-amz-date': time = '' } = request.headers as Record<string, string>;
  const date = time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const signable = {
    method: 'POST',
    url: new URL('https://identitystore.eu-west-1.amazonaws.com/'),
    headers: { 'x-amz-target': 'AWSIdentityStore.ListUsers' },
    body,
    service: 'identitystore',
    region: 'eu-west-1',
  };
  expect(authorization).toBe(signAwsRequest(KEY, signable, new Date(date)).authorization);
  expect(authorization).toContain('SignedHeaders=host;x-amz-date;x-amz-target');
  await expect(forward('x'.repeat(70_000))).rejects.toThrow('The body exceeds 65536 bytes');
});
