/** Checks the content of a revision against the schema and reports every invalid path. */
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';
import {
  findRoot,
  getPropertyName,
  getPropertyValue,
  listParts,
  type TextRange,
} from './json-tree.ts';
import {
  describeKind,
  findMember,
  findMembers,
  formatPath,
  type Member,
  type Step,
} from './members.ts';

export interface Finding {
  path: string;
  detail: string;
}

export interface LocatedFinding extends Finding, TextRange {}

/** Returns the findings of a text that is valid JSON. */
export function checkContent(state: EditorState): LocatedFinding[] {
  const root = findRoot(state);
  return root ? checkValue(state, root, []) : [];
}

function checkValue(state: EditorState, node: SyntaxNode, path: Step[]): LocatedFinding[] {
  const member = findMember(path);
  if (!member || node.name === 'Null') return [];
  const location = {
    from: node.from,
    to: Math.min(node.to, node.from + 80),
    path: formatPath(path),
  };
  if (!hasKind(state, node, member)) {
    return [{ ...location, detail: `must be ${describeKind(member)}.` }];
  }
  if (node.name === 'Array') {
    return listParts(node).flatMap((item, index) => checkValue(state, item, [...path, index]));
  }
  return node.name === 'Object' ? checkObject(state, node, path) : [];
}

function checkObject(state: EditorState, node: SyntaxNode, path: Step[]): LocatedFinding[] {
  const members = findMembers(path);
  // The schema accepts any JSON here.
  if (!members) return [];
  const properties = listParts(node).filter(({ name }) => name === 'Property');
  const presentNames = new Set(properties.map((property) => getPropertyName(state, property)));
  const missing = Object.entries(members)
    .filter(([name, { isRequired }]) => isRequired && !presentNames.has(name))
    .map(([name]) => ({
      from: node.from,
      to: node.from + 1,
      path: formatPath([...path, name]),
      detail: 'is required.',
    }));
  const findings = properties.flatMap((property) => {
    const name = getPropertyName(state, property);
    const value = getPropertyValue(property);
    const memberPath = [...path, name];
    if (name in members) return value ? checkValue(state, value, memberPath) : [];
    const key = property.getChild('PropertyName') ?? property;
    const detail = `is not a member here. Allowed: ${Object.keys(members).join(', ')}.`;
    return [{ from: key.from, to: key.to, path: formatPath(memberPath), detail }];
  });
  return [...missing, ...findings];
}

const KINDS: Record<string, readonly string[]> = {
  String: ['String'],
  ID: ['String', 'Number'],
  Int: ['Number'],
  Float: ['Number'],
  Boolean: ['True', 'False'],
};

function hasKind(state: EditorState, node: SyntaxNode, member: Member): boolean {
  if (member.isList) return node.name === 'Array';
  if (member.values) {
    const text = state.sliceDoc(node.from + 1, node.to - 1);
    return node.name === 'String' && member.values.includes(text);
  }
  const expected = KINDS[member.valueType];
  if (expected) return expected.includes(node.name);
  // Input types are objects. All other types that are not scalars accept any JSON.
  return member.valueType.endsWith('Input') ? node.name === 'Object' : true;
}
