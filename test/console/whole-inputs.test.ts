/** What the console reads to send it back is all of it: a member that it did not read would be lost by saving. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type FragmentDefinitionNode,
  getNamedType,
  isInputObjectType,
  Kind,
  parse,
  type SelectionSetNode,
} from 'graphql';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'));

function fragmentIn(path: string, name: string): FragmentDefinitionNode {
  const source = readFileSync(join(root, 'console', 'src', path), 'utf8');
  const texts = [...source.matchAll(/graphql`([^`]*)`/g)].map(([, text = '']) => text);
  const found = texts
    .flatMap((text) => parse(text).definitions)
    .find((one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === name);
  if (found?.kind !== Kind.FRAGMENT_DEFINITION) throw new Error(`${path} has no ${name}.`);
  return found;
}

/** The members of an input that a selection leaves out, by their paths. */
function missingOf(typeName: string, selection: SelectionSetNode | undefined, path = ''): string[] {
  const type = schema.getType(typeName);
  if (!isInputObjectType(type)) return [];
  const fields = (selection?.selections ?? []).filter((one) => one.kind === Kind.FIELD);
  return Object.values(type.getFields()).flatMap((member) => {
    const place = `${path}${member.name}`;
    const field = fields.find(({ name }) => name.value === member.name);
    if (!field) return [place];
    return missingOf(getNamedType(member.type).name, field.selectionSet, `${place}.`);
  });
}

function memberOf({ selectionSet }: FragmentDefinitionNode, name: string) {
  const field = selectionSet.selections.find(
    (one) => one.kind === Kind.FIELD && one.name.value === name,
  );
  return field?.kind === Kind.FIELD ? field.selectionSet : undefined;
}

test('a new revision begins with all that the latest one has', () => {
  const fragment = fragmentIn('integrations/content.ts', 'content_revision');
  expect(missingOf('IntegrationContentInput', memberOf(fragment, 'content'))).toEqual([]);
});

test('fields are chosen without a loss of the rest of the config', () => {
  const fragment = fragmentIn('installations/edit-fields.tsx', 'editFields_installation');
  // `provider` asks to be sure: a config that is read has none.
  expect(missingOf('InstallationConfigInput', memberOf(fragment, 'config'))).toEqual(['provider']);
});
