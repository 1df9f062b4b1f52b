/**
 * Translates field names of callers into the provider's. If a write object inherits the mapping of its read object,
 * mapped names are translated back. The provider's names of fields that the object reads are kept. Other names are
 * omitted, unless any field is allowed.
 */
import type { Issue } from '../../../errors.ts';
import { mappedNames } from '../../installation/choice/mapped-names.ts';
import {
  providerReplacements,
  replaceValues,
  type ValueReplacements,
} from '../../installation/choice/value-mapping.ts';
import type { ConfigContent, ReadConfig } from '../../installation/installation-config.ts';
import type { IntegrationContent, WriteObject } from '../../integration/integration-content.ts';
import { issueAt } from '../../issues.ts';
import type { InputRecord } from './write-input.ts';

export interface FieldNames {
  /** The provider's names by mapped name. */
  mapped: ReadonlyMap<string, string>;
  /** The provider's names that are kept unchanged. Null means any name. */
  own: ReadonlySet<string> | null;
  /** The provider's words for values, by the field name that callers use. */
  words: ReadonlyMap<string, ValueReplacements>;
}

/** Null if callers use the provider's names. */
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

/**
 * Returns the words of fields by the names in messages: a mapped field by its mapped names, any other field by its own
 * name.
 */
function wordsByName({ valueMappings = [] }: ReadConfig, mapped: ReadonlyMap<string, string>) {
  const wordsByField = valueMappings.flatMap((mapping) => {
    const names = [...mapped].flatMap(([mapToName, fieldName]) =>
      [mapToName, fieldName].includes(mapping.fieldName) ? mapToName : [],
    );
    const fieldNames = names.length > 0 ? names : [mapping.fieldName];
    return fieldNames.map((name) => [name, providerReplacements(mapping)] as const);
  });
  return new Map(wordsByField);
}

export interface NamedRecord {
  /** The record with the provider's field names. */
  record: Record<string, unknown>;
  /** Names of the input that the write omits. */
  leftOut: string[];
  issues: Issue[];
}

export function nameFields(
  { record, path }: Pick<InputRecord, 'record' | 'path'>,
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
    } else named.set(fieldName, replaceValues(value, names.words.get(name)));
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
