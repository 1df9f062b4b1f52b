/**
 * Every member of an input has an effect, or is listed with a reason.
 *
 * @module-tag all/walk
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema/schema.ts';
import { getSharedApp } from '../support/app.ts';
import { recordInputReads } from '../support/inputs/input-reads.ts';
import { MUTATIONS, walkInputs } from '../support/inputs/walk-inputs.ts';
import { STEPS } from '../support/inputs/whole-inputs.ts';

const app = await getSharedApp({ env: { REDIRECT_ORIGINS: 'https://app.example.com' } });

/** Inputs of queries, with the tests that use them. */
const QUERY_INPUTS: Record<string, string> = {
  RecordFilterInput: 'test/flows/read/record-search.test.ts',
};

const INPUT_FIELDS = Object.values(schema.getTypeMap())
  .filter(isInputObjectType)
  .filter(({ name }) => !(name in QUERY_INPUTS))
  .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`));

/** Members that no code reads, with the reason. */
const NOT_READ: Record<string, string> = {
  'ClaimDomainInput.parentType': 'It has one value, which the schema checks.',
  'DynamicMappingInput.mappedValues': 'Choices that pages show to people and read back.',
  'OfferedValueInput.mappedDisplayValue': 'A choice that pages show to people and read back.',
  'OfferedValueInput.mappedValue': 'A choice that pages show to people and read back.',
};

const root = join(import.meta.dirname, '../..');
/** Files that declare inputs or repeat them in responses. A member that only these files name has no effect. */
const DECLARATION_FILES =
  /^src\/(graphql|rest|database\/generated|demo)\/|-(input|config)\.ts$|dynamic-mapping\.ts$/;
const COMMENTS_AND_TEXTS = /\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'/gm;
const sources = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => !DECLARATION_FILES.test(file))
  .map((file) => readFileSync(join(root, file), 'utf8').replaceAll(COMMENTS_AND_TEXTS, ''))
  .join('\n');
const columns = readFileSync(join(root, 'schema.prisma'), 'utf8');

/** True if the member of an object that is copied as a whole is a column, or if a source file names it. */
function isUsed(field: string): boolean {
  const member = field.split('.').at(-1);
  const isColumn = new RegExp(`^ +${member} `, 'm').test(columns);
  return isColumn || new RegExp(`\\b${member}\\b`).test(sources);
}

/**
 * Returns the members whose reads count as reads of this member. A member of a `@oneOf` input is read in the inputs
 * that contain it.
 */
function listReadMembers(field: string): string[] {
  const [typeName = '', member] = field.split('.');
  const type = schema.getType(typeName) as GraphQLInputObjectType;
  const memberType = getNamedType(type.getFields()[member as string]?.type);
  if (isInputObjectType(memberType) && memberType.isOneOf) return [];
  return type.isOneOf ? listHolders(type).map((holder) => `${holder}.${member}`) : [field];
}

function listHolders(inputType: GraphQLInputObjectType): string[] {
  const inputs = Object.values(schema.getTypeMap()).filter(isInputObjectType);
  const holders = inputs.filter((type) =>
    Object.values(type.getFields()).some((field) => getNamedType(field.type) === inputType),
  );
  return holders.map(({ name }) => name);
}

test('reads every member of every input, except those in NOT_READ', async () => {
  using reads = recordInputReads();
  const { sent, unexpectedOutcomes } = await walkInputs(app);
  const uncalled = Object.keys(MUTATIONS).filter(
    (name) => !STEPS.some(({ mutation }) => mutation === name),
  );
  const missing = {
    uncalled,
    members: INPUT_FIELDS.filter((field) => !sent.has(field)),
    unexpected: unexpectedOutcomes,
  };
  expect(
    missing,
    'test/support/inputs/whole-inputs.ts calls each mutation with all members',
  ).toEqual({
    uncalled: [],
    members: [],
    unexpected: [],
  });
  const isMemberRead = (field: string) =>
    reads.read.has(field) || (reads.copied.has(field) && isUsed(field));
  const isRead = (field: string) => {
    const fields = listReadMembers(field);
    return fields.length === 0 || fields.some(isMemberRead);
  };
  const unread = INPUT_FIELDS.filter((field) => !isRead(field));
  expect(unread.sort(), 'members without a reader, which NOT_READ must list').toEqual(
    Object.keys(NOT_READ).sort(),
  );
});
