import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  findBreakingChanges,
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
/** The schema of the last release. A release replaces it by schema.graphql. */
const contract = buildSchema(readFileSync(join(root, 'test/contract/contract.graphql'), 'utf8'));

/** The text of "Breaking" under "Unreleased". */
function listedChanges(): string {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const [unreleased = ''] = /^## Unreleased$.*?(?=^## |$(?![\s\S]))/ms.exec(changelog) ?? [];
  return /^### Breaking$.*?(?=^### |$(?![\s\S]))/ms.exec(unreleased)?.[0] ?? '';
}

/** `Type.field`, `Type.field(arg:)`, `Type` or `Type.*` of a line. */
function names(listed: string, description: string): boolean {
  const [, type, member] = /\b([A-Z]\w*)(?:\.(\w+))?/.exec(description) ?? [];
  const mentioned = member ? [`${type}.${member}`, `${type}.*`] : [type];
  return mentioned.some((name) =>
    new RegExp(`\\b${name?.replace(/[.*]/g, '\\$&')}(?!\\w)`).test(listed),
  );
}

test('CHANGELOG.md lists every breaking change since the last release', () => {
  const listed = listedChanges();
  const unlisted = findBreakingChanges(contract, schema)
    .map(({ description }) => description)
    .filter((description) => !names(listed, description));
  expect(unlisted).toEqual([]);
});

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
