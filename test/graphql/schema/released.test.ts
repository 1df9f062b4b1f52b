/**
 * Compares schema.graphql with the schema of the last release. docs/api-policy.md defines what may change.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, findBreakingChanges } from 'graphql';
import { expect, test } from 'vitest';
import { findBreaking } from '../../../scripts/changelog.ts';
import {
  formatReleasedSchema,
  getChangeName,
  listUnnamed,
  RELEASED_SCHEMA,
} from '../../../scripts/released-schema.ts';
import { ROOT } from '../../support/documents.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('finds every breaking change since the last release in the changelog', () => {
  const changes = findBreakingChanges(
    buildSchema(read(RELEASED_SCHEMA)),
    buildSchema(read('schema.graphql')),
  );
  const unnamed = listUnnamed(changes.map(getChangeName), findBreaking(read('CHANGELOG.md')));
  const lines = changes
    .filter((change) => unnamed.includes(getChangeName(change)))
    .map((change) => `\`${getChangeName(change)}\`: ${change.description}`);
  expect(
    lines,
    'schema.graphql breaks clients of the last release. Undo the change, or name each of these in backticks, with what clients do instead, in CHANGELOG.md under "Unreleased", "Breaking". `Type.*` names every member of a type.',
  ).toEqual([]);
});

test('reports every kind of breaking change', () => {
  const oldSchema = `
    directive @gone on FIELD
    directive @flag(old: Int) repeatable on FIELD | QUERY
    scalar Time
    interface Node { id: ID! }
    type Query implements Node { id: ID!, at: Time, size(unit: Int, per: Int): Float!, all: [Any], in(input: In): Kind, time: Time }
    type Cat { id: ID }
    type Dog { id: ID }
    union Any = Cat | Dog
    enum Kind { ONE TWO }
    input In { a: Int, field: Int }
    type Moved { id: ID }`;
  const newSchema = `
    directive @flag(new: Int!) on FIELD
    interface Node { id: ID! }
    type Query { id: ID!, size(unit: String, limit: Int!): String, all: [Any], in(input: In): Kind, dog: Dog }
    type Cat { id: ID }
    type Dog { id: ID }
    union Any = Cat
    enum Kind { ONE }
    input In { a: String, field: Int, type: Int! }
    interface Moved { id: ID }`;
  const changes = findBreakingChanges(buildSchema(oldSchema), buildSchema(newSchema));
  expect([...new Set(changes.map(getChangeName))].toSorted()).toEqual([
    ...['Any.Dog', 'Float', 'In.a', 'In.type', 'Kind.TWO', 'Moved', 'Query', 'Query.at'],
    ...['Query.size', 'Query.time', 'Time', 'flag', 'gone'],
  ]);
});

test('accepts a name in backticks, and `Type.*` for every member', () => {
  const names = ['Topic.name', 'Topic.state', 'Mutation.a', 'Mutation.b', 'Topic'];
  expect(listUnnamed(names, '- `Mutation.*` are nullable. `Topic.name` and Topic.state')).toEqual([
    'Topic.state',
    'Topic',
  ]);
});

test('reads only the section "Breaking" of "Unreleased"', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n### Breaking\n\n- one\n\n### Added\n\n- two\n\n## 1.0.0\n\n### Breaking\n\n- three\n';
  expect(findBreaking(changelog)).toBe('- one');
  expect(findBreaking('## Unreleased\n\n### Added\n\n- two\n\n## 1.0.0\n\n### Breaking\n')).toBe(
    '',
  );
});

test("stores the last release's schema without descriptions", () => {
  const released = read(RELEASED_SCHEMA);
  expect(formatReleasedSchema(released)).toBe(released);
});
