import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { createSchemaCompletion } from '../../../console/src/providers/schema-completion.ts';

const SCHEMA = join(import.meta.dirname, '../../../docs/provider.schema.json');
const complete = createSchemaCompletion(JSON.parse(readFileSync(SCHEMA, 'utf8')));

/** Completes at the mark `|`. Returns the labels and what they replace. */
function completeAt(marked: string) {
  const pos = marked.indexOf('|');
  const doc = marked.replace('|', '');
  const result = complete(new CompletionContext(EditorState.create({ doc }), pos, true));
  const labels = result?.options.map(({ label }) => label) ?? [];
  return { labels, typed: result ? doc.slice(result.from, pos) : null, options: result?.options };
}

test('completes the members that an object lacks', () => {
  const { labels, typed, options } = completeAt('name: x-acme\nba|\nauthSchemes: [NONE]\n');
  expect(typed).toBe('ba');
  expect(labels).toContain('baseUrl');
  expect(labels).not.toContain('name');
  expect(labels).not.toContain('authSchemes');
  expect(options?.find(({ label }) => label === 'baseUrl')).toMatchObject({ apply: 'baseUrl: ' });
});

test('completes members of nested objects, of records with any name, and of items of lists', () => {
  const text = 'api:\n  objects:\n    notes:\n      list:\n        path: /notes\n        |\n';
  expect(completeAt(text).labels).toEqual(expect.arrayContaining(['records', 'paging']));
  expect(completeAt(text).labels).not.toContain('path');
  expect(completeAt('modules:\n  - name: a\n    |\n').labels).toContain('baseUrl');
  expect(completeAt('modules:\n  - name: a\n  - na|\n').labels).toContain('name');
});

test('completes values of enums, with the alternatives of a member', () => {
  expect(completeAt('apiKey:\n  in: |\n').labels).toEqual(expect.arrayContaining(['header']));
  const paging = 'api:\n  objects:\n    notes:\n      list:\n        paging:\n          kind: o|\n';
  expect(completeAt(paging).labels).toEqual(expect.arrayContaining(['offset', 'none']));
});

test('completes quoted members in indented JSON', () => {
  const { labels, options } = completeAt(
    '{\n  "name": "x-acme",\n  "apiKey": {\n    "i|\n  }\n}\n',
  );
  expect(labels).toContain('"in"');
  expect(options?.find(({ label }) => label === '"in"')?.apply).toBe('"in": ');
});

test('offers nothing in texts and for unknown members', () => {
  expect(completeAt('displayName: Acme and |\n').labels).toEqual([]);
  expect(completeAt('unknown:\n  a|\n').labels).toEqual([]);
});
