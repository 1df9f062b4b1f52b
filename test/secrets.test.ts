import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createVault, Secret } from '../src/secrets.ts';

const context = {
  table: 'Connection',
  column: 'credentialsSealed',
  row: 'con_1',
  projectId: 'prj_1',
};

test('opens a sealed value, and seals it differently each time', () => {
  const vault = createVault([randomBytes(32)]);
  const [first, second] = [vault.seal('hunter2', context), vault.seal('hunter2', context)];
  expect(vault.open(first, context)).toBe('hunter2');
  expect(first).not.toBe(second);
  expect(first).not.toContain('hunter2');
});

test('refuses to open a moved or changed value', () => {
  const vault = createVault([randomBytes(32)]);
  const sealed = vault.seal('hunter2', context);
  for (const other of [{ table: 'X' }, { column: 'x' }, { row: 'con_2' }, { projectId: 'prj_2' }]) {
    expect(() => vault.open(sealed, { ...context, ...other })).toThrow();
  }
  const last = sealed.at(-2) === 'A' ? 'B' : 'A';
  expect(() => vault.open(`${sealed.slice(0, -2)}${last}${sealed.at(-1)}`, context)).toThrow();
});

test('opens values of a rotated key, and seals with the new one', () => {
  const [old, current] = [randomBytes(32), randomBytes(32)];
  const sealed = createVault([old]).seal('hunter2', context);
  const rotated = createVault([current, old]);
  expect(rotated.open(sealed, context)).toBe('hunter2');
  expect(rotated.isCurrent(sealed)).toBe(false);
  expect(rotated.isCurrent(rotated.seal('hunter2', context))).toBe(true);
  expect(() => createVault([current]).open(sealed, context)).toThrow(/which this process lacks/);
  expect([rotated, createVault([current])].map((vault) => vault.hasKeyOf(sealed))).toEqual([
    true,
    false,
  ]);
});

test('reveals a Secret only by reveal()', () => {
  const secret = new Secret('hunter2');
  expect(`${secret} ${JSON.stringify({ secret })} ${inspect({ secret })}`).not.toContain('hunter2');
  expect(secret.reveal()).toBe('hunter2');
});
