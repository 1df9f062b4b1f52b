/**
 * Maps records of the input to the records that are sent. If a write object inherits the mapping of its read object, the
 * provider's names replace mapped names. Names that the installation does not map are omitted. Names that the
 * integration does not have are refused or omitted, unless the object accepts any field. The config's settings of fields
 * apply after that.
 */
import type { Issue } from '../../../../kernel/errors.ts';
import { createNameFinder, type NameFinder } from '../../../../kernel/nearest-name.ts';
import { createInputIssue } from '../../../base/issues.ts';
import { mapNamesToFields } from '../../../integrations/installation/choice/mapped-names.ts';
import {
  createProviderReplacements,
  replaceValues,
  type ValueReplacements,
} from '../../../integrations/installation/choice/value-mapping.ts';
import type { WriteFieldSetting } from '../../../integrations/installation/choice/write-field-setting.ts';
import type {
  ConfigContent,
  ReadConfig,
} from '../../../integrations/installation/installation-config.ts';
import type {
  IntegrationContent,
  WriteObject,
} from '../../../integrations/integration/integration-content.ts';
import type { InputRecord, WriteInput } from './write-input.ts';

export interface MappedRecord {
  /** The record with the provider's field names and with defaults, without the fields that are not written. */
  record: Record<string, unknown>;
  associations: InputRecord['associations'];
  /** Fields that are written only if the provider's record has no value for them. */
  ifEmpty: string[];
  /** Names of fields that got their defaults. */
  defaults: string[];
  /** Names of the input that the write omits. */
  omitted: string[];
  issues: Issue[];
}

export interface MappingRules {
  type: WriteInput['type'];
  /** The name of the object, for messages. */
  objectName: string;
  /** Null if callers use the provider's names. */
  names: FieldNames | null;
  settings: readonly WriteFieldSetting[];
  unknownFields: UnknownFields;
  findNearestName: NameFinder;
}

/** The effect of names that the integration does not have. */
export type UnknownFields = 'REFUSE' | 'OMIT';

/** Creates the rules for writes of an installation. Null for `object` or `config` means that the write is refused later. */
export function createMappingRules(
  content: IntegrationContent,
  { config, object }: { config: ConfigContent | null; object: WriteObject | null },
  write: Pick<MappingRules, 'type' | 'objectName' | 'unknownFields'>,
): MappingRules {
  const choice = config?.write.find(({ objectName }) => objectName === object?.objectName);
  const names = object && config && createFieldNames(content, config, object);
  const findNearestName = createNameFinder(names ? listNames(names) : []);
  return { ...write, names, settings: choice?.fields ?? [], findNearestName };
}

export function mapRecord(input: InputRecord, rules: MappingRules): MappedRecord {
  const { record, namesByField, omitted, unknown, issues } = renameFields(input, rules.names);
  const { path, associations } = input;
  const mappedRecord: MappedRecord = {
    record: { ...record },
    associations,
    ifEmpty: [],
    defaults: [],
    omitted: rules.unknownFields === 'OMIT' ? [...omitted, ...unknown] : omitted,
    issues: [...issues],
  };
  if (rules.unknownFields === 'REFUSE') {
    for (const name of unknown) {
      mappedRecord.issues.push(createUnknownIssue([...path, name], rules));
    }
  }
  if (rules.type === 'DELETE') return mappedRecord;
  for (const setting of rules.settings) {
    applySetting(mappedRecord, setting, { ...rules, renamedRecord: record, namesByField });
  }
  const isEmpty = Object.keys(mappedRecord.record).every((name) => name === 'id');
  if (isEmpty && mappedRecord.omitted.length > 0 && mappedRecord.issues.length === 0) {
    mappedRecord.issues.push(createOmissionIssue(path, mappedRecord.omitted));
  }
  return mappedRecord;
}

/** Returns the issue of a record of which the write omits every name. */
export function createOmissionIssue(
  path: readonly PropertyKey[],
  omittedNames: readonly string[],
): Issue {
  const detail = `has no field that is written. These names are omitted: ${omittedNames.join(', ')}.`;
  return createInputIssue(path, detail);
}

function createUnknownIssue(
  path: readonly PropertyKey[],
  { objectName, findNearestName }: Pick<MappingRules, 'objectName' | 'findNearestName'>,
): Issue {
  const nearestName = findNearestName(String(path.at(-1)));
  const remedy =
    nearestName === null
      ? "Use a name in the integration's manifest. To accept any field, its builder can set `valueDefaults.allowAnyFields`."
      : `Did you mean ${nearestName}?`;
  const detail = `is not a field that the integration names for ${objectName}. ${remedy}`;
  return createInputIssue(path, detail);
}

interface RenamedRecord extends Pick<MappedRecord, 'omitted' | 'issues'> {
  /** The values by the provider's field names. */
  record: InputRecord['record'];
  /** The names of the input by the provider's field names. Empty if both are equal. */
  namesByField: ReadonlyMap<string, string>;
  /** Names that the integration does not have. */
  unknown: string[];
}

/** Replaces the builder's names by the provider's. Omits names that the installation does not map, and unknown names. */
export function renameFields(
  { record, path }: Pick<InputRecord, 'record' | 'path'>,
  names: FieldNames | null,
): RenamedRecord {
  const namesByField = new Map<string, string>();
  const omitted: string[] = [];
  const unknown: string[] = [];
  const issues: Issue[] = [];
  if (!names) return { record, namesByField, omitted, unknown, issues };
  const valuesByField = new Map<string, unknown>();
  for (const [name, value] of Object.entries(record)) {
    const fieldName = findFieldName(names, name) ?? (name === 'id' ? name : null);
    if (fieldName === null) {
      const isNamed = names.namesAnyField || names.unmappedNames.has(name);
      (isNamed ? omitted : unknown).push(name);
    } else if (valuesByField.has(fieldName)) {
      issues.push(createInputIssue([...path, name], `names the field ${fieldName} a second time.`));
    } else {
      namesByField.set(fieldName, name);
      valuesByField.set(fieldName, replaceValues(value, names.replacements.get(name)));
    }
  }
  return { record: Object.fromEntries(valuesByField), namesByField, omitted, unknown, issues };
}

/** Returns the provider's field that a write with the name sets. Null if it sets none. */
export function findFieldName(
  { fieldsByMappedName, unchangedFields, unmappedNames }: FieldNames,
  name: string,
): string | null {
  const fieldName = fieldsByMappedName.get(name);
  if (fieldName !== undefined) return fieldName;
  const isUnchanged = unchangedFields ? unchangedFields.has(name) : !unmappedNames.has(name);
  return isUnchanged ? name : null;
}

/** Lists the names that callers may use, the builder's names first. */
function listNames({ fieldsByMappedName, unchangedFields, unmappedNames }: FieldNames): string[] {
  return [...fieldsByMappedName.keys(), ...unmappedNames, ...(unchangedFields ?? [])];
}

interface SettingContext extends Pick<MappingRules, 'type' | 'names'> {
  /** The record of the input with the provider's field names. */
  renamedRecord: InputRecord['record'];
  namesByField: RenamedRecord['namesByField'];
}

function applySetting(
  mappedRecord: MappedRecord,
  setting: WriteFieldSetting,
  { renamedRecord, namesByField, type, names }: SettingContext,
): void {
  const name = names?.fieldsByMappedName.get(setting.fieldName) ?? setting.fieldName;
  const occasion = type === 'CREATE' ? setting.writeOnCreate : setting.writeOnUpdate;
  if (occasion === 'NEVER') {
    delete mappedRecord.record[name];
    if (Object.hasOwn(renamedRecord, name)) {
      mappedRecord.omitted.push(namesByField.get(name) ?? name);
    }
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
  /** Names of the integration for which the installation has no field. */
  unmappedNames: ReadonlySet<string>;
  /** True if the integration lets installations select any field, so that it has no unknown names. */
  namesAnyField: boolean;
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
  const unmappedNames = contentFields.flatMap(({ fieldName, mapToName }) =>
    fieldName === null && mapToName !== null && !fieldsByMappedName.has(mapToName) ? mapToName : [],
  );
  const namesAnyField = read.optionalFieldsAuto === 'all';
  const acceptsAny =
    valueDefaults?.allowAnyFields || (namesAnyField && choice?.selectedFieldsAuto === 'all');
  const replacements = choice ? indexProviderReplacements(choice, fieldsByMappedName) : new Map();
  return {
    fieldsByMappedName,
    unchangedFields: acceptsAny ? null : readFields,
    unmappedNames: new Set(unmappedNames),
    namesAnyField,
    replacements,
  };
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
