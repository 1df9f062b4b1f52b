/** Verifies that a request comes from the vendor: by a signature, or by HTTP Basic. */
import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../../kernel/secrets.ts';
import type { WebhookRequest } from '../../subscribing.ts';
import type { WebhookAuthentication } from '../declaration/events-declaration.ts';
import { findAccountInUrl, parseBody, readEventValue } from './event-values.ts';

type Hmac = WebhookAuthentication & { kind: 'hmac' };

/** True if one of the secrets proves that the vendor sent the request. */
export function isAuthentic(
  authentication: WebhookAuthentication,
  request: WebhookRequest,
  { secrets, now }: { secrets: readonly string[]; now: Date },
): boolean {
  return authentication.kind === 'basic'
    ? secrets.some((secret) => isBasic(request, `${authentication.username}:${secret}`))
    : isSigned(authentication, request, { secrets, now });
}

/**
 * Derives the secret of one account from the app's secret. A customer who learns the secret of their account can't sign
 * events of another account.
 */
export function deriveSecret(secret: string, account: string): string {
  return createHmac('sha256', secret).update(`events of ${account}`).digest('hex').slice(0, 40);
}

/** Derives the secrets of the account in the webhook's URL. Empty if the URL names none. */
export function deriveSecrets(request: WebhookRequest, secrets: readonly string[]): string[] {
  const account = findAccountInUrl(request);
  return account === null ? [] : secrets.map((secret) => deriveSecret(secret, account));
}

function isBasic({ headers }: WebhookRequest, credentials: string): boolean {
  const [, received = ''] = /^Basic ([\w+/=-]+)$/i.exec(headers.authorization ?? '') ?? [];
  return isSameSecret(Buffer.from(received, 'base64'), Buffer.from(credentials));
}

function isSigned(
  hmac: Hmac,
  request: WebhookRequest,
  { secrets, now }: { secrets: readonly string[]; now: Date },
): boolean {
  const timestamp = findTimestamp(hmac, request);
  if (timestamp === null || !isTimely(hmac, timestamp, now)) return false;
  const signatures = parseSignatures(hmac, request);
  const [before = '', after = ''] = hmac.signedPayload
    .replace('{timestamp}', timestamp)
    .split('{body}');
  return secrets.some((secret) => {
    const key = decodeKey(hmac, secret);
    if (!key) return false;
    const expectedSignature = createHmac(hmac.algorithm, key)
      .update(before)
      .update(request.body)
      .update(after)
      .digest();
    return signatures.some((signature) => isSameSecret(signature, expectedSignature));
  });
}

const ENCODED_KEY = {
  hex: /^([0-9a-f]{2})+$/i,
  base64: /^([A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2}([A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==)$/,
} as const;

/** Returns the key. Null if the secret does not encode one, because everyone could sign with an empty key. */
function decodeKey({ keyEncoding }: Hmac, secret: string): Buffer | null {
  if (keyEncoding === 'utf8') return Buffer.from(secret);
  return ENCODED_KEY[keyEncoding].test(secret) ? Buffer.from(secret, keyEncoding) : null;
}

/** Returns the signatures of the request, which may have any length. */
function parseSignatures({ header, prefix, separator, encoding }: Hmac, request: WebhookRequest) {
  const value = String(request.headers[header.toLowerCase()] ?? '');
  const parts = separator === undefined ? [value] : value.split(separator);
  return parts
    .map((part) => part.trim())
    .filter((part) => part.startsWith(prefix))
    .map((part) => Buffer.from(part.slice(prefix.length), encoding));
}

/** Returns the signed time as a string. Empty if none is declared. Null if it is missing or invalid. */
function findTimestamp({ timestamp, separator }: Hmac, request: WebhookRequest): string | null {
  if (!timestamp) return '';
  const body = parseBody(request);
  const value = readEventValue(timestamp.at, { request, body, event: body }) ?? '';
  const parts = separator === undefined ? [value] : value.split(separator);
  const timePart = parts.find((part) => part.trim().startsWith(timestamp.prefix))?.trim() ?? '';
  const time = timePart.slice(timestamp.prefix.length);
  return Number.isNaN(parseMilliseconds(timestamp.unit, time)) ? null : time;
}

/** A strict format, because Date.parse also accepts other strings, which would become part of the signed string. */
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Returns the time in milliseconds since 1970. NaN if the string is not a time. */
function parseMilliseconds(unit: NonNullable<Hmac['timestamp']>['unit'], text: string): number {
  const pattern = unit === 'iso' ? ISO : /^\d{1,16}$/;
  if (!pattern.test(text)) return Number.NaN;
  if (unit === 'iso') return Date.parse(text);
  return Number(text) * (unit === 'seconds' ? 1_000 : 1);
}

function isTimely({ timestamp }: Hmac, time: string, now: Date): boolean {
  if (!timestamp) return true;
  const ms = parseMilliseconds(timestamp.unit, time);
  return Math.abs(now.getTime() - ms) <= timestamp.toleranceMs;
}
