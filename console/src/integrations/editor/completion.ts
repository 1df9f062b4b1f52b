/** Completes names of members and values of enums, with their descriptions from the schema. */
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippetCompletion,
} from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { SyntaxNode } from '@lezer/common';
import { getNodePath, getPropertyName, listParts } from './json-tree.ts';
import { describeKind, findMember, findMembers, isObject, type Member } from './members.ts';

/** Matches the text that was typed so far, including quotes. */
const WORD = /"?[\w-]*$/;

export function completeContent(context: CompletionContext): CompletionResult | null {
  const { state, pos, explicit } = context;
  const typed = context.matchBefore(WORD);
  if (!typed || (typed.from === typed.to && !explicit)) return null;
  const node = syntaxTree(state).resolveInner(pos, -1);
  const property = closest(node, 'Property');
  const isValue = property !== null && /:\s*("?[\w-]*)$/.test(state.sliceDoc(property.from, pos));
  // A quote after the cursor is replaced together with the word.
  const to = state.sliceDoc(pos, pos + 1) === '"' ? pos + 1 : pos;
  const range = { from: typed.from, to, validFor: WORD };
  if (isValue) {
    const member = findMember(getNodePath(state, property));
    return member ? { ...range, options: listValueOptions(member) } : null;
  }
  const object = closest(node, 'Object');
  const members = object && findMembers(getNodePath(state, object));
  if (!object || !members) return null;
  const presentNames = new Set(
    listParts(object)
      .filter((part) => part !== property && (part.from > pos || part.to < pos))
      .map((part) => getPropertyName(state, part)),
  );
  const missingMembers = Object.entries(members).filter(([name]) => !presentNames.has(name));
  return {
    ...range,
    options: missingMembers.map(([name, member]) => createNameOption(name, member)),
  };
}

function closest(node: SyntaxNode, name: string): SyntaxNode | null {
  for (let ancestor: SyntaxNode | null = node; ancestor; ancestor = ancestor.parent) {
    if (ancestor.name === name) return ancestor;
    if (ancestor.name === 'Object' || ancestor.name === 'Array') return null;
  }
  return null;
}

function createNameOption(name: string, member: Member): Completion {
  // The cursor moves inside the inserted object or list.
  const cursor = '${}';
  const valueTemplate = member.isList ? `[${cursor}]` : isObject(member) ? `{${cursor}}` : cursor;
  return snippetCompletion(`"${name}": ${valueTemplate}`, {
    label: `"${name}"`,
    detail: describeKind(member),
    info: member.description,
    type: 'property',
    boost: member.isRequired ? 1 : 0,
  });
}

function listValueOptions({ valueType, values }: Member): Completion[] {
  if (values) return values.map((value) => ({ label: `"${value}"`, type: 'enum' }));
  return valueType === 'Boolean'
    ? ['true', 'false'].map((label) => ({ label, type: 'keyword' }))
    : [];
}
