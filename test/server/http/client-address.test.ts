/** Tests which addresses in forwarding headers the server trusts, and where it uses them. */
import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createKeyValue } from '../../../src/domain/access/viewer/key/api-key-value.ts';
import { createAddressFinder } from '../../../src/server/http/request-client.ts';
import { createTestApp } from '../../support/app.ts';
import { stopRates } from '../../support/process/rates.ts';

const TRUSTED_PROXIES = ['10.0.0.0/8', '2001:db8:ffff::/48'];

function findAddress(peer: string, headers: IncomingMessage['headers'], trusted = TRUSTED_PROXIES) {
  const socket = { remoteAddress: peer } as IncomingMessage['socket'];
  return createAddressFinder({ TRUSTED_PROXIES: trusted })({ headers, socket });
}

const CLIENT_ADDRESS = '192.0.2.7';

test.each<[string, string, string, IncomingMessage['headers']]>([
  ['no header names a client', '10.0.0.1', '10.0.0.1', {}],
  [
    'a trusted proxy names its client',
    CLIENT_ADDRESS,
    '10.0.0.1',
    { 'x-forwarded-for': CLIENT_ADDRESS },
  ],
  [
    'an untrusted peer names a client',
    '192.0.2.1',
    '192.0.2.1',
    { 'x-forwarded-for': CLIENT_ADDRESS },
  ],
  [
    'a client invents an entry',
    CLIENT_ADDRESS,
    '10.0.0.1',
    { 'x-forwarded-for': `198.51.100.1, ${CLIENT_ADDRESS}` },
  ],
  [
    'several proxies add entries',
    CLIENT_ADDRESS,
    '10.0.0.1',
    { 'x-forwarded-for': `${CLIENT_ADDRESS}, 10.9.9.9` },
  ],
  ['an entry is malformed', '10.9.9.9', '10.0.0.1', { 'x-forwarded-for': 'x, 10.9.9.9' }],
  [
    'an entry has a port',
    CLIENT_ADDRESS,
    '10.0.0.1',
    { 'x-forwarded-for': `${CLIENT_ADDRESS}:4711` },
  ],
  [
    'IPv6 maps an IPv4 address',
    CLIENT_ADDRESS,
    '::ffff:10.0.0.1',
    { 'x-forwarded-for': CLIENT_ADDRESS },
  ],
  [
    'an entry is IPv6 in brackets',
    '2001:db8::1',
    '10.0.0.1',
    { 'x-forwarded-for': '[2001:db8::1]:4711' },
  ],
  [
    'the proxy sends Forwarded',
    CLIENT_ADDRESS,
    '10.0.0.1',
    { forwarded: `by=x;for=${CLIENT_ADDRESS};proto=https` },
  ],
  [
    'Forwarded has several hops',
    '2001:db8::2',
    '2001:db8:ffff::1',
    { forwarded: 'for=1.2.3.4, for="[2001:db8::2]:80", For="10.1.1.1"' },
  ],
  ['Forwarded hides the client', '10.0.0.1', '10.0.0.1', { forwarded: 'for=unknown' }],
  [
    'a client adds Forwarded',
    CLIENT_ADDRESS,
    '10.0.0.1',
    { forwarded: 'for=198.51.100.1', 'x-forwarded-for': CLIENT_ADDRESS },
  ],
])('uses the right address if %s: %s', (_case, expected, peer, headers) => {
  expect(findAddress(peer, headers)).toBe(expected);
});

test('ignores forwarding headers without trusted proxies', () => {
  expect(
    findAddress('10.0.0.1', { 'x-forwarded-for': CLIENT_ADDRESS, forwarded: CLIENT_ADDRESS }, []),
  ).toBe('10.0.0.1');
});

test('limits and logs the client that a trusted proxy forwards, over GraphQL and REST', async () => {
  const lines: { msg: string; address?: string; path?: string }[] = [];
  const write = (chunk: unknown, _encoding: unknown, done: () => void) => {
    lines.push(JSON.parse(String(chunk)));
    done();
  };
  const log = pino({ level: 'info' }, new Writable({ write }));
  const env = { TRUSTED_PROXIES: '127.0.0.0/8,::1/128', WRONG_KEY_LIMIT_PER_MINUTE: '1' };
  stopRates();
  await using app = await createTestApp({ env, log });
  const sendFrom = async (path: string, client: string) => {
    const headers = { 'x-api-key': createKeyValue(), 'x-forwarded-for': client };
    const init = path === '/graphql' ? { method: 'POST', body: '{"query":"{viewer{kind}}"}' } : {};
    const type = { 'content-type': 'application/json' };
    return (await app.fetch(path, { ...init, headers: { ...headers, ...type } })).status;
  };
  const paths = ['/graphql', '/v1/orgs/none', '/graphql', '/v1/orgs/none'];
  const statuses = [];
  for (const path of paths) statuses.push(await sendFrom(path, '192.0.2.1'));
  expect(statuses).toEqual([401, 429, 429, 429]);
  expect(await sendFrom('/v1/orgs/none', '192.0.2.2')).toBe(401);
  expect(await sendFrom('/graphql', '192.0.2.3')).toBe(401);
  const listAddresses = () =>
    lines.filter(({ msg }) => msg === 'request.ended').map(({ address }) => address);
  await expect
    .poll(listAddresses)
    .toEqual([...paths.map(() => '192.0.2.1'), '192.0.2.2', '192.0.2.3']);
});
