/** Positions in a JSON text: the path of a node, and the position of the value at a path. */
import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';
import type { Step } from './members.ts';

export interface TextRange {
  from: number;
  to: number;
}

const PARTS = new Set(['Property', 'Object', 'Array', 'String', 'Number', 'True', 'False', 'Null']);

/** Lists the values of an array, or the properties of an object. */
export function listParts(node: SyntaxNode): SyntaxNode[] {
  const parts: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (PARTS.has(child.name)) parts.push(child);
  }
  return parts;
}

export function getPropertyName(state: EditorState, property: SyntaxNode): string {
  const name = property.getChild('PropertyName');
  return name ? state.sliceDoc(name.from + 1, name.to - 1) : '';
}

export function getPropertyValue(property: SyntaxNode): SyntaxNode | undefined {
  return listParts(property)[0];
}

/** Returns the root value of the text. Null for an empty text. */
export function findRoot(state: EditorState): SyntaxNode | null {
  return syntaxTree(state).topNode.firstChild;
}

/** Returns the path of the property or array item that the node is or belongs to. */
export function getNodePath(state: EditorState, node: SyntaxNode): Step[] {
  const path: Step[] = [];
  for (let ancestor: SyntaxNode | null = node; ancestor?.parent; ancestor = ancestor.parent) {
    if (ancestor.name === 'Property') path.unshift(getPropertyName(state, ancestor));
    else if (ancestor.parent.name === 'Array') {
      const index = listParts(ancestor.parent).findIndex(({ from }) => from === ancestor?.from);
      if (index >= 0) path.unshift(index);
    }
  }
  return path;
}

/** Returns the position of the value at a path, or of the innermost existing value that contains the path. */
export function findRange(state: EditorState, path: readonly Step[]): TextRange {
  let range: TextRange = { from: 0, to: Math.min(1, state.doc.length) };
  let node = findRoot(state);
  for (const step of path) {
    const parts: SyntaxNode[] = node ? listParts(node) : [];
    const part: SyntaxNode | undefined =
      typeof step === 'number'
        ? parts[step]
        : parts.find(
            (property) => property.name === 'Property' && getPropertyName(state, property) === step,
          );
    if (!part) return range;
    const name = part.getChild('PropertyName');
    node = part.name === 'Property' ? (getPropertyValue(part) ?? null) : part;
    // For an object or array, only the name or the first character is marked, because the complete value may
    // be long.
    const isWide = node !== null && (node.name === 'Object' || node.name === 'Array');
    if (node && !isWide) range = { from: node.from, to: node.to };
    else if (name) range = { from: name.from, to: name.to };
    else range = { from: part.from, to: part.from + 1 };
  }
  return range;
}
