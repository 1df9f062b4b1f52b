import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createVault, Secret } from '../src/secrets.ts';

const place = {
  table: 'Connection',
  column: 'credentialsSealed',
  row: 'con_1',
  projectId: 'prj_1',
};

test('what is sealed opens again, and looks different each time', () => {
  const vault = createVault([randomBytes(32)]);
  const [one, two] = [vault.seal('hunter2', place), vault.seal('hunter2', place)];
  expect(vault.open(one, place)).toBe('hunter2');
  expect(one).not.toBe(two);
  expect(one).not.toContain('hunter2');
});

test('a value that was moved or changed does not open', () => {
  const vault = createVault([randomBytes(32)]);
  const sealed = vault.seal('hunter2', place);
  for (const other of [{ table: 'X' }, { column: 'x' }, { row: 'con_2' }, { projectId: 'prj_2' }]) {
    expect(() => vault.open(sealed, { ...place, ...other })).toThrow();
  }
  const last = sealed.at(-2) === 'A' ? 'B' : 'A';
  expect(() => vault.open(`${sealed.slice(0, -2)}${last}${sealed.at(-1)}`, place)).toThrow();
});

test('a rotated key still opens what it sealed, and new values are sealed by the new one', () => {
  const [old, current] = [randomBytes(32), randomBytes(32)];
  const sealed = createVault([old]).seal('hunter2', place);
  const rotated = createVault([current, old]);
  expect(rotated.open(sealed, place)).toBe('hunter2');
  expect(rotated.isCurrent(sealed)).toBe(false);
  expect(rotated.isCurrent(rotated.seal('hunter2', place))).toBe(true);
  expect(() => createVault([current]).open(sealed, place)).toThrow(/No key/);
  expect([rotated, createVault([current])].map((vault) => vault.hasKeyOf(sealed))).toEqual([
    true,
    false,
  ]);
});

test('a Secret shows itself only when it is asked to', () => {
  const secret = new Secret('hunter2');
  expect(`${secret} ${JSON.stringify({ secret })} ${inspect({ secret })}`).not.toContain('hunter2');
  expect(secret.reveal()).toBe('hunter2');
});
