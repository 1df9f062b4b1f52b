/** Checks a content against the schema and reports every invalid path. */
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';
import { nameOf, partsOf, rootOf, type TextRange, valueIn } from './json-tree.ts';
import { kindOf, type Member, memberAt, membersAt, pathText, type Step } from './members.ts';

export interface Finding {
  path: string;
  detail: string;
}

export interface Placed extends Finding, TextRange {}

/** Findings of a text that is valid JSON. */
export function findingsIn(state: EditorState): Placed[] {
  const root = rootOf(state);
  return root ? ofValue(state, root, []) : [];
}

function ofValue(state: EditorState, node: SyntaxNode, path: Step[]): Placed[] {
  const member = memberAt(path);
  if (!member || node.name === 'Null') return [];
  const location = { from: node.from, to: Math.min(node.to, node.from + 80), path: pathText(path) };
  if (!isOfKind(state, node, member)) {
    return [{ ...location, detail: `must be ${kindOf(member)}.` }];
  }
  if (node.name === 'Array') {
    return partsOf(node).flatMap((item, index) => ofValue(state, item, [...path, index]));
  }
  return node.name === 'Object' ? ofObject(state, node, path) : [];
}

function ofObject(state: EditorState, node: SyntaxNode, path: Step[]): Placed[] {
  const members = membersAt(path);
  // JSON of any form.
  if (!members) return [];
  const properties = partsOf(node).filter(({ name }) => name === 'Property');
  const presentNames = new Set(properties.map((property) => nameOf(state, property)));
  const missing = Object.entries(members)
    .filter(([name, { isRequired }]) => isRequired && !presentNames.has(name))
    .map(([name]) => ({
      from: node.from,
      to: node.from + 1,
      path: pathText([...path, name]),
      detail: 'is required.',
    }));
  const findings = properties.flatMap((property) => {
    const name = nameOf(state, property);
    const value = valueIn(property);
    const memberPath = [...path, name];
    if (name in members) return value ? ofValue(state, value, memberPath) : [];
    const key = property.getChild('PropertyName') ?? property;
    const detail = `is not a member here. Allowed: ${Object.keys(members).join(', ')}.`;
    return [{ from: key.from, to: key.to, path: pathText(memberPath), detail }];
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

function isOfKind(state: EditorState, node: SyntaxNode, member: Member): boolean {
  if (member.isList) return node.name === 'Array';
  if (member.values) {
    const text = state.sliceDoc(node.from + 1, node.to - 1);
    return node.name === 'String' && member.values.includes(text);
  }
  const expected = KINDS[member.valueType];
  if (expected) return expected.includes(node.name);
  // An input is an object. A type that is neither an input nor a scalar takes any JSON.
  return member.valueType.endsWith('Input') ? node.name === 'Object' : true;
}
