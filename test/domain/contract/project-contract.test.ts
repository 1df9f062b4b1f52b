import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  contractFieldType,
  type FieldType,
  findSharedType,
} from '../../../src/domain/contract/field-type.ts';
import { createProjectContract } from '../../../src/domain/contract/project-contract.ts';
import { contractFor, indexFields, reading } from './contracts.ts';

function people(name: string, fields: object[], overrides: object = {}) {
  const read = reading({ mapToName: 'people', requiredFields: fields });
  return contractFor({ content: { name, read, ...overrides } });
}

test('merges the objects of integrations by name', () => {
  const write = { objects: [{ objectName: 'contacts', inheritMapping: true }] };
  const shared = { fieldName: 'email', mapToName: 'mail', valueType: 'STRING' };
  const merged = createProjectContract([
    people('a', [shared, { fieldName: 'phone' }], { write }),
    people('b', [{ ...shared, fieldName: 'lastname' }]),
    contractFor({ content: { name: 'c', read: reading({ objectName: 'deals' }) } }),
  ]);
  expect(merged.objects.map(({ name }) => name)).toEqual(['people', 'deals']);
  expect(merged.objects[0]).toMatchObject({
    sources: [{ integration: 'a' }, { integration: 'b' }],
    verbs: ['LIST', 'SEARCH', 'READ_BY_ID', 'CREATE', 'UPDATE', 'DELETE'],
    filterable: { fields: ['mail'], conditionsMax: 20 },
  });
  expect(indexFields(merged)).toMatchObject({
    mail: { type: 'STRING', isAlwaysRead: true, providerField: null, isReadOnly: false },
    phone: { isAlwaysRead: false, providerField: 'phone' },
  });
  expect(merged.findings).toEqual([]);
});

test('finds types that contradict each other, with their places', () => {
  const merged = createProjectContract([
    people('a', [{ fieldName: 'email', mapToName: 'tier', valueType: 'STRING' }]),
    people('b', [{ fieldName: 'score', mapToName: 'tier', valueType: 'BOOLEAN' }]),
  ]);
  expect(indexFields(merged).tier).toMatchObject({ type: 'JSON', isTypeKnown: false });
  expect(merged.findings).toEqual([
    {
      kind: 'TYPE_CONFLICT',
      object: 'people',
      field: 'tier',
      message: expect.stringMatching(
        /STRING in a \(contacts\.email\), and BOOLEAN in b \(contacts\.score\)/,
      ),
    },
  ]);
});

test('requires a field of new records only if every integration requires it', () => {
  const write = { objects: [{ objectName: 'contacts', inheritMapping: true }] };
  const requiring = (name: string, isRequired: boolean) =>
    contractFor({
      content: { name, read: reading({ requiredFields: [{ fieldName: 'email' }] }), write },
      account: { contacts: [{ isRequired }] },
    });
  const isRequired = (...values: boolean[]) =>
    indexFields(createProjectContract(values.map((value, index) => requiring(`i${index}`, value))))
      .email?.isRequired;
  expect(isRequired(true, true)).toBe(true);
  expect(isRequired(true, false)).toBe(false);
});

const fieldType: fc.Arbitrary<FieldType> = fc.record({
  type: fc.constantFrom(...contractFieldType.options),
  isList: fc.boolean(),
  isTypeKnown: fc.boolean(),
});

test('returns the same shared type for fields in any order and with repetitions', () => {
  fc.assert(
    fc.property(fc.array(fieldType, { minLength: 1 }), (types) => {
      const shared = findSharedType(types);
      expect(findSharedType(types.toReversed())).toEqual(shared);
      expect(findSharedType([...types, ...types])).toEqual(shared);
      if (shared?.isTypeKnown) expect(findSharedType([...types, shared])).toEqual(shared);
    }),
  );
});

test('returns the same contract for an integration and for a project that has no other', () => {
  const contract = people('a', [{ fieldName: 'email' }, { fieldName: 'first name' }]);
  expect(createProjectContract([contract])).toEqual(contract);
});
