/**
 * Creates, encrypts and decrypts the secrets that sign a destination's messages (Standard Webhooks). No other module
 * does. After a rotation, the previous secret also signs for 24 hours, so that receivers can switch.
 */
import { randomBytes } from 'node:crypto';
import type { RowKey } from '../database/statements/row-keys.ts';
import type { Vault } from '../kernel/secrets.ts';
import { DAY_MS } from '../work/durations.ts';

export const SECRET_PREFIX = 'whsec_';
const RANDOM_BYTES = 32;
const OVERLAP_MS = DAY_MS;

interface SealedSecrets {
  signingSecretSealed: string;
  previousSecretSealed: string | null;
  previousSecretExpireTime: Date | null;
}

/** The columns that `openSigningSecrets` needs. Ordinary reads omit encrypted columns. */
export const SEALED_SECRETS = {
  id: true,
  projectId: true,
  signingSecretSealed: true,
  previousSecretSealed: true,
  previousSecretExpireTime: true,
} as const;

/** True for a webhook. Streams have no secret. */
export function hasSecret<D extends { signingSecretSealed: string | null }>(
  destination: D,
): destination is D & { signingSecretSealed: string } {
  return destination.signingSecretSealed !== null;
}

export function createSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(RANDOM_BYTES).toString('base64');
}

/** Returns the columns of a first secret. */
export function sealSigningSecret(vault: Vault, owner: RowKey, secret: string) {
  return {
    signingSecretSealed: vault.seal(secret, toSealedLocation(owner, 'signingSecretSealed')),
  };
}

/** Returns the columns after a rotation to a new secret. */
export function rotateSecrets(
  vault: Vault,
  sealed: RowKey & Pick<SealedSecrets, 'signingSecretSealed'>,
  { secret, now }: { secret: string; now: Date },
): SealedSecrets {
  const previous = vault.open(
    sealed.signingSecretSealed,
    toSealedLocation(sealed, 'signingSecretSealed'),
  );
  return {
    ...sealSigningSecret(vault, sealed, secret),
    previousSecretSealed: vault.seal(previous, toSealedLocation(sealed, 'previousSecretSealed')),
    previousSecretExpireTime: new Date(now.getTime() + OVERLAP_MS),
  };
}

/** Returns the secrets that sign at this time, the current one first. */
export function openSigningSecrets(
  vault: Vault,
  sealed: RowKey & SealedSecrets,
  now: Date,
): [string, ...string[]] {
  const current = vault.open(
    sealed.signingSecretSealed,
    toSealedLocation(sealed, 'signingSecretSealed'),
  );
  const { previousSecretSealed: previous, previousSecretExpireTime: expireTime } = sealed;
  if (previous === null || expireTime === null || expireTime <= now) return [current];
  return [current, vault.open(previous, toSealedLocation(sealed, 'previousSecretSealed'))];
}

function toSealedLocation({ id, projectId }: RowKey, column: keyof SealedSecrets) {
  return { table: 'Destination', column, row: id, projectId };
}
