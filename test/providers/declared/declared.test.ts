/** Every provider that is made of a declaration keeps to the contract, against its vendor's wire format. */
import { expect, test } from 'vitest';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { WIRES } from '../../support/wire/vendors/all.ts';
import { providerContract } from '../contract.ts';
import { wireSubject } from './wire-subject.ts';

test('every declaration has a wire format that was written without it', () => {
  const names = DECLARATIONS.map(({ name }) => name);
  const without = names.filter((name) => !(name in WIRES));
  expect(without, 'add their wires to test/support/wire/vendors/<family>/all.ts').toEqual([]);
  const unknown = Object.keys(WIRES).filter((name) => !names.includes(name));
  expect(unknown, 'wires of no declaration').toEqual([]);
});

/** `npm run provider -- <name>` tries one of them. */
const chosen = process.env.PROVIDER;

/** One provider of each family. The contract of the others is a walk. */
const OF_EACH_FAMILY = ['asana', 'intercom', 'pipedrive', 'square'];

for (const declared of DECLARATIONS) {
  if (chosen && declared.name !== chosen) continue;
  const wire = WIRES[declared.name];
  if (!wire) continue;
  const tags = OF_EACH_FAMILY.includes(declared.name) ? [] : ['all/walk'];
  providerContract(declared.name, () => wireSubject(declared, wire), tags);
}
