import { expect, test } from 'vitest';
import { findHostIssue, findUrlIssue } from '../../../src/domain/events/destination-rules.ts';
import { readConfig } from '../../../src/settings/config.ts';

const sandboxUrl = 'http://127.0.0.1:4001';

function findIssue(url: string, allowedPrivateTargets = ''): string | undefined {
  const config = readConfig({ ALLOWED_PRIVATE_TARGETS: allowedPrivateTargets });
  const policy = { config, sandboxUrl: () => sandboxUrl };
  return findUrlIssue(url) ?? findHostIssue(url, policy) ?? undefined;
}

test.each([
  'https://hooks.example.com/events?x=1',
  'https://hooks.example.com:8443',
  'https://8.8.8.8/hook',
  'https://[2606:4700::1111]/hook',
])('accepts %s', (url) => {
  expect(findIssue(url)).toBeUndefined();
});

test.each([
  '',
  'hooks.example.com',
  '/hook',
  'https:hooks.example.com',
  'https://',
  'https:///x',
  'http:///hooks.example.com',
  'https:////hooks.example.com/x',
  'https://\\hooks.example.com/x',
  'https://./x',
  'https://../x',
  'https://hooks.example.com/a b',
  'https://hooks.example.com/\n',
  'ftp://hooks.example.com',
  'javascript:alert(1)',
  'https://[::1',
])('refuses %j, which is not an https URL', (url) => {
  expect(findIssue(url)).toBe('must be an absolute https URL.');
});

test('accepts http only for permitted private addresses', () => {
  expect(findIssue('http://hooks.example.com')).toBe('must use https.');
  expect(findIssue('http://8.8.8.8')).toBe('must use https.');
  expect(findIssue('http://8.8.8.8', '10.0.0.0/8')).toBe('must use https.');
  expect(findIssue('http://10.0.0.1:3000/hook', '10.0.0.0/8')).toBeUndefined();
  expect(findIssue('http://[fd00::1]/hook', 'fd00::/8')).toBeUndefined();
  expect(findIssue('http://hooks.internal', '10.0.0.0/8')).toBeUndefined();
  expect(findIssue('http://hooks.example.com', '10.0.0.0/8')).toBe('must use https.');
});

test.each([
  ['dotted decimal', '127.0.0.1'],
  ['decimal', '2130706433'],
  ['octal', '0177.0.0.1'],
  ['hex', '0x7f.0.0.1'],
  ['hex without dots', '0x7f000001'],
  ['short', '127.1'],
  ['trailing dot', '127.0.0.1.'],
  ['full-width digits', '１２７.０.０.１'],
  ['percent-encoded', '%31%32%37.0.0.1'],
  ['IPv4-mapped', '[::ffff:127.0.0.1]'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['6to4', '[2002:7f00:1::]'],
  ['IPv6', '[::1]'],
  ['name', 'localhost'],
  ['subdomain of the name', 'app.LOCALHOST.'],
  ['name with trailing dots', 'localhost..'],
  ['full-width name', 'ｌｏｃａｌｈｏｓｔ'],
  ['percent-encoded name', '%6cocalhost'],
  ['name in a domain', 'localhost.localdomain'],
  ['name for IPv6', 'ip6-localhost'],
])('refuses a loopback address (%s): %s', (_form, host) => {
  const problem =
    'must not be a private, loopback, link-local or reserved address, unless ALLOWED_PRIVATE_TARGETS contains it.';
  for (const scheme of ['https', 'http']) {
    expect(findIssue(`${scheme}://${host}/hook`)).toBe(problem);
    expect(findIssue(`${scheme}://${host}/hook`, '10.0.0.0/8')).toBe(problem);
    expect(findIssue(`${scheme}://${host}/hook`, '127.0.0.0/8,::1/128')).toBeUndefined();
  }
});

test.each([
  'hooks.internal',
  'metadata.google.INTERNAL.',
  'printer.local',
  'nas.home.arpa',
  'wiki.corp',
  'router.lan',
  'intranet',
  'receiver:8080',
])('refuses the internal name %s unless a private address is permitted', (host) => {
  const problem =
    'must not be a name of a private network, unless ALLOWED_PRIVATE_TARGETS contains its address.';
  for (const scheme of ['https', 'http']) {
    expect(findIssue(`${scheme}://${host}/hook`)).toBe(problem);
    expect(findIssue(`${scheme}://${host}/hook`, '10.0.0.0/8')).toBeUndefined();
  }
});

test.each([
  'internal.example.com',
  'local.example.com',
  'mylocalhost.example.com',
  'thelocal.de',
])('accepts the public name %s', (host) => {
  expect(findIssue(`https://${host}/hook`)).toBeUndefined();
});

test('refuses user info and fragments', () => {
  expect(findIssue('https://me:pw@example.com')).toBe('must not have a user name or password.');
  expect(findIssue('https://example.com/#part')).toBe('must not have a fragment.');
  expect(findIssue('https://example.com/#')).toBe('must not have a fragment.');
});

test('accepts 2048 characters, and refuses more', () => {
  const start = 'https://example.com/';
  expect(findIssue(start + 'x'.repeat(2048 - start.length))).toBeUndefined();
  expect(findIssue(start + 'x'.repeat(2049 - start.length))).toBe(
    'must be at most 2048 characters.',
  );
});

test('accepts the address of the sandbox only with its port', () => {
  expect(findIssue(`${sandboxUrl}/inbox/demo`)).toBeUndefined();
  expect(findIssue('http://127.0.0.1:4002/inbox/demo')).toBeDefined();
});
