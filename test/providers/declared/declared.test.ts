/** Every provider that is made of a declaration keeps to the contract, against its vendor's wire format. */
import { expect, test } from 'vitest';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { WIRES } from '../../support/wire/vendors/all.ts';
import { providerContract } from '../contract.ts';
import { wireSubject } from './wire-subject.ts';

test('every declaration has a wire format that was written without it', () => {
  expect(DECLARATIONS.map(({ name }) => name).toSorted()).toEqual(Object.keys(WIRES).toSorted());
});

/** `npm run provider -- <name>` tries one of them. */
const chosen = process.env.PROVIDER;

for (const declared of DECLARATIONS) {
  if (chosen && declared.name !== chosen) continue;
  const wire = WIRES[declared.name];
  if (!wire) continue;
  providerContract(declared.name, () => wireSubject(declared, wire));
}
