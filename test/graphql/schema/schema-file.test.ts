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

const ROOT = join(import.meta.dirname, '..', '..', '..');
test('schema.graphql equals the served schema (npm run schema writes it)', () => {
  const committedSchema = readFileSync(join(ROOT, 'schema.graphql'), 'utf8');
  expect(committedSchema).toBe(`${printSchema(lexicographicSortSchema(schema))}\n`);
});

test('describes every type, field, argument and enum value', () => {
  const undescribed: string[] = [];
  const check = (name: string, element: { description?: string | null }) => {
    if (!element.description?.trim()) undescribed.push(name);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || isSpecifiedScalarType(type)) continue;
    check(type.name, type);
    if (isEnumType(type)) {
      for (const value of type.getValues()) check(`${type.name}.${value.name}`, value);
    }
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields()))
        check(`${type.name}.${field.name}`, field);
    }
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) {
        check(`${type.name}.${field.name}`, field);
        for (const arg of field.args) check(`${type.name}.${field.name}(${arg.name})`, arg);
      }
    }
  }
  expect(undescribed).toEqual([]);
});
