import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  claimableDomain,
  domainName,
  parseDomain,
} from '../../../../src/domain/base/domain-name.ts';

test.each([
  ['acme.com', 'acme.com'],
  [' ACME.com ', 'acme.com'],
  ['www.acme.com', 'acme.com'],
  ['www.www.acme.com', 'acme.com'],
  ['www.com', 'www.com'],
  ['acme.com.', 'acme.com'],
  ['https://acme.com./', 'acme.com'],
  ['eu.acme.co.uk', 'eu.acme.co.uk'],
  ['Ada@Acme.com', 'acme.com'],
  ['ada@bücher.de', 'xn--bcher-kva.de'],
  ['bücher.de', 'xn--bcher-kva.de'],
  ['https://Bücher.de/a?b#c', 'xn--bcher-kva.de'],
  ['https://www.acme.com:8443/a', 'acme.com'],
  ['https://ada:secret@acme.com', 'acme.com'],
  ['app://www.acme.com', 'acme.com'],
])('parses %j as the domain %s', (text, domain) => {
  expect(parseDomain(text)).toBe(domain);
});

test.each([
  '',
  'acme',
  'localhost',
  'http://localhost:4000',
  '192.0.2.1',
  'http://192.0.2.1/',
  '0x7f.1',
  '[2001:db8::1]',
  'http://[2001:db8::1]/',
  'ada@[192.0.2.1]',
  'acme.123',
  'acme.c',
  'acme.com:80',
  'acme.com/about',
  'acme..com',
  '.acme.com',
  'acme.com..',
  'ada@www.acme.com',
  '-acme.com',
  'acme-.com',
  'a_b.acme.com',
  'ac me.com',
  'ac%6De.com',
  'acme.com\\x',
  '@acme.com',
  'ada@eve@acme.com',
  'a da@acme.com',
  'javascript:alert(1)',
  'file:///etc/passwd',
  `${'x'.repeat(64)}.com`,
  `${'x.'.repeat(126)}com`,
])('finds no domain in %j', (text) => {
  expect(parseDomain(text)).toBeNull();
});

/** Creating `fc.webUrl()` takes a second, because it lists the code points of paths. */
const webUrl = () =>
  fc
    .tuple(fc.constantFrom('http', 'https'), fc.domain(), fc.nat(65_535), fc.string())
    .map(([scheme, domain, port, path]) => `${scheme}://${domain}:${port}/${path}`);

test('returns a parsed domain unchanged', () => {
  const text = fc.oneof(webUrl(), fc.emailAddress(), fc.domain(), fc.string({ unit: 'grapheme' }));
  fc.assert(
    fc.property(text, (input) => {
      const domain = parseDomain(input);
      if (domain !== null) expect(parseDomain(domain)).toBe(domain);
    }),
  );
});

test('finds the domain of an email address and of a URL', () => {
  fc.assert(
    fc.property(fc.domain(), (domain) => {
      expect(parseDomain(`https://${domain}/x`)).toBe(parseDomain(domain));
      expect(parseDomain(`ada@${domain}`)).toBe(parseDomain(domain));
    }),
  );
});

test('refuses an input without a domain or with too many characters', () => {
  expect(domainName.safeParse('ada@acme.com').data).toBe('acme.com');
  expect(domainName.safeParse('acme').error?.issues).toMatchObject([
    { message: 'must be an email address, a domain name or a URL.' },
  ]);
  const long = `https://acme.com/${'x'.repeat(2048)}`;
  expect(domainName.safeParse(long).error?.issues).toMatchObject([{ code: 'too_big' }]);
});

test.each([
  'co.uk',
  'github.io',
  'https://www.co.uk',
  'gmail.com',
  'Ada@Gmail.com',
  'yahoo.co.uk',
])('refuses a claim of %s', (text) => {
  expect(claimableDomain.safeParse(text).success).toBe(false);
});

test.each([
  ['ada@acme.co.uk', 'acme.co.uk'],
  ['acme.github.io', 'acme.github.io'],
  ['acme.example', 'acme.example'],
])('accepts a claim of %s', (text, domain) => {
  expect(claimableDomain.parse(text)).toBe(domain);
});
