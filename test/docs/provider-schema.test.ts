/** Tests that docs/provider.schema.json and the reference of provider documents are complete and correct. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { createProviderReference } from '../../scripts/providers/provider-reference.ts';
import { createProviderSchema } from '../../scripts/providers/provider-schema.ts';
import { DECLARATIONS } from '../../src/providers/declared/all.ts';
import { exportDocument } from '../../src/providers/document/export-document.ts';
import { ROOT } from '../support/documents.ts';

const text = createProviderSchema();

test('the reference is current: `npm run provider:schema` writes it', () => {
  expect(readFileSync(join(ROOT, 'docs/providers/document.md'), 'utf8')).toBe(
    createProviderReference(),
  );
});

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
