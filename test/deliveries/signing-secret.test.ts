import { expect, test } from 'vitest';
import {
  createSigningSecret,
  openSigningSecrets,
  rotateSecrets,
  sealSigningSecret,
} from '../../src/deliveries/signing-secret.ts';
import { createVault } from '../../src/kernel/secrets.ts';

const vault = createVault([Buffer.alloc(32, 1)]);
const owner = { id: 'dst_1', projectId: 'prj_1' };
const noPreviousSecret = { previousSecretSealed: null, previousSecretExpireTime: null };
const now = new Date('2026-01-01T00:00:00Z');

test('creates a secret with the prefix whsec_ and 32 random bytes in base64', () => {
  const secret = createSigningSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(createSigningSecret()).not.toBe(secret);
});

test('opens a sealed secret only for its destination', () => {
  const sealedDestination = {
    ...owner,
    ...noPreviousSecret,
    ...sealSigningSecret(vault, owner, 'whsec_a'),
  };
  expect(JSON.stringify(sealedDestination)).not.toContain('whsec_a');
  expect(openSigningSecrets(vault, sealedDestination, now)).toEqual(['whsec_a']);
  expect(() => openSigningSecrets(vault, { ...sealedDestination, id: 'dst_2' }, now)).toThrow();
  expect(() =>
    openSigningSecrets(vault, { ...sealedDestination, projectId: 'prj_2' }, now),
  ).toThrow();
});

test('also returns the previous secret for 24 hours after a rotation', () => {
  const initial = { ...owner, ...sealSigningSecret(vault, owner, 'whsec_a') };
  const rotatedDestination = {
    ...owner,
    ...rotateSecrets(vault, initial, { secret: 'whsec_b', now }),
  };
  const addHours = (hours: number) => new Date(now.getTime() + hours * 3_600_000);
  expect(openSigningSecrets(vault, rotatedDestination, addHours(23.9))).toEqual([
    'whsec_b',
    'whsec_a',
  ]);
  expect(openSigningSecrets(vault, rotatedDestination, addHours(24))).toEqual(['whsec_b']);

  const rotatedTwice = {
    ...owner,
    ...rotateSecrets(vault, rotatedDestination, { secret: 'whsec_c', now }),
  };
  expect(openSigningSecrets(vault, rotatedTwice, now)).toEqual(['whsec_c', 'whsec_b']);
});
