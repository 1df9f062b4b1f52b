import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  contractFieldType,
  type FieldType,
  findSharedType,
} from '../../../../src/domain/data/contract/field-type.ts';
import { createProjectContract } from '../../../../src/domain/data/contract/project-contract.ts';
import { createReadConfig, createTestContract, indexFields } from './contracts.ts';

function createPeopleObject(name: string, fields: object[], overrides: object = {}) {
  const read = createReadConfig({ mapToName: 'people', requiredFields: fields });
  return createTestContract({ content: { name, read, ...overrides } });
}

test('merges the objects of integrations by name', () => {
  const write = { objects: [{ objectName: 'contacts', inheritMapping: true }] };
  const sharedField = { fieldName: 'email', mapToName: 'mail', valueType: 'STRING' };
  const contract = createProjectContract([
    createPeopleObject('a', [sharedField, { fieldName: 'phone' }], { write }),
    createPeopleObject('b', [{ ...sharedField, fieldName: 'lastname' }]),
    createTestContract({ content: { name: 'c', read: createReadConfig({ objectName: 'deals' }) } }),
  ]);
  expect(contract.objects.map(({ name }) => name)).toEqual(['people', 'deals']);
  expect(contract.objects[0]).toMatchObject({
    sources: [{ integration: 'a' }, { integration: 'b' }],
    verbs: ['LIST', 'SEARCH', 'READ_BY_ID', 'CREATE', 'UPDATE', 'DELETE'],
    filterable: { fields: ['mail'], conditionsMax: 20 },
  });
  expect(indexFields(contract)).toMatchObject({
    mail: { type: 'STRING', isAlwaysRead: true, providerField: null, isReadOnly: false },
    phone: { isAlwaysRead: false, providerField: 'phone' },
  });
  expect(contract.findings).toEqual([]);
});

test('reports contradicting types of a field, with the origin of each', () => {
  const contract = createProjectContract([
    createPeopleObject('a', [{ fieldName: 'email', mapToName: 'tier', valueType: 'STRING' }]),
    createPeopleObject('b', [{ fieldName: 'score', mapToName: 'tier', valueType: 'BOOLEAN' }]),
  ]);
  expect(indexFields(contract).tier).toMatchObject({ type: 'JSON', isTypeKnown: false });
  expect(contract.findings).toEqual([
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
  const createEmailContract = (name: string, isRequired: boolean) =>
    createTestContract({
      content: {
        name,
        read: createReadConfig({ requiredFields: [{ fieldName: 'email' }] }),
        write,
      },
      account: { contacts: [{ isRequired }] },
    });
  const isEmailRequired = (...requirements: boolean[]) =>
    indexFields(
      createProjectContract(
        requirements.map((isRequired, index) => createEmailContract(`i${index}`, isRequired)),
      ),
    ).email?.isRequired;
  expect(isEmailRequired(true, true)).toBe(true);
  expect(isEmailRequired(true, false)).toBe(false);
});

const fieldType: fc.Arbitrary<FieldType> = fc.record({
  type: fc.constantFrom(...contractFieldType.options),
  isList: fc.boolean(),
  isTypeKnown: fc.boolean(),
});

test('returns the same shared type for fields in any order and with repetitions', () => {
  fc.assert(
    fc.property(fc.array(fieldType, { minLength: 1 }), (types) => {
      const sharedType = findSharedType(types);
      expect(findSharedType(types.toReversed())).toEqual(sharedType);
      expect(findSharedType([...types, ...types])).toEqual(sharedType);
      if (sharedType?.isTypeKnown)
        expect(findSharedType([...types, sharedType])).toEqual(sharedType);
    }),
  );
});

test('returns the same contract for an integration and for a project with only that integration', () => {
  const contract = createPeopleObject('a', [{ fieldName: 'email' }, { fieldName: 'first name' }]);
  expect(createProjectContract([contract])).toEqual(contract);
});
