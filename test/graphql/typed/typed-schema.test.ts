/** Schemas of typed APIs, made from generated contracts. */
import fc from 'fast-check';
import {
  buildSchema,
  type GraphQLSchema,
  isInputObjectType,
  isObjectType,
  lexicographicSortSchema,
  validateSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import { formatGraphqlSdl } from '../../../src/domain/contract/formats/graphql-sdl.ts';
import type { Contract } from '../../../src/domain/contract/object-contract.ts';

import { createTypedSchema, createTypedSchemas } from '../../../src/graphql/typed/typed-schema.ts';
import { FIELD_VALUE_TYPES } from '../../../src/providers/contract.ts';
import { contractFor } from '../../domain/contract/contracts.ts';

/** Names that GraphQL cannot have, and names that the typed API uses itself. */
const NAMES = [
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
const OBJECTS = ['people', 'People', 'peopleById', 'page', 'JS', '2nd people', '_contract'];

const value = fc.constantFrom('GOLD', 'a b', 'true', '__x');
const field = fc.record({
  fieldName: fc.constantFrom(...NAMES),
  valueType: fc.constantFrom(...FIELD_VALUE_TYPES),
  readOnly: fc.boolean(),
  isRequired: fc.boolean(),
  values: fc.option(
    fc.uniqueArray(
      value.map((one) => ({ value: one, displayValue: one })),
      { selector: (one) => one.value },
    ),
  ),
});
const given = fc.record({
  names: fc.uniqueArray(fc.constantFrom(...OBJECTS), { minLength: 1, maxLength: 3 }),
  account: fc.uniqueArray(field, { selector: ({ fieldName }) => fieldName }),
});

const PROVIDER_OBJECTS = ['contacts', 'companies', 'deals'];

function generated({
  names,
  account,
}: typeof given extends fc.Arbitrary<infer T> ? T : never): Contract {
  const objects = names.map((mapToName, index) => ({
    objectName: PROVIDER_OBJECTS[index],
    destination: 'records',
    mapToName,
    requiredFields: [],
    optionalFieldsAuto: 'ALL',
  }));
  const used = objects.map(({ objectName }) => objectName as string);
  return contractFor({
    content: {
      read: { objects },
      write: { objects: used.map((objectName) => ({ objectName, inheritMapping: true })) },
    },
    config: {
      read: used.map((objectName) => ({ objectName, selectedFieldsAuto: 'ALL' })),
      write: used.map((objectName) => ({ objectName, deletionEnabled: true })),
    },
    account: Object.fromEntries(used.map((objectName) => [objectName, account])),
  });
}

/** The types of fields and members, by type. Members that only the typed API has are absent. */
function listMembers(schema: GraphQLSchema): Record<string, Record<string, string>> {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => /(Record|Input)$/.test(type.name) && (isObjectType(type) || isInputObjectType(type)),
  );
  return Object.fromEntries(
    types.map((type) => {
      const fields = Object.values(
        isObjectType(type) || isInputObjectType(type) ? type.getFields() : {},
      );
      const own = fields.filter(
        ({ name }) => !['_extras', '_installation', '_otherFields', '_raw'].includes(name),
      );
      return [type.name, Object.fromEntries(own.map(({ name, type: of }) => [name, String(of)]))];
    }),
  );
}

test('each schema is valid, and has the types of the contract', () => {
  fc.assert(
    fc.property(given, (one) => {
      const contract = generated(one);
      const schema = createTypedSchema(contract);
      expect(validateSchema(schema)).toEqual([]);
      expect(() => lexicographicSortSchema(schema)).not.toThrow();
      const declared = listMembers(buildSchema(formatGraphqlSdl(contract)));
      const served = listMembers(schema);
      const names = Object.keys(declared);
      for (const name of names) expect(served[name]).toEqual(declared[name]);
    }),
    { numRuns: 200 },
  );
});

test('names that the typed API cannot serve are findings', () => {
  const objects = ['people', 'peopleById'].map((mapToName, index) => ({
    objectName: PROVIDER_OBJECTS[index],
    destination: 'records',
    mapToName,
    requiredFields: [{ fieldName: '_raw' }],
  }));
  const contract = contractFor({ content: { read: { objects } } });
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

function contractNamed(mapToName: string): Contract {
  const objects = [
    {
      objectName: 'contacts',
      destination: 'records',
      mapToName,
      requiredFields: [{ fieldName: 'email' }],
    },
  ];
  return contractFor({ content: { read: { objects } } });
}

test('equal contracts share a schema', () => {
  const schemas = createTypedSchemas();
  const schema = schemas.get(contractNamed('people'));
  expect(schemas.get(contractNamed('people'))).toBe(schema);
  expect(schemas.get(contractNamed('persons'))).not.toBe(schema);
});

test('the memory of cached schemas has a bound, and the least recently used ones are removed', () => {
  const { bytes } = withSchemas(createTypedSchemas(), 1);
  const schemas = createTypedSchemas(bytes * 3);
  const [first] = withSchemas(schemas, 3).all;
  expect(schemas.get(contractNamed('people0'))).toBe(first);
  withSchemas(schemas, 100);
  expect(schemas.bytes).toBeLessThanOrEqual(bytes * 3);
  expect(schemas.get(contractNamed('people0'))).not.toBe(first);
});

function withSchemas(schemas: ReturnType<typeof createTypedSchemas>, count: number) {
  const all = Array.from({ length: count }, (_, n) => schemas.get(contractNamed(`people${n}`)));
  return { all, bytes: schemas.bytes };
}
