/** The console reads every member that it sends back. Saving would lose a member that it did not read. */
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

const root = join(import.meta.dirname, '..', '..', '..');
const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'));

function fragmentIn(path: string, name: string): FragmentDefinitionNode {
  const source = readFileSync(join(root, 'console', 'src', path), 'utf8');
  const texts = [...source.matchAll(/graphql`([^`]*)`/g)].map(([, text = '']) => text);
  const fragment = texts
    .flatMap((text) => parse(text).definitions)
    .find(
      (definition) =>
        definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name,
    );
  if (fragment?.kind !== Kind.FRAGMENT_DEFINITION) throw new Error(`${path} has no ${name}.`);
  return fragment;
}

/** Paths of the members of an input that a selection omits. */
function listMissing(
  typeName: string,
  selection: SelectionSetNode | undefined,
  path = '',
): string[] {
  const type = schema.getType(typeName);
  if (!isInputObjectType(type)) return [];
  const fields = (selection?.selections ?? []).filter((field) => field.kind === Kind.FIELD);
  return Object.values(type.getFields()).flatMap((member) => {
    const memberPath = `${path}${member.name}`;
    const field = fields.find(({ name }) => name.value === member.name);
    if (!field) return [memberPath];
    return listMissing(getNamedType(member.type).name, field.selectionSet, `${memberPath}.`);
  });
}

function findMember({ selectionSet }: FragmentDefinitionNode, name: string) {
  const field = selectionSet.selections.find(
    (field) => field.kind === Kind.FIELD && field.name.value === name,
  );
  return field?.kind === Kind.FIELD ? field.selectionSet : undefined;
}

test('starts a new revision with every member of the latest one', () => {
  const fragment = fragmentIn('integrations/content.ts', 'content_revision');
  expect(listMissing('IntegrationContentInput', findMember(fragment, 'content'))).toEqual([]);
});

test('keeps every member of the config when fields are edited', () => {
  const fragment = fragmentIn('installations/edit-fields.tsx', 'editFields_installation');
  // `provider` only confirms the provider of the config, so a config has no such member to read.
  expect(listMissing('InstallationConfigInput', findMember(fragment, 'config'))).toEqual([
    'provider',
  ]);
});
