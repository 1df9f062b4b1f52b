/**
 * Maps a record of the input to the record that is sent. If a write object inherits the mapping of its read object,
 * mapped names are replaced by the provider's. The provider's names of fields that the object reads are kept. Other
 * names are omitted, unless the object accepts any field. The config's settings of fields apply after that.
 */
import type { Issue } from '../../../errors.ts';
import { mapNamesToFields } from '../../installation/choice/mapped-names.ts';
import {
  createProviderReplacements,
  replaceValues,
  type ValueReplacements,
} from '../../installation/choice/value-mapping.ts';
import type { WriteFieldSetting } from '../../installation/choice/write-field-setting.ts';
import type { ConfigContent, ReadConfig } from '../../installation/installation-config.ts';
import type { IntegrationContent, WriteObject } from '../../integration/integration-content.ts';
import { createInputIssue } from '../../issues.ts';
import type { InputRecord, WriteInput } from './write-input.ts';

export interface MappedRecord {
  /** The record with the provider's field names and with defaults, without the fields that are not written. */
  record: Record<string, unknown>;
  associations: InputRecord['associations'];
  /** Fields that are written only if the provider's record has no value for them. */
  ifEmpty: string[];
  /** Names of fields that got their defaults. */
  defaults: string[];
  /** Names of fields of the input that the write omits. */
  omitted: string[];
  issues: Issue[];
}

interface MappingRules {
  type: WriteInput['type'];
  /** Null if callers use the provider's names. */
  names: FieldNames | null;
  settings: readonly WriteFieldSetting[];
}

export function mapRecord(input: InputRecord, rules: MappingRules): MappedRecord {
  const { record, omitted, issues } = renameFields(input, rules.names);
  const { associations } = input;
  const mappedRecord = {
    record: { ...record },
    associations,
    ifEmpty: [],
    defaults: [],
    omitted,
    issues,
  };
  if (rules.type === 'DELETE') return mappedRecord;
  for (const setting of rules.settings)
    applySetting(mappedRecord, setting, { ...rules, renamed: record });
  return mappedRecord;
}

export function renameFields(
  { record, path }: Pick<InputRecord, 'record' | 'path'>,
  names: FieldNames | null,
): Pick<MappedRecord, 'record' | 'omitted' | 'issues'> {
  if (!names) return { record, omitted: [], issues: [] };
  const renamed = new Map<string, unknown>();
  const omitted: string[] = [];
  const issues: Issue[] = [];
  for (const [name, value] of Object.entries(record)) {
    const fieldName = findProviderName(name, names);
    if (fieldName === null) omitted.push(name);
    else if (renamed.has(fieldName)) {
      issues.push(createInputIssue([...path, name], `names the field ${fieldName} a second time.`));
    } else renamed.set(fieldName, replaceValues(value, names.replacements.get(name)));
  }
  if (omitted.length > 0 && ![...renamed.keys()].some((name) => name !== 'id')) {
    issues.push(
      createInputIssue(path, `has no field that is written: ${omitted.join(', ')} are left out.`),
    );
  }
  return { record: Object.fromEntries(renamed), omitted, issues };
}

function findProviderName(name: string, { mapped, unchanged }: FieldNames): string | null {
  const fieldName = mapped.get(name);
  if (fieldName !== undefined) return fieldName;
  return name === 'id' || unchanged === null || unchanged.has(name) ? name : null;
}

function applySetting(
  mapped: MappedRecord,
  setting: WriteFieldSetting,
  { renamed, type, names }: Omit<MappingRules, 'settings'> & { renamed: InputRecord['record'] },
): void {
  const name = names?.mapped.get(setting.fieldName) ?? setting.fieldName;
  const occasion = type === 'CREATE' ? setting.writeOnCreate : setting.writeOnUpdate;
  if (occasion === 'NEVER') {
    delete mapped.record[name];
    if (Object.hasOwn(renamed, name)) mapped.omitted.push(name);
    return;
  }
  const hasDefault = type === 'CREATE' || setting.defaultOnUpdate !== false;
  if (!hasValue(renamed[name]) && hasDefault && setting.default !== null) {
    mapped.record[name] = replaceValues(
      setting.default,
      names?.replacements.get(setting.fieldName),
    );
    mapped.defaults.push(name);
  }
  if (occasion === 'IF_EMPTY' && Object.hasOwn(mapped.record, name)) mapped.ifEmpty.push(name);
}

export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

export interface FieldNames {
  /** The provider's names by mapped name. */
  mapped: ReadonlyMap<string, string>;
  /** The provider's names that are kept unchanged. Null means any name. */
  unchanged: ReadonlySet<string> | null;
  /** The provider's words for values, by the field name that callers use. */
  replacements: ReadonlyMap<string, ValueReplacements>;
}

/** Null if callers use the provider's names. */
export function createFieldNames(
  content: IntegrationContent,
  config: ConfigContent,
  { objectName, inheritMapping, valueDefaults }: WriteObject,
): FieldNames | null {
  const read = content.read?.objects.find((object) => object.objectName === objectName);
  if (!inheritMapping || !read) return null;
  const choice = config.read.find((object) => object.objectName === objectName);
  const fieldsByMappedName = new Map<string, string>(choice ? mapNamesToFields(read, choice) : []);
  for (const { fieldName, mapToName } of [...read.requiredFields, ...read.optionalFields]) {
    if (fieldName !== null && mapToName !== null) fieldsByMappedName.set(mapToName, fieldName);
  }
  const contentFields = [...read.requiredFields, ...read.optionalFields];
  const unchanged = new Set([
    ...(choice?.selectedFields ?? []),
    ...contentFields.flatMap(({ fieldName }) => fieldName ?? []),
    ...fieldsByMappedName.values(),
  ]);
  const acceptsAny =
    valueDefaults?.allowAnyFields ||
    (read.optionalFieldsAuto === 'all' && choice?.selectedFieldsAuto === 'all');
  const replacements = choice ? indexReplacements(choice, fieldsByMappedName) : new Map();
  return { mapped: fieldsByMappedName, unchanged: acceptsAny ? null : unchanged, replacements };
}

/**
 * Indexes the provider's words for values by the field names that callers use: the mapped names of a mapped field, and
 * the provider's name of any other field.
 */
function indexReplacements(
  { valueMappings = [] }: ReadConfig,
  mapped: ReadonlyMap<string, string>,
) {
  const replacements = valueMappings.flatMap((mapping) => {
    const names = [...mapped].flatMap(([mapToName, fieldName]) =>
      [mapToName, fieldName].includes(mapping.fieldName) ? mapToName : [],
    );
    const fieldNames = names.length > 0 ? names : [mapping.fieldName];
    return fieldNames.map((name) => [name, createProviderReplacements(mapping)] as const);
  });
  return new Map(replacements);
}
