import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createVault, Secret } from '../../src/kernel/secrets.ts';

const context = {
  table: 'Connection',
  column: 'credentialsSealed',
  row: 'con_1',
  projectId: 'prj_1',
};

test('opens a sealed value, and seals it differently each time', () => {
  const vault = createVault([randomBytes(32)]);
  const [sealedValue, sealedAgain] = [
    vault.seal('hunter2', context),
    vault.seal('hunter2', context),
  ];
  expect(vault.open(sealedValue, context)).toBe('hunter2');
  expect(sealedValue).not.toBe(sealedAgain);
  expect(sealedValue).not.toContain('hunter2');
});

test('refuses to open a moved or changed value', () => {
  const vault = createVault([randomBytes(32)]);
  const sealedValue = vault.seal('hunter2', context);
  for (const change of [
    { table: 'X' },
    { column: 'x' },
    { row: 'con_2' },
    { projectId: 'prj_2' },
  ]) {
    expect(() => vault.open(sealedValue, { ...context, ...change })).toThrow();
  }
  const changedCharacter = sealedValue.at(-2) === 'A' ? 'B' : 'A';
  expect(() =>
    vault.open(`${sealedValue.slice(0, -2)}${changedCharacter}${sealedValue.at(-1)}`, context),
  ).toThrow();
});

test('opens values of a rotated key, and seals with the new one', () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  const sealedValue = createVault([oldKey]).seal('hunter2', context);
  const rotatedVault = createVault([newKey, oldKey]);
  expect(rotatedVault.open(sealedValue, context)).toBe('hunter2');
  expect(rotatedVault.isCurrent(sealedValue)).toBe(false);
  expect(rotatedVault.isCurrent(rotatedVault.seal('hunter2', context))).toBe(true);
  expect(() => createVault([newKey]).open(sealedValue, context)).toThrow(
    /which this process lacks/,
  );
  expect(() => rotatedVault.open('hunter2', context)).toThrow('is not a sealed value');
  expect([rotatedVault, createVault([newKey])].map((vault) => vault.hasKeyOf(sealedValue))).toEqual(
    [true, false],
  );
});

test('reveals a Secret only by reveal()', () => {
  const secret = new Secret('hunter2');
  expect(`${secret} ${JSON.stringify({ secret })} ${inspect({ secret })}`).not.toContain('hunter2');
  expect(secret.reveal()).toBe('hunter2');
});
