/**
 * Completes members and values from a JSON Schema. The path in the text follows from its indentation, so that completion
 * works in incomplete YAML and in indented JSON.
 */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { Text } from '@codemirror/state';

/** The part of JSON Schema that completion uses. */
export interface JsonSchema {
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  type?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  allOf?: readonly JsonSchema[];
  enum?: readonly unknown[];
  const?: unknown;
}

/** A line that begins a member: its indentation with dashes, its name, and the text after the colon. */
const MEMBER_LINE = /^(\s*(?:-\s+)*)"?([\w$-]+)"?\s*:(.*)$/;
const TYPED_NAME = /^(\s*(?:-\s+)*)("?[\w$-]*)$/;
const TYPED_VALUE = /^(\s*(?:-\s+)*)"?([\w$-]+)"?\s*:\s+("?[\w$-]*)$/;
const WORD = /^"?[\w$-]*$/;

export function createSchemaCompletion(root: JsonSchema) {
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const line = state.doc.lineAt(pos);
    const before = line.text.slice(0, pos - line.from);
    const [, valueIndent, member, value] = TYPED_VALUE.exec(before) ?? [];
    if (valueIndent !== undefined && member !== undefined && value !== undefined) {
      const path = [...findParents(state.doc, line.number, valueIndent.length), member];
      const options = listValues(findSchemas(root, path)).map(
        (label): Completion => ({ label, type: 'enum' }),
      );
      return { from: pos - value.length, options, validFor: WORD };
    }
    const [, indent, word] = TYPED_NAME.exec(before) ?? [];
    if (indent === undefined || word === undefined || (word === '' && !explicit)) return null;
    const parents = findParents(state.doc, line.number, indent.length);
    const present = listSiblings(state.doc, line.number, indent.length);
    const isJson = /^\s*\{/.test(state.doc.toString());
    const options = listMembers(findSchemas(root, parents))
      .filter(({ name }) => !present.has(name))
      .map((found) => createOption(found, isJson));
    return { from: pos - word.length, options, validFor: WORD };
  };
}

/** Returns the names of the members around a line, from the outside to the inside. */
function findParents(doc: Text, lineNumber: number, indent: number): string[] {
  const names: string[] = [];
  let innerIndent = indent;
  for (let number = lineNumber - 1; number >= 1 && innerIndent > 0; number -= 1) {
    const [, lineIndent, name] = MEMBER_LINE.exec(doc.line(number).text) ?? [];
    if (lineIndent === undefined || name === undefined || lineIndent.length >= innerIndent)
      continue;
    names.unshift(name);
    innerIndent = lineIndent.length;
  }
  return names;
}

/** Returns the names of the other members of the object. An item of a list begins at its dash, left of its members. */
function listSiblings(doc: Text, lineNumber: number, indent: number): Set<string> {
  const names = new Set<string>();
  const findStart = (number: number) => doc.line(number).text.search(/\S|$/);
  const isBlank = (number: number) => doc.line(number).text.trim() === '';
  const add = (number: number) => {
    const [, lineIndent = '', name] = MEMBER_LINE.exec(doc.line(number).text) ?? [];
    if (name !== undefined && lineIndent.length === indent) names.add(name);
  };
  let first = lineNumber;
  while (first > 1 && (isBlank(first) || findStart(first) >= indent)) {
    first -= 1;
    add(first);
  }
  for (let number = lineNumber + 1; number <= doc.lines; number += 1) {
    if (isBlank(number)) continue;
    if (findStart(number) < indent) break;
    add(number);
  }
  return names;
}

/** Returns the schemas that a value at the path may have. Lists have no step in the path. */
function findSchemas(root: JsonSchema, path: readonly string[]): JsonSchema[] {
  let schemas = expand(root, [root]);
  for (const name of path) {
    const next = schemas.flatMap(({ properties = {}, additionalProperties }) => {
      if (Object.hasOwn(properties, name)) return properties[name] ?? [];
      return typeof additionalProperties === 'object' ? additionalProperties : [];
    });
    schemas = expand(root, next);
  }
  return schemas;
}

/** Replaces references, alternatives and lists by the schemas of their values. */
function expand(root: JsonSchema, schemas: readonly JsonSchema[]): JsonSchema[] {
  return schemas.flatMap((schema) => {
    const { $ref, anyOf = [], oneOf = [], allOf = [], items } = schema;
    const referenced = $ref && root.$defs?.[$ref.replace('#/$defs/', '')];
    const inner = [...anyOf, ...oneOf, ...allOf, ...(items ? [items] : [])];
    return [schema, ...expand(root, referenced ? [...inner, referenced] : inner)];
  });
}

interface Member {
  name: string;
  schema: JsonSchema;
  isRequired: boolean;
}

function listMembers(schemas: readonly JsonSchema[]): Member[] {
  const members = new Map<string, Member>();
  for (const { properties = {}, required = [] } of schemas) {
    for (const [name, schema] of Object.entries(properties)) {
      const isRequired = required.includes(name);
      if (!members.has(name)) members.set(name, { name, schema, isRequired });
    }
  }
  return [...members.values()];
}

function createOption({ name, schema, isRequired }: Member, isJson: boolean): Completion {
  const label = isJson ? `"${name}"` : name;
  return {
    label,
    apply: `${label}: `,
    type: 'property',
    boost: isRequired ? 1 : 0,
    ...(isRequired && { detail: 'required' }),
    ...(schema.description && { info: schema.description }),
  };
}

function listValues(schemas: readonly JsonSchema[]): string[] {
  const values = schemas.flatMap((schema) => [
    ...(schema.enum ?? []),
    ...(schema.const === undefined ? [] : [schema.const]),
    ...(schema.type === 'boolean' ? [true, false] : []),
  ]);
  return [...new Set(values.map(String))];
}
