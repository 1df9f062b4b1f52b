/** Schemas of typed APIs, from random contracts. */
import fc from 'fast-check';
import {
  buildSchema,
  type GraphQLObjectType,
  type GraphQLSchema,
  isInputObjectType,
  isObjectType,
  lexicographicSortSchema,
  validateSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import type { Contract } from '../../../src/domain/data/contract/contract-resource.ts';
import { formatGraphqlSdl } from '../../../src/domain/data/contract/formats/graphql-sdl.ts';

import { createTypedSchema, createTypedSchemas } from '../../../src/graphql/typed/typed-schema.ts';
import { FIELD_VALUE_TYPES } from '../../../src/providers/contract.ts';
import { createTestContract } from '../../domain/data/contract/contracts.ts';

/** Names that are invalid in GraphQL, and names that the typed API reserves. */
const FIELD_NAMES = [
  'email',
  'first name',
  'first_name',
  '1st',
  '__type',
  '_raw',
  'id',
  'record',
  'Größe',
  '💶',
];
const OBJECT_NAMES = ['people', 'People', 'peopleById', 'page', 'JS', '2nd people', '_contract'];

const value = fc.constantFrom('GOLD', 'a b', 'true', '__x');
const field = fc.record({
  fieldName: fc.constantFrom(...FIELD_NAMES),
  valueType: fc.constantFrom(...FIELD_VALUE_TYPES),
  readOnly: fc.boolean(),
  isRequired: fc.boolean(),
  values: fc.option(
    fc.uniqueArray(
      value.map((name) => ({ value: name, displayValue: name })),
      { selector: (choice) => choice.value },
    ),
  ),
});
const contractInput = fc.record({
  names: fc.uniqueArray(fc.constantFrom(...OBJECT_NAMES), { minLength: 1, maxLength: 3 }),
  account: fc.uniqueArray(field, { selector: ({ fieldName }) => fieldName }),
});

const PROVIDER_OBJECTS = ['contacts', 'companies', 'deals'];

function createContract({
  names,
  account,
}: typeof contractInput extends fc.Arbitrary<infer T> ? T : never): Contract {
  const objects = names.map((mapToName, index) => ({
    objectName: PROVIDER_OBJECTS[index],
    destination: 'records',
    mapToName,
    requiredFields: [],
    optionalFieldsAuto: 'ALL',
  }));
  const objectNames = objects.map(({ objectName }) => objectName as string);
  return createTestContract({
    content: {
      read: { objects },
      write: { objects: objectNames.map((objectName) => ({ objectName, inheritMapping: true })) },
    },
    config: {
      read: objectNames.map((objectName) => ({ objectName, selectedFieldsAuto: 'ALL' })),
      write: objectNames.map((objectName) => ({ objectName, deletionEnabled: true })),
    },
    account: Object.fromEntries(objectNames.map((objectName) => [objectName, account])),
  });
}

/** Returns the types of the members by type, without members that only the typed API has. */
function listMembers(schema: GraphQLSchema): Record<string, Record<string, string>> {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => /(Record|Input)$/.test(type.name) && (isObjectType(type) || isInputObjectType(type)),
  );
  return Object.fromEntries(
    types.map((type) => {
      const fields = Object.values(
        isObjectType(type) || isInputObjectType(type) ? type.getFields() : {},
      );
      const contractFields = fields.filter(
        ({ name }) => !['_extras', '_installation', '_otherFields', '_raw'].includes(name),
      );
      return [
        type.name,
        Object.fromEntries(
          contractFields.map(({ name, type: fieldType }) => [name, String(fieldType)]),
        ),
      ];
    }),
  );
}

test('creates a valid schema with the types of the contract', { tags: ['all/walk'] }, () => {
  fc.assert(
    fc.property(contractInput, (input) => {
      const contract = createContract(input);
      const schema = createTypedSchema(contract);
      expect(validateSchema(schema)).toEqual([]);
      expect(() => lexicographicSortSchema(schema)).not.toThrow();
      const declaredMembers = listMembers(buildSchema(formatGraphqlSdl(contract)));
      const servedMembers = listMembers(schema);
      const names = Object.keys(declaredMembers);
      for (const name of names) expect(servedMembers[name]).toEqual(declaredMembers[name]);
    }),
    { numRuns: 200 },
  );
});

test('reports names that the typed API cannot serve as findings', () => {
  const objects = ['people', 'peopleById'].map((mapToName, index) => ({
    objectName: PROVIDER_OBJECTS[index],
    destination: 'records',
    mapToName,
    requiredFields: [{ fieldName: '_raw' }],
  }));
  const contract = createTestContract({ content: { read: { objects } } });
  expect(contract.findings).toEqual([
    {
      kind: 'NAME_CLASH',
      object: 'people',
      field: '_raw',
      message: expect.stringMatching(/in place of its own member _raw/),
    },
    { kind: 'NAME_CLASH', object: 'peopleById', field: '_raw', message: expect.any(String) },
    {
      kind: 'NAME_CLASH',
      object: 'people',
      field: null,
      message: expect.stringMatching(/can't read people by id/),
    },
  ]);
  const { peopleById, people } = createTypedSchema(contract).getQueryType()?.getFields() ?? {};
  expect([String(people?.type), String(peopleById?.type)]).toEqual([
    'PeopleConnection',
    'PeopleByIdConnection',
  ]);
});

function createPeopleContract(mapToName: string): Contract {
  const objects = [
    {
      objectName: 'contacts',
      destination: 'records',
      mapToName,
      requiredFields: [{ fieldName: 'email' }],
    },
  ];
  return createTestContract({ content: { read: { objects } } });
}

test('shares a schema between equal contracts', () => {
  const schemas = createTypedSchemas();
  const schema = schemas.get(createPeopleContract('people'));
  expect(schemas.get(createPeopleContract('people'))).toBe(schema);
  expect(schemas.get(createPeopleContract('persons'))).not.toBe(schema);
});

test('removes the least recently used schemas above the memory limit', () => {
  const { bytes } = fillCache(createTypedSchemas(), 1);
  const schemas = createTypedSchemas(bytes * 3);
  const [oldest] = fillCache(schemas, 3).all;
  expect(schemas.get(createPeopleContract('people0'))).toBe(oldest);
  fillCache(schemas, 100);
  expect(schemas.bytes).toBeLessThanOrEqual(bytes * 3);
  expect(schemas.get(createPeopleContract('people0'))).not.toBe(oldest);
});

function fillCache(schemas: ReturnType<typeof createTypedSchemas>, count: number) {
  const cachedSchemas = Array.from({ length: count }, (_, index) =>
    schemas.get(createPeopleContract(`people${index}`)),
  );
  return { all: cachedSchemas, bytes: schemas.bytes };
}

test('has a distinct field for each name in any script, which further names do not change', () => {
  const names = ['имя', '姓', '名', 'Größe', 'Grösse', 'الاسم', 'é', 'e\u0301', '💶'];
  const listFields = (mappedNames: string[]) => {
    const requiredFields = mappedNames.map((mapToName, index) => ({
      fieldName: `field${index}`,
      mapToName,
    }));
    const objects = [
      { objectName: 'contacts', destination: 'records', mapToName: '人々', requiredFields },
    ];
    const contract = createTestContract({ content: { read: { objects } } });
    expect(contract.findings).toEqual([]);
    const type = createTypedSchema(contract).getType('_x4EBA__x3005_Record') as GraphQLObjectType;
    const fields = Object.values(type.getFields());
    return new Map(fields.map(({ name, description }) => [description?.replaceAll('`', ''), name]));
  };
  const fields = listFields(names);
  for (const name of names) expect(listFields([name]).get(name)).toBe(fields.get(name));
  expect(new Set(names.map((name) => fields.get(name))).size).toBe(names.length);
  expect(fields.get('имя')).toBe('_x0438__x043C__x044F_');
});
