import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graphql/schema/schema.ts';

const root = join(import.meta.dirname, '..', '..', '..');
test('schema.graphql is the schema as served (npm run schema writes it)', () => {
  const committed = readFileSync(join(root, 'schema.graphql'), 'utf8');
  expect(committed).toBe(`${printSchema(lexicographicSortSchema(schema))}\n`);
});

test('every type, field, argument and enum value has a description', () => {
  const missing: string[] = [];
  const look = (name: string, described: { description?: string | null }) => {
    if (!described.description?.trim()) missing.push(name);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || isSpecifiedScalarType(type)) continue;
    look(type.name, type);
    if (isEnumType(type)) {
      for (const value of type.getValues()) look(`${type.name}.${value.name}`, value);
    }
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields()))
        look(`${type.name}.${field.name}`, field);
    }
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) {
        look(`${type.name}.${field.name}`, field);
        for (const arg of field.args) look(`${type.name}.${field.name}(${arg.name})`, arg);
      }
    }
  }
  expect(missing).toEqual([]);
});
