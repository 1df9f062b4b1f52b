/** Tests that docs/provider.schema.json and the reference of provider documents are complete and correct. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { createProviderSchema } from '../../scripts/provider-schema.ts';
import { DECLARATIONS } from '../../src/providers/declared/all.ts';
import { exportDocument } from '../../src/providers/document/export-document.ts';
import { ROOT } from '../support/documents.ts';

const text = createProviderSchema();

test('the schema is current: `npm run provider:schema` writes it', () => {
  expect(readFileSync(join(ROOT, 'docs/provider.schema.json'), 'utf8')).toBe(text);
});

const ajv = new Ajv2020({ strict: false });
ajvFormats.default(ajv);
const validate = ajv.compile(JSON.parse(text));

test('accepts every exported provider', () => {
  const refused = DECLARATIONS.flatMap((declared) =>
    validate(JSON.parse(JSON.stringify(exportDocument(declared))))
      ? []
      : [`${declared.name}: ${ajv.errorsText(validate.errors)}`],
  );
  expect(refused).toEqual([]);
});

test('refuses unknown members and wrong values', () => {
  const [declared] = DECLARATIONS;
  if (!declared) throw new Error('there is no declaration');
  const document = exportDocument(declared);
  for (const change of [{ unknown: 1 }, { name: 'airtable' }, { baseUrl: 'ftp://a.example' }]) {
    expect(validate({ ...document, ...change })).toBe(false);
  }
});

test('describes nearly all members', () => {
  const members = [...listMembers(JSON.parse(text))];
  const described = members.filter(([, member]) => member.description ?? member.$ref);
  expect(described.length / members.length).toBeGreaterThan(0.5);
});

function* listMembers(node: unknown): Generator<[string, Record<string, unknown>]> {
  if (Array.isArray(node)) for (const item of node) yield* listMembers(item);
  if (typeof node !== 'object' || node === null) return;
  for (const [name, value] of Object.entries(node)) {
    if (name === 'properties')
      yield* Object.entries(value as Record<string, Record<string, unknown>>);
    yield* listMembers(value);
  }
}
