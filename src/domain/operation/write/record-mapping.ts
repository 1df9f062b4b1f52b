/**
 * Maps records of the input to the records that are sent. If a write object inherits the mapping of its read object, the
 * provider's names replace mapped names. Fields that the object does not read are omitted, unless it accepts any field.
 * The config's settings of fields apply after that.
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
  for (const setting of rules.settings) {
    applySetting(mappedRecord, setting, { ...rules, renamedRecord: record });
  }
  return mappedRecord;
}

export function renameFields(
  { record, path }: Pick<InputRecord, 'record' | 'path'>,
  names: FieldNames | null,
): Pick<MappedRecord, 'record' | 'omitted' | 'issues'> {
  if (!names) return { record, omitted: [], issues: [] };
  const valuesByField = new Map<string, unknown>();
  const omitted: string[] = [];
  const issues: Issue[] = [];
  for (const [name, value] of Object.entries(record)) {
    const fieldName = findFieldName(name, names);
    if (fieldName === null) {
      omitted.push(name);
    } else if (valuesByField.has(fieldName)) {
      issues.push(createInputIssue([...path, name], `names the field ${fieldName} a second time.`));
    } else {
      valuesByField.set(fieldName, replaceValues(value, names.replacements.get(name)));
    }
  }
  if (omitted.length > 0 && ![...valuesByField.keys()].some((name) => name !== 'id')) {
    const detail = `has no field that is written: ${omitted.join(', ')} are omitted.`;
    issues.push(createInputIssue(path, detail));
  }
  return { record: Object.fromEntries(valuesByField), omitted, issues };
}

function findFieldName(
  name: string,
  { fieldsByMappedName, unchangedFields }: FieldNames,
): string | null {
  const fieldName = fieldsByMappedName.get(name);
  if (fieldName !== undefined) return fieldName;
  return name === 'id' || unchangedFields === null || unchangedFields.has(name) ? name : null;
}

interface SettingContext extends Pick<MappingRules, 'type' | 'names'> {
  /** The record of the input with the provider's field names. */
  renamedRecord: InputRecord['record'];
}

function applySetting(
  mappedRecord: MappedRecord,
  setting: WriteFieldSetting,
  { renamedRecord, type, names }: SettingContext,
): void {
  const name = names?.fieldsByMappedName.get(setting.fieldName) ?? setting.fieldName;
  const occasion = type === 'CREATE' ? setting.writeOnCreate : setting.writeOnUpdate;
  if (occasion === 'NEVER') {
    delete mappedRecord.record[name];
    if (Object.hasOwn(renamedRecord, name)) mappedRecord.omitted.push(name);
    return;
  }
  const writesDefault = type === 'CREATE' || setting.defaultOnUpdate !== false;
  if (!hasValue(renamedRecord[name]) && writesDefault && setting.default !== null) {
    const replacements = names?.replacements.get(setting.fieldName);
    mappedRecord.record[name] = replaceValues(setting.default, replacements);
    mappedRecord.defaults.push(name);
  }
  if (occasion === 'IF_EMPTY' && Object.hasOwn(mappedRecord.record, name)) {
    mappedRecord.ifEmpty.push(name);
  }
}

export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

export interface FieldNames {
  /** The provider's names of fields, by mapped name. */
  fieldsByMappedName: ReadonlyMap<string, string>;
  /** The provider's names that callers may use too. Null means any name. */
  unchangedFields: ReadonlySet<string> | null;
  /** The provider's values for the builder's values, by the field name that callers use. */
  replacements: ReadonlyMap<string, ValueReplacements>;
}

/** Returns null if callers use the provider's names. */
export function createFieldNames(
  content: IntegrationContent,
  config: ConfigContent,
  { objectName, inheritMapping, valueDefaults }: WriteObject,
): FieldNames | null {
  const read = content.read?.objects.find((object) => object.objectName === objectName);
  if (!inheritMapping || !read) return null;
  const choice = config.read.find((object) => object.objectName === objectName);
  const contentFields = [...read.requiredFields, ...read.optionalFields];
  const fieldsByMappedName = new Map<string, string>(choice ? mapNamesToFields(read, choice) : []);
  for (const { fieldName, mapToName } of contentFields) {
    if (fieldName !== null && mapToName !== null) fieldsByMappedName.set(mapToName, fieldName);
  }
  const readFields = new Set([
    ...(choice?.selectedFields ?? []),
    ...contentFields.flatMap(({ fieldName }) => fieldName ?? []),
    ...fieldsByMappedName.values(),
  ]);
  const acceptsAny =
    valueDefaults?.allowAnyFields ||
    (read.optionalFieldsAuto === 'all' && choice?.selectedFieldsAuto === 'all');
  const replacements = choice ? indexProviderReplacements(choice, fieldsByMappedName) : new Map();
  return { fieldsByMappedName, unchangedFields: acceptsAny ? null : readFields, replacements };
}

/**
 * Indexes the provider's values by the field names that callers use: the mapped names of a mapped field, and the
 * provider's name of any other field.
 */
function indexProviderReplacements(
  { valueMappings = [] }: ReadConfig,
  fieldsByMappedName: ReadonlyMap<string, string>,
) {
  const replacements = valueMappings.flatMap((mapping) => {
    const names = [...fieldsByMappedName].flatMap(([mapToName, fieldName]) =>
      [mapToName, fieldName].includes(mapping.fieldName) ? mapToName : [],
    );
    const fieldNames = names.length > 0 ? names : [mapping.fieldName];
    return fieldNames.map((name) => [name, createProviderReplacements(mapping)] as const);
  });
  return new Map(replacements);
}
