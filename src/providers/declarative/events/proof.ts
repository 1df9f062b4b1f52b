/** Whether a request is the vendor's. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookRequest } from '../../subscribing.ts';
import type { Events, Proof } from '../declaration/events-declaration.ts';
import { accountIn, bodyOf, saidAt } from './said.ts';

type Hmac = Proof & { kind: 'hmac' };

export function isProven(
  { proof, account }: Events,
  request: WebhookRequest,
  { secrets, now }: { secrets: readonly string[]; now: Date },
): boolean {
  const own = account.of === 'address' ? secretsOf(request, secrets) : secrets;
  return isProvenBy(proof, request, { secrets: own, now });
}

/** By one of the secrets as they are. */
export function isProvenBy(
  proof: Proof,
  request: WebhookRequest,
  { secrets, now }: { secrets: readonly string[]; now: Date },
): boolean {
  return proof.kind === 'basic'
    ? secrets.some((secret) => isBasic(request, `${proof.username}:${secret}`))
    : isSigned(proof, request, { secrets, now });
}

/**
 * An account of its own has a secret of its own, made of the app's: who learns the one that signs its events can
 * sign none of another account.
 */
export function secretFor(secret: string, account: string): string {
  return createHmac('sha256', secret).update(`events of ${account}`).digest('hex').slice(0, 40);
}

function secretsOf(request: WebhookRequest, secrets: readonly string[]): string[] {
  const account = accountIn(request);
  return account === null ? [] : secrets.map((secret) => secretFor(secret, account));
}

function isBasic({ headers }: WebhookRequest, credentials: string): boolean {
  const [, given = ''] = /^Basic ([\w+/=-]+)$/i.exec(headers.authorization ?? '') ?? [];
  return isEqual(Buffer.from(given, 'base64'), Buffer.from(credentials));
}

function isSigned(
  proof: Hmac,
  request: WebhookRequest,
  { secrets, now }: { secrets: readonly string[]; now: Date },
): boolean {
  const timestamp = timestampOf(proof, request);
  if (timestamp === null || !isTimely(proof, timestamp, now)) return false;
  const signatures = signaturesIn(proof, request);
  const [before = '', after = ''] = proof.text.replace('{timestamp}', timestamp).split('{body}');
  return secrets.some((secret) => {
    const key = keyOf(proof, secret);
    if (!key) return false;
    const hmac = createHmac(proof.algorithm, key).update(before);
    const expected = hmac.update(request.body).update(after).digest();
    return signatures.filter((one) => isEqual(one, expected)).length > 0;
  });
}

const ENCODED = {
  hex: /^([0-9a-f]{2})+$/i,
  base64: /^([A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2}([A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==)$/,
} as const;

/** Null if the text encodes no key: with an empty one anybody could sign. */
function keyOf({ key }: Hmac, secret: string): Buffer | null {
  if (key === 'text') return Buffer.from(secret);
  return ENCODED[key].test(secret) ? Buffer.from(secret, key) : null;
}

/** They may have any length: only those of the right length are compared. */
function signaturesIn({ header, prefix, separator, encoding }: Hmac, request: WebhookRequest) {
  const value = String(request.headers[header.toLowerCase()] ?? '');
  const parts = separator === undefined ? [value] : value.split(separator);
  return parts
    .map((part) => part.trim())
    .filter((part) => part.startsWith(prefix))
    .map((part) => Buffer.from(part.slice(prefix.length), encoding));
}

/** Empty if the vendor sends none; null if it is missing or not a time. */
function timestampOf({ signedAt, separator }: Hmac, request: WebhookRequest): string | null {
  if (!signedAt) return '';
  const body = bodyOf(request);
  const value = saidAt(signedAt.at, { request, body, event: body }) ?? '';
  const parts = separator === undefined ? [value] : value.split(separator);
  const found = parts.find((part) => part.trim().startsWith(signedAt.part))?.trim() ?? '';
  const time = found.slice(signedAt.part.length);
  return Number.isNaN(millisecondsOf(signedAt.unit, time)) ? null : time;
}

/** Date.parse takes more, and the text is a part of what is signed. */
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** NaN if the text is not a time. */
function millisecondsOf(unit: NonNullable<Hmac['signedAt']>['unit'], text: string): number {
  const form = unit === 'iso' ? ISO : /^\d{1,16}$/;
  if (!form.test(text)) return Number.NaN;
  if (unit === 'iso') return Date.parse(text);
  return Number(text) * (unit === 'seconds' ? 1_000 : 1);
}

function isTimely({ signedAt }: Hmac, timestamp: string, now: Date): boolean {
  if (!signedAt) return true;
  const ms = millisecondsOf(signedAt.unit, timestamp);
  return Math.abs(now.getTime() - ms) <= signedAt.toleranceMs;
}

function isEqual(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
