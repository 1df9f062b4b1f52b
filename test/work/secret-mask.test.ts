import { describe, expect, test } from 'vitest';
import {
  createMask,
  listBasicSecrets,
  listHeaderSecrets,
  SecretMask,
} from '../../src/work/secret-mask.ts';

const SECRET = 'tok/en+"42"=é&<\'\\x y';
const FORMS: Record<string, string> = {
  'as it is': SECRET,
  'in lower case': SECRET.toLowerCase(),
  'escaped for JSON': JSON.stringify(SECRET).slice(1, -1),
  'escaped for nested JSON': JSON.stringify(JSON.stringify(SECRET)).slice(3, -3),
  'escaped for JSON as PHP does': JSON.stringify(SECRET)
    .slice(1, -1)
    .replaceAll('/', '\\/')
    .replaceAll('é', '\\u00e9'),
  'percent-encoded': encodeURIComponent(SECRET),
  'percent-encoded in lower case': encodeURIComponent(SECRET).replace(/%../g, (code) =>
    code.toLowerCase(),
  ),
  'as a form value': new URLSearchParams({ a: SECRET }).toString().slice(2),
  'in hex': Buffer.from(SECRET).toString('hex'),
  'in upper-case hex': Buffer.from(SECRET).toString('hex').toUpperCase(),
  'in HTML': 'tok/en+&quot;42&quot;=é&amp;&lt;&#39;\\x y',
};

describe('mask', () => {
  test.each(Object.entries(FORMS))('masks a secret %s', (_name, form) => {
    const mask = createMask([SECRET]);
    expect(mask(form)).toBe('***');
    expect(mask(`before "${form}" after ${form}`)).toBe('before "***" after ***');
  });

  test.each([
    '',
    'a',
    'ab',
    'user:',
    'and more',
  ])('masks the base64 of %j and a secret', (prefix) => {
    const mask = createMask([SECRET]);
    for (const suffix of ['', 'a', 'ab', 'abc']) {
      const text = Buffer.from(prefix + SECRET + suffix);
      expect(mask(`Basic ${text.toString('base64')}, sent`)).toBe('Basic ***, sent');
      expect(mask(`"${text.toString('base64url')}"`)).toBe('"***"');
      expect(mask(`"${text.toString('base64').replaceAll('/', '\\/')}"`)).not.toContain('ZW4rIj');
    }
  });

  test('masks overlapping secrets completely', () => {
    const mask = createMask(['abcdefghij', 'efghijklmnopqr']);
    expect(mask('<abcdefghijklmnopqr>')).toBe('<***>');
  });

  test('masks a short secret only as a whole text', () => {
    const mask = createMask(['s', 'short', '']);
    expect(mask('responded: short')).toBe('responded: short');
    expect(mask('short')).toBe('***');
    expect(mask('')).toBe('');
  });

  test('masks the beginning of a secret at the end of a cut text', () => {
    const mask = createMask(['0123456789abcdef']);
    expect(mask('The token 0123456789', { isCut: true })).toBe('The token ***');
    expect(mask('The token 0123456789')).toBe('The token 0123456789');
    const base64 = Buffer.from('user:0123456789abcdef').toString('base64').slice(0, -6);
    expect(mask(`Basic ${base64}`, { isCut: true })).toBe('Basic ***');
  });

  test('masks secrets that were added later', () => {
    const secrets = new SecretMask(['old-token-1']);
    expect(secrets.mask('old-token-1 new-token-2')).toBe('*** new-token-2');
    secrets.add(['new-token-2']);
    expect(secrets.mask('old-token-1 new-token-2')).toBe('*** ***');
  });

  test('masks each of many values', () => {
    const values = Array.from({ length: 1_000 }, () => crypto.randomUUID());
    const { mask } = new SecretMask([], values);
    expect(mask(`${values.join(', ')}, other`)).toBe(`${'***, '.repeat(1_000)}other`);
  });

  test('masks the rest of a text from the beginning that many values share', () => {
    const values = Array.from({ length: 100 }, (_, index) => `https://example.test/${index}`);
    const { mask } = new SecretMask([], values);
    expect(mask('See https://example.test/7 and more')).toBe('See ***');
    expect(mask('See http://example.test/7')).toBe('See http://example.test/7');
  });

  test('searches values that are not secret only as they are', () => {
    const { mask } = new SecretMask([], ['ann@example.test']);
    expect(mask('ann@example.test or ann%40example.test')).toBe('*** or ann%40example.test');
  });
});

test('lists the secrets of a header and of Basic authentication', () => {
  expect(listHeaderSecrets('Bearer abc')).toEqual(['Bearer abc', 'abc']);
  const credential = Buffer.from('ann:pass:word').toString('base64');
  expect(listHeaderSecrets(`Basic ${credential}`)).toEqual(
    expect.arrayContaining(['ann:pass:word', 'pass:word', 'ann']),
  );
  expect(listBasicSecrets('ann', 'long password')).toEqual(['long password', 'ann:long password']);
  // Some providers take a key as the user name.
  expect(listBasicSecrets('the-api-key', 'X')).toContain('the-api-key');
});
