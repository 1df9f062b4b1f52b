/**
 * Nothing is accepted in silence: what a caller may give is read on its way.
 *
 * @module-tag all/walk
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInputObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema/schema.ts';
import { sharedApp } from '../support/app.ts';
import { recordInputReads } from '../support/inputs/recorded-input.ts';
import { MUTATIONS, walkInputs } from '../support/inputs/walk-inputs.ts';
import { STEPS } from '../support/inputs/whole-inputs.ts';

const app = await sharedApp({ env: { REDIRECT_ORIGINS: 'https://app.example.com' } });

/** Of reads alone, with the tests that give them. */
const OF_READS: Record<string, string> = {
  RecordFilterInput: 'test/flows/read/record-search.test.ts',
};

const FIELDS = Object.values(schema.getTypeMap())
  .filter(isInputObjectType)
  .filter(({ name }) => !(name in OF_READS))
  .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`));

/** What nothing reads, each with its reason; what is read by now is taken away. */
const NOT_READ: Record<string, string> = {
  'ClaimDomainInput.parentType': 'It has one value, which the schema checks.',
  'DynamicMappingInput.mapToDisplayName': 'A name for people: pages get it back.',
  'DynamicMappingInput.mappedValues': 'Pages offer them to people, and get them back.',
  'OfferedValueInput.mappedDisplayValue': 'Pages offer it to people, and get it back.',
  'OfferedValueInput.mappedValue': 'Pages offer it to people, and get it back.',
  'FieldMappingInput.mapToDisplayName': 'A name for people: it is shown with the revision.',
  'ReadObjectSpecInput.mapToDisplayName': 'A name for people: it is shown with the revision.',
};

const root = join(import.meta.dirname, '../..');
/** Where inputs are declared, and where answers repeat them: what is only named here does nothing. */
const DECLARED =
  /^src\/(graphql|rest|database\/generated|demo)\/|-(input|config)\.ts$|dynamic-mapping\.ts$/;
const COMMENTS_AND_TEXTS = /\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'/gm;
const sources = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => !DECLARED.test(file))
  .map((file) => readFileSync(join(root, file), 'utf8').replaceAll(COMMENTS_AND_TEXTS, ''))
  .join('\n');
const columns = readFileSync(join(root, 'schema.prisma'), 'utf8');

/** Whether what is taken over as a whole is a column, or something that the sources name. */
function isUsed(field: string): boolean {
  const member = field.split('.').at(-1);
  const isColumn = new RegExp(`^ +${member} `, 'm').test(columns);
  return isColumn || new RegExp(`\\b${member}\\b`).test(sources);
}

test('every member of every input is read on its way, or the reason is told', async () => {
  using reads = recordInputReads();
  const { given, unexpected } = await walkInputs(app);
  const uncalled = Object.keys(MUTATIONS).filter(
    (name) => !STEPS.some(({ mutation }) => mutation === name),
  );
  const missing = { uncalled, members: FIELDS.filter((field) => !given.has(field)), unexpected };
  expect(
    missing,
    'test/support/inputs/whole-inputs.ts calls each mutation with all members',
  ).toEqual({
    uncalled: [],
    members: [],
    unexpected: [],
  });
  const isRead = (field: string) =>
    reads.read.has(field) || (reads.copied.has(field) && isUsed(field));
  const unread = FIELDS.filter((field) => !isRead(field));
  expect(unread.sort(), 'NOT_READ names what nothing reads').toEqual(Object.keys(NOT_READ).sort());
});
