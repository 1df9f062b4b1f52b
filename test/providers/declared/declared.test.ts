/**
 * Tests that every declared provider fulfills the provider contract, against a server that speaks its vendor's
 * wire format.
 */
import { expect, test } from 'vitest';
import { createDeclarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';
import { getFiltersMax } from '../../../src/providers/object-support.ts';
import { toDocumented } from '../../support/wire/documented.ts';
import { WIRES } from '../../support/wire/vendors/all.ts';
import { testProviderContract } from '../contract.ts';
import { prepareWireSubjects } from './wire-subject.ts';

test('has a wire format for every declaration', () => {
  const names = DECLARATIONS.map(({ name }) => name);
  const withoutWire = names.filter((name) => !(name in WIRES));
  expect(withoutWire, 'add their wires to test/support/wire/vendors/<family>/all.ts').toEqual([]);
  const unusedWires = Object.keys(WIRES).filter((name) => !names.includes(name));
  expect(unusedWires, 'wires of no declaration').toEqual([]);
});

test('permits searches of every object whose list is declared with an equality filter', () => {
  const searchable = DECLARATIONS.flatMap((declared) => {
    const provider = createDeclarativeProvider(declared);
    return Object.entries(declared.api.objects)
      .filter(
        ([, { list, incrementalList }]) => list.equalityFilter ?? incrementalList?.equalityFilter,
      )
      .map(([objectName]) => ({
        object: `${declared.name} ${objectName}`,
        filtersMax: getFiltersMax(provider, objectName),
      }));
  });
  expect(searchable.length).toBeGreaterThan(0);
  expect(searchable.filter(({ filtersMax }) => filtersMax === 0)).toEqual([]);
});

test('names the sources of every declaration', () => {
  const unsourced = DECLARATIONS.filter(({ api }) => !api.docsUrl || !api.checkedAgainst);
  expect(unsourced.map(({ name }) => name)).toEqual([]);
});

/** `npm run provider -- <name>` tests one provider. */
const providerName = process.env.PROVIDER;

/** One provider of each family runs in `npm test`, the others in `npm run test:all`. */
const FAMILY_SAMPLES = ['asana', 'intercom', 'pipedrive', 'square'];

for (const declared of DECLARATIONS) {
  if (providerName && declared.name !== providerName) continue;
  const wire = WIRES[declared.name];
  if (!wire) continue;
  const tags = FAMILY_SAMPLES.includes(declared.name) ? [] : ['all/walk'];
  testProviderContract(declared.name, prepareWireSubjects(declared, wire), tags);
  const documented = toDocumented(declared);
  testProviderContract(documented.name, prepareWireSubjects(documented, wire), ['all/walk']);
}
