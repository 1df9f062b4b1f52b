/** The content of an integration in the form of a manifest: YAML with enums in camel case. */
import { lazy } from 'react';
import { parse, stringify } from 'yaml';
import { findMember, type Step } from './editor/members.ts';
import type { TextFormat } from './revision-editor.tsx';

export const YAML_TEXT: TextFormat = {
  Editor: lazy(() => import('./editor/yaml-editor.tsx')),
  parse: (text) => convertEnums(parse(text), [], toEnumValue),
};

export function formatYaml(content: object): string {
  return stringify(convertEnums(content, [], toCamelCase));
}

type EnumConversion = (text: string, values: readonly string[]) => string;

/** Converts enum values of the schema, which are in upper case, to the form of manifests. */
function convertEnums(value: unknown, path: readonly Step[], convert: EnumConversion): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => convertEnums(item, [...path, index], convert));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        convertEnums(member, [...path, name], convert),
      ]),
    );
  }
  const values = findMember(path)?.values;
  return values && typeof value === 'string' ? convert(value, values) : value;
}

/** Converts `ON_REQUEST` to `onRequest`. */
function toCamelCase(value: string): string {
  return value.toLowerCase().replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/**
 * Returns the schema's enum value for a manifest's value. An unknown value is returned unchanged, and the
 * gateway refuses it.
 */
function toEnumValue(text: string, values: readonly string[]): string {
  return values.find((value) => toCamelCase(value) === text) ?? text;
}
