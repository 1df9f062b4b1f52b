/**
 * Names of fields as callers may give them, turned into the provider's. If a write object inherits
 * the mapping of its read object, mapped names are translated back, the provider's own names of fields
 * that the object reads stay, and other names are left out, unless any field is allowed.
 */
import type { Issue } from '../../../errors.ts';
import { mappedNames } from '../../installation/choice/mapped-names.ts';
import {
  inWords,
  providerWords,
  type ValueWords,
} from '../../installation/choice/value-mapping.ts';
import type { ConfigContent, ReadConfig } from '../../installation/installation-config.ts';
import type { IntegrationContent, WriteObject } from '../../integration/integration-content.ts';
import { issueAt } from '../../issues.ts';
import type { GivenRecord } from './write-input.ts';

export interface FieldNames {
  /** The provider's name by the mapped one. */
  mapped: ReadonlyMap<string, string>;
  /** The provider's names that stay as they are; null: any. */
  own: ReadonlySet<string> | null;
  /** What the provider has for values, by the name that callers give them under. */
  words: ReadonlyMap<string, ValueWords>;
}

/** Null if names are the provider's and stay. */
export function inheritedNames(
  content: IntegrationContent,
  config: ConfigContent,
  { objectName, inheritMapping, valueDefaults }: WriteObject,
): FieldNames | null {
  const read = content.read?.objects.find((object) => object.objectName === objectName);
  if (!inheritMapping || !read) return null;
  const choice = config.read.find((object) => object.objectName === objectName);
  const mapped = new Map<string, string>(choice ? mappedNames(read, choice) : []);
  for (const { fieldName, mapToName } of [...read.requiredFields, ...read.optionalFields]) {
    if (fieldName !== null && mapToName !== null) mapped.set(mapToName, fieldName);
  }
  const named = [...read.requiredFields, ...read.optionalFields];
  const own = new Set([
    ...(choice?.selectedFields ?? []),
    ...named.flatMap(({ fieldName }) => fieldName ?? []),
    ...mapped.values(),
  ]);
  const takesAny =
    valueDefaults?.allowAnyFields ||
    (read.optionalFieldsAuto === 'all' && choice?.selectedFieldsAuto === 'all');
  const words = choice ? wordsByName(choice, mapped) : new Map();
  return { mapped, own: takesAny ? null : own, words };
}

/** As messages have them: in the builder's words under the builder's names, and else under the field's own. */
function wordsByName({ valueMappings = [] }: ReadConfig, mapped: ReadonlyMap<string, string>) {
  const known = valueMappings.flatMap((mapping) => {
    const names = [...mapped].flatMap(([mapToName, fieldName]) =>
      [mapToName, fieldName].includes(mapping.fieldName) ? mapToName : [],
    );
    const given = names.length > 0 ? names : [mapping.fieldName];
    return given.map((name) => [name, providerWords(mapping)] as const);
  });
  return new Map(known);
}

export interface NamedRecord {
  /** By the provider's names. */
  record: Record<string, unknown>;
  /** Names that were left out. */
  leftOut: string[];
  issues: Issue[];
}

export function nameFields(
  { record, path }: Pick<GivenRecord, 'record' | 'path'>,
  names: FieldNames | null,
): NamedRecord {
  if (!names) return { record, leftOut: [], issues: [] };
  const named = new Map<string, unknown>();
  const leftOut: string[] = [];
  const issues: Issue[] = [];
  for (const [name, value] of Object.entries(record)) {
    const fieldName = providerName(name, names);
    if (fieldName === null) leftOut.push(name);
    else if (named.has(fieldName)) {
      issues.push(issueAt([...path, name], `names the field ${fieldName} a second time.`));
    } else named.set(fieldName, inWords(value, names.words.get(name)));
  }
  if (leftOut.length > 0 && ![...named.keys()].some((name) => name !== 'id')) {
    issues.push(issueAt(path, `has no field that is written: ${leftOut.join(', ')} are left out.`));
  }
  return { record: Object.fromEntries(named), leftOut, issues };
}

function providerName(name: string, { mapped, own }: FieldNames): string | null {
  const fieldName = mapped.get(name);
  if (fieldName !== undefined) return fieldName;
  return name === 'id' || own === null || own.has(name) ? name : null;
}
