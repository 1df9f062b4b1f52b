/** Signatures of messages, as Standard Webhooks 1.0 has them: the one place that signs and verifies. */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { SECRET_PREFIX } from './signing-secret.ts';

/** What receivers allow for clocks that differ. */
const TOLERANCE_SECONDS = 5 * 60;

export interface Message {
  /** Stable over all attempts. */
  id: string;
  timestampSeconds: number;
  body: string;
}

/** What signs, made once for many messages; unlike the secret it can't be printed. */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'));
}

/** The headers of a message, with one signature for each key. */
export function signedHeaders(message: Message, keys: readonly KeyObject[]) {
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestampSeconds),
    'webhook-signature': keys.map((key) => signature(message, key)).join(' '),
  };
}

/** Whether one of the signatures is of this secret, and the time is about now. */
export function isSigned(
  body: string,
  headers: Readonly<Record<string, unknown>>,
  { secret, nowSeconds }: { secret: string; nowSeconds: number },
): boolean {
  const timestampSeconds = Number(headers['webhook-timestamp']);
  if (!(Math.abs(nowSeconds - timestampSeconds) <= TOLERANCE_SECONDS)) return false;
  const message = { id: String(headers['webhook-id']), timestampSeconds, body };
  const expected = signature(message, signingKey(secret));
  return String(headers['webhook-signature'])
    .split(' ')
    .some((given) => isEqual(given, expected));
}

function signature({ id, timestampSeconds, body }: Message, key: KeyObject): string {
  const digest = createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`);
  return `v1,${digest.digest('base64')}`;
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
