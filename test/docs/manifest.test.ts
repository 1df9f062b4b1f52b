/** Tests that docs/manifest.md and docs/manifest.schema.json are complete and correct. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  integrationContentInput,
  specVersion,
} from '../../src/domain/integrations/integration/integration-content-input.ts';
import { findEnumName, toWord } from '../../src/rest/endpoint/words.ts';
import { getSharedApp } from '../support/app.ts';
import { listCodeBlocks, ROOT } from '../support/documents.ts';
import { createRestTenantWithDestination } from '../support/rest/rest-installation.ts';

const app = await getSharedApp();
const PAGE = 'docs/manifest.md';
const page = readFileSync(join(ROOT, PAGE), 'utf8');

const manifest = z
  .object({ specVersion, integrations: z.array(integrationContentInput).min(1) })
  .describe('A manifest: integrations with what they read, write, proxy and subscribe to.');
const schema = z.toJSONSchema(manifest, {
  io: 'input',
  override({ zodSchema, jsonSchema }) {
    const { words } = (zodSchema as unknown as z.ZodType).meta() ?? {};
    if (Array.isArray(words)) jsonSchema.enum = words;
    else if (zodSchema instanceof z.ZodEnum) {
      const enumName = findEnumName(zodSchema);
      jsonSchema.enum = (zodSchema.options as string[]).map((name) => toWord(enumName, name));
    }
    if (typeof jsonSchema.default === 'string') {
      jsonSchema.default = jsonSchema.default.toLowerCase();
    }
    delete jsonSchema.words;
    delete jsonSchema.id;
    delete jsonSchema.enumeration;
  },
});

test('generates the JSON Schema from the inputs', async () => {
  const text = `${JSON.stringify({ title: 'Manifest', ...schema }, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot(join(ROOT, 'docs/manifest.schema.json'));
});

test('documents every member in docs/manifest.md', () => {
  const missingMembers = [...listMembers(schema)].filter(
    (name) => !new RegExp(`\\b${name}\\b`).test(page),
  );
  expect(missingMembers).toEqual([]);
});

test('deploys the examples of docs/manifest.md', async () => {
  const rest = await createRestTenantWithDestination(app);
  const examples = listCodeBlocks(PAGE).filter(({ language }) => language === 'yaml');
  expect(examples.length).toBeGreaterThan(1);
  for (const { text, line } of examples) {
    const path = `${rest.base}/integrations:batch`;
    const { status, body } = await rest.request('PUT', path, { sourceYaml: text });
    expect(status, `${PAGE}:${line}: ${JSON.stringify(body)}`).toBe(200);
  }
});

function* listMembers(node: unknown): Generator<string> {
  if (Array.isArray(node)) for (const listItem of node) yield* listMembers(listItem);
  if (typeof node !== 'object' || node === null) return;
  for (const [name, value] of Object.entries(node)) {
    if (name === 'properties') yield* Object.keys(value as object);
    yield* listMembers(value);
  }
}
