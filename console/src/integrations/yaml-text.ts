/** The content of an integration in the form of a manifest: YAML with enums in camel case. */
import { lazy } from 'react';
import { parse, stringify } from 'yaml';
import { memberAt, type Step } from './editor/members.ts';
import type { TextFormat } from './revision-editor.tsx';

export const YAML_TEXT: TextFormat = {
  Editor: lazy(() => import('./editor/yaml-editor.tsx')),
  parse: (text) => withEnums(parse(text), [], enumValueOf),
};

export function yamlOf(content: object): string {
  return stringify(withEnums(content, [], camelCase));
}

type EnumConversion = (text: string, values: readonly string[]) => string;

/** Converts the values of enums, which the schema has in upper case. */
function withEnums(value: unknown, path: readonly Step[], convert: EnumConversion): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => withEnums(item, [...path, index], convert));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        withEnums(member, [...path, name], convert),
      ]),
    );
  }
  const values = memberAt(path)?.values;
  return values && typeof value === 'string' ? convert(value, values) : value;
}

/** `ON_REQUEST` as `onRequest` */
function camelCase(value: string): string {
  return value.toLowerCase().replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/** The enum's value of that name. Another text is returned as it is, and refused by the gateway. */
function enumValueOf(text: string, values: readonly string[]): string {
  return values.find((value) => camelCase(value) === text) ?? text;
}
