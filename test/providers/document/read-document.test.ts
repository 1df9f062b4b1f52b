/** Tests how provider documents are checked: each problem has a line and a column, and no document can do harm. */

import { expect, test } from 'vitest';
import { DomainError } from '../../../src/kernel/errors.ts';
import { formatPath, printText } from '../../../src/kernel/text.ts';
import { PROVIDER_DOCUMENT_LENGTH_MAX } from '../../../src/providers/document/provider-document.ts';
import { parseValue, readDocument } from '../../../src/providers/document/read-document.ts';

const NOTES = `name: x-notes
displayName: Notes
baseUrl: https://api.notes.example
authSchemes: [API_KEY]
apiKey: { in: header, name: Authorization, valuePrefix: "Bearer " }
api:
  objects:
    notes:
      displayName: Notes
      list:
        path: /notes
        records: /notes
        paging: { kind: none }
`;

/** Returns the problems of a document, in the form `path line:column detail`. */
function listProblems(text: string): string[] {
  try {
    readDocument(text);
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return (error.issues ?? []).map(
      ({ path, line, column, detail }) =>
        `${formatPath(path)} ${line}:${column} ${printText(detail)}`,
    );
  }
}

test('reads the smallest document, with cautious answers about the vendor', () => {
  const { api } = readDocument(NOTES);
  expect(api?.behavior).toEqual({
    shortPage: 'notDocumented',
    timeFilter: {
      precision: 'notDocumented',
      zone: 'notDocumented',
      bounds: 'notDocumented',
      column: 'notDocumented',
    },
    visibility: 'notDocumented',
    expiredCursor: 'notDocumented',
    depthLimit: 'notDocumented',
    fieldsMax: 'notDocumented',
    urlBytesMax: 'notDocumented',
    nestedLists: 'notDocumented',
    rateLimits: 'notDocumented',
  });
});

test('reads a document without an API, which connects and forwards requests', () => {
  const { api } = readDocument(NOTES.slice(0, NOTES.indexOf('api:')));
  expect(api).toBeUndefined();
});

test('reports every problem with its line and column', () => {
  const text = NOTES.replace('x-notes', 'notes')
    .replace('path: /notes', 'path: notes')
    .replace('kind: none', 'kind: magic')
    .replace('records: /notes', 'items: /notes');
  expect(listProblems(text)).toEqual([
    'document.name 1:1 must be `x-` and lower-case words with dashes, like x-acme.',
    'document.api.objects.notes.list.path 11:9 must be empty or start with a slash, without spaces.',
    'document.api.objects.notes.list.records 10:7 is required.',
    expect.stringMatching(
      /^document\.api\.objects\.notes\.list\.paging\.kind 13:19 must be one of cursor, /,
    ),
    'document.api.objects.notes.list.items 12:9 is not a known member.',
  ]);
});

test.each([
  ['a member of the document', ['authSchemes', 'displyName: Notes\nauthSchemes'], 'displayName'],
  [
    'a member of the form that a value names',
    ['kind: none', 'kind: page, firstPgae: 2'],
    'firstPage',
  ],
  ['a member inside a record', ['path: /notes', 'pathh: /notes'], 'path'],
] as const)('suggests the nearest name for %s', (_place, [from, to], name) => {
  const problems = listProblems(NOTES.replace(from, to));
  expect(problems).toContainEqual(
    expect.stringMatching(new RegExp(` is not a known member\\. Did you mean ${name}\\?$`)),
  );
});

test.each([
  ['a: [', /^document 1:\d+ is not YAML/],
  ['a: 1\na: 2', /^document 2:1 has a key twice in one map/],
  ['--- 1\n--- 2', /^document 1:1 must be one YAML document/],
  [`${'['.repeat(50)}1${']'.repeat(50)}`, /^document 1:\d+ is nested deeper than 32 levels/],
  [`x: ${'a'.repeat(PROVIDER_DOCUMENT_LENGTH_MAX)}`, /must have at most 262144 characters/],
  ['[]', /^document 1:1 must be an object/],
])('refuses the text %.20s', (text, problem) => {
  expect(listProblems(text)).toEqual([expect.stringMatching(problem)]);
});

/** Replaces a part of the small document, and expects a problem that matches. */
const HOSTILE: [string, [from: string, to: string], RegExp][] = [
  ['a metadata address', ['https://api.notes.example', 'http://169.254.169.254/latest'], /https:/],
  ['a file', ['https://api.notes.example', 'file:///etc/passwd'], /https:/],
  [
    'a script as the page about its credentials',
    ['authSchemes', 'credentialsDocsUrl: "javascript:alert(1)"\nauthSchemes'],
    /credentialsDocsUrl/,
  ],
  ['credentials in a URL', ['https://api', 'https://user:pass@api'], /credentials/],
  ['a host of the customer', ['https://api.notes.example', '"{{workspace}}"'], /hosts of/],
  ['the end of a host of the customer', ['api.notes.example', 'api.{{workspace}}'], /hosts of/],
  ['any host', ['authSchemes', 'linkHosts: ["*"]\nauthSchemes'], /host name/],
  ['an unknown variable', ['api.notes.example', '{{tenant}}.notes.example'], /`tenant`/],
  [
    'a value that ends its header',
    ['  objects:', '  headers: { a: "b\\r\\nc: d" }\n  objects:'],
    /one line/,
  ],
  [
    'a header with a line break',
    ['  objects:', '  headers: { "a\\nb": c }\n  objects:'],
    /record|name of a header/,
  ],
  [
    'the length of the body',
    ['  objects:', '  headers: { Content-Length: "0" }\n  objects:'],
    /only the gateway|record/,
  ],
  [
    'another host by header',
    ['  objects:', '  headers: { HOST: internal }\n  objects:'],
    /only the gateway|record/,
  ],
  [
    'a key in a reserved header',
    ['name: Authorization', 'name: Transfer-Encoding'],
    /only the gateway/,
  ],
  [
    'an unknown variable in a header',
    ['  objects:', '  headers: { a: "{{b}}" }\n  objects:'],
    /not in `inputs`/,
  ],
  ['an unknown variable in a path', ['path: /notes', 'path: "/{{b}}/notes"'], /not in `inputs`/],
  ['a variable that lists do not know', ['path: /notes', 'path: "/{user}/notes"'], /`{user}`/],
  ['many variables in a segment', ['path: /notes', 'path: "/{a}-{b}"'], /one variable/],
  ['many inputs in a segment', ['path: /notes', 'path: "/{{a}}-{{b}}"'], /one variable/],
  ['a pointer with a wrong escape', ['records: /notes', 'records: /a~2b'], /JSON Pointer/],
  [
    'a prototype key',
    ['authSchemes', '__proto__: { polluted: true }\nauthSchemes'],
    /reserved name/,
  ],
  ['a regular expression', ['kind: none', 'kind: none, pattern: (a+)+$'], /known member/],
  [
    'a bound beyond all dates',
    [
      'paging: { kind: none }',
      'paging: { kind: none }\n        since: { in: query, name: s, format: iso, marginMs: 9000000000000000 }',
    ],
    /at most/,
  ],
  [
    'a body location that is no pointer',
    ['kind: none', 'kind: offset, parameter: { in: body, name: at }'],
    /JSON Pointer/,
  ],
  [
    'a header location with a line break',
    ['kind: none', 'kind: offset, parameter: { in: header, name: "a b" }'],
    /name of a header/,
  ],
  [
    'a response of 100 MB',
    ['authSchemes', 'limits: { responseBytesMax: 104857600 }\nauthSchemes'],
    /at most/,
  ],
  ['a key without its location', ['apiKey', 'healthCheck: /me\n#'], /`API_KEY` needs `apiKey`/],
  [
    'OAuth without its URLs',
    ['[API_KEY]', '[API_KEY, OAUTH2_AUTHORIZATION_CODE]'],
    /needs `oauth2`/,
  ],
  [
    'parents in a circle',
    ['      list:', '      parent: { object: notes, variable: note }\n      list:'],
    /levels of parents/,
  ],
  [
    'a parent that is no object',
    ['      list:', '      parent: { object: toString, variable: note }\n      list:'],
    /no object/,
  ],
];

test.each(HOSTILE)('refuses %s', (_, [from, to], problem) => {
  expect(NOTES).toContain(from);
  const problems = listProblems(NOTES.replace(from, to));
  expect(problems.join('\n')).toMatch(problem);
  for (const line of problems) expect(line).toMatch(/^document.* \d+:\d+ /);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('counts the objects of all parts', () => {
  const objects = Array.from(
    { length: 201 },
    (_, n) =>
      `    n${n}: { displayName: N, list: { path: /n, records: "", paging: { kind: none } } }\n`,
  );
  const text = `${NOTES.slice(0, NOTES.indexOf('    notes:'))}${objects.join('')}`;
  expect(listProblems(text)).toEqual([
    expect.stringMatching(/^document\.api\.objects 7:3 must be at most 200 objects/),
  ]);
});

test('measures a document with its aliases resolved', () => {
  const text = NOTES.replace(
    'api:',
    `api:\n  notes: [&a "${'long '.repeat(1_000)}", ${Array.from({ length: 60 }, () => '*a').join(', ')}]`,
  );
  expect(listProblems(text)).toEqual([
    expect.stringMatching(/^document 1:1 must have at most 262144 characters/),
  ]);
});

test('refuses a stored value of any depth without overflowing the stack', () => {
  let value: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) value = [value];
  expect(parseValue(value)).toEqual({
    problems: [{ path: [], detail: 'must have at most 64 levels.' }],
  });
});
