/** Signatures of messages, as Standard Webhooks 1.0 has them: the one place that signs and verifies. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { SECRET_PREFIX } from './signing-secret.ts';

/** What receivers allow for clocks that differ. */
const TOLERANCE_SECONDS = 5 * 60;

export interface Message {
  /** Stable over all attempts. */
  id: string;
  timestampSeconds: number;
  body: string;
}

/** The headers of a message, with one signature for each secret. */
export function signedHeaders(message: Message, secrets: readonly string[]) {
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestampSeconds),
    'webhook-signature': secrets.map((secret) => signature(message, secret)).join(' '),
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
  const expected = signature({ id: String(headers['webhook-id']), timestampSeconds, body }, secret);
  return String(headers['webhook-signature'])
    .split(' ')
    .some((given) => isEqual(given, expected));
}

function signature({ id, timestampSeconds, body }: Message, secret: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`);
  return `v1,${digest.digest('base64')}`;
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
