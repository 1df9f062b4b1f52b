/** Signs and verifies messages as Standard Webhooks 1.0 specifies. No other module does. */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { isSameSecret } from '../kernel/secrets.ts';
import { SECRET_PREFIX } from './signing-secret.ts';

/** The largest difference between the clocks of sender and receiver. */
const TOLERANCE_SECONDS = 5 * 60;

interface SignedMessage {
  /** The message's id. It is the same for all attempts. */
  id: string;
  timestampSeconds: number;
  body: string;
}

/** Returns the key of a secret. Unlike the secret, a KeyObject can't be printed by mistake. */
export function createSigningKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'));
}

/** Returns the headers of a message, with one signature for each key. */
export function createSignatureHeaders(message: SignedMessage, keys: readonly KeyObject[]) {
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestampSeconds),
    'webhook-signature': keys.map((key) => createSignature(message, key)).join(' '),
  };
}

/** Returns whether one of the signatures was created with this secret and the timestamp is within the tolerance. */
export function isSigned(
  body: string,
  headers: Readonly<Record<string, unknown>>,
  { secret, nowSeconds }: { secret: string; nowSeconds: number },
): boolean {
  const timestampSeconds = Number(headers['webhook-timestamp']);
  if (!(Math.abs(nowSeconds - timestampSeconds) <= TOLERANCE_SECONDS)) return false;
  const message = { id: String(headers['webhook-id']), timestampSeconds, body };
  const expected = Buffer.from(createSignature(message, createSigningKey(secret)));
  return String(headers['webhook-signature'])
    .split(' ')
    .some((received) => isSameSecret(Buffer.from(received), expected));
}

function createSignature({ id, timestampSeconds, body }: SignedMessage, key: KeyObject): string {
  const digest = createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`);
  return `v1,${digest.digest('base64')}`;
}
