/** Schemas for the kinds of setting values. */
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { KEY_BYTES, Secret } from '../kernel/secrets.ts';
import { splitDatabaseUrl } from './database-urls.ts';

const DAY_SECONDS = 86_400;

/** The maximum that fits every column, parameter and counter that uses a setting. */
const NUMBER_MAX = 2 ** 31 - 1;
/** The maximum of durations: below the limit of timers (2^31-1 ms), and longer than any useful wait. */
const TIME_MS_MAX = DAY_SECONDS * 1000;

export const wholeNumber = (defaultValue: number, min: number, max = NUMBER_MAX) =>
  z.coerce.number().int().min(min).max(max).default(defaultValue);
export const milliseconds = (defaultValue: number, min: number) =>
  wholeNumber(defaultValue, min, TIME_MS_MAX);

/** A comma-separated list. */
export const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean),
  );

export const flag = z
  .enum(['true', 'false', '1', '0'])
  .transform((text) => text === 'true' || text === '1');

export const cidr = z
  .string()
  .refine((text) => ipaddr.isValidCIDR(text), 'must be a CIDR like 10.0.0.0/8');

const DNS_LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(`^(?:(?=.{1,253}$)${DNS_LABEL}(?:\\.${DNS_LABEL})*|\\[[0-9a-f:.]+\\])$`);

/**
 * True if a content security policy can contain the URL's origin: the host is a DNS name, localhost or an IP address, and
 * there is no user info. The hosts of other URLs may contain `;`, `,`, `'` and `*`, which would change the policy.
 */
export function hasPlainHost(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, username, password } = new URL(text);
  return HOST.test(hostname) && username === '' && password === '';
}

/** True for an origin in the form that browsers send. A wildcard has no plain host. */
export function isOrigin(text: string): boolean {
  if (!hasPlainHost(text)) return false;
  const { origin, protocol } = new URL(text);
  return origin === text && (protocol === 'https:' || protocol === 'http:');
}

export const origin = z
  .string()
  .refine(
    isOrigin,
    'must be an origin like https://app.example: scheme, host and port alone. The host must be a DNS name, localhost or an IP address.',
  );
/** A URL that clients use. Paths are appended to it. */
export const publicUrl = z
  .url({ protocol: /^https?$/ })
  .refine((text) => /^[^?#@]*$/.test(text), 'must have no user info, query or fragment');
export const httpUrl = z.url({ protocol: /^https?$/ });
/** A PostgreSQL URL. It may list several hosts. */
export const postgresUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, 'must start with postgres:// or postgresql://')
  // Spaces are encoded first, because the database's client accepts them in the URL.
  .refine(
    (text) => splitDatabaseUrl(text.replaceAll(' ', '%20')).every((url) => URL.canParse(url)),
    'must be a URL',
  )
  .transform((text) => new Secret(text))
  .optional();
/** Only asymmetric algorithms, because the keys of an issuer are public. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
export const algorithm = z.enum(ALGORITHMS as [string, ...string[]]);
export const seconds = z
  .string()
  .regex(/^\d+$/, 'must be whole seconds')
  .transform(Number)
  .pipe(z.number().max(30 * DAY_SECONDS));
export const encryptionKey = z
  .string()
  .refine(
    (text) => Buffer.from(text, 'base64').length === KEY_BYTES,
    `must be ${KEY_BYTES} bytes in base64`,
  )
  .transform((text) => new Secret(text));

/** True for `0.0.0.0` and `::`. A server can listen on them, but no client can connect to them. */
export function isAnyAddress(host: string): boolean {
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'unspecified';
}
