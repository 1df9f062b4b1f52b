/**
 * Derives the fields of an object in a contract. Their metadata comes from the account, the provider's declaration or
 * other accounts.
 */
import type { FieldDescription } from '../../../providers/contract.ts';
import type { ValueReplacements } from '../../integrations/installation/choice/value-mapping.ts';
import type { WriteFieldSetting } from '../../integrations/installation/choice/write-field-setting.ts';
import type {
  ConfigContent,
  ReadConfig,
} from '../../integrations/installation/installation-config.ts';
import { parseWireValueType } from '../../integrations/installation/shown-field.ts';
import type {
  IntegrationContent,
  ReadObject,
  WriteObject,
} from '../../integrations/integration/integration-content.ts';
import { createReadPlan, findReplacements, type ReadPlan } from '../operation/read/read-plan.ts';
import { createFieldNames, type FieldNames } from '../operation/write/record-mapping.ts';
import type { FieldContract } from './field-contract.ts';
import {
  type FieldType,
  findSharedType,
  toDescribedType,
  toPinnedType,
  UNKNOWN_TYPE,
} from './field-type.ts';
import type { LearnedType } from './learned-fields.ts';
import {
  acceptsName,
  type FieldSources,
  listNamedReadFields,
  listNamedWriteOnlyFields,
  type NamedField,
} from './named-fields.ts';

interface ObjectInput {
  /** The provider's name of the object. */
  objectName: string;
  content: IntegrationContent;
  /** Absent for a revision. */
  config: ConfigContent | undefined;
  /** The read object. Null if the contract has no reads of it. */
  read: ReadObject | null;
  /** The write object. Null if the contract has no writes of it. */
  write: WriteObject | null;
  canCreate: boolean;
}

const NO_CONFIG: ConfigContent = { read: [], write: [] };

/** Lists the fields of an object. `acceptsOtherFields` is true if writes may also name other fields of the provider. */
export function listFields(
  input: ObjectInput,
  sources: FieldSources,
): { fields: FieldContract[]; acceptsOtherFields: boolean } {
  const { objectName, content, config, read, write } = input;
  const isSameObject = (object: { objectName: string }) => object.objectName === objectName;
  const readConfig = config?.read.find(isSameObject) ?? null;
  const readPlan = read && readConfig && createReadPlan(read, readConfig, { pageSize: 1 });
  const readFields = read ? listNamedReadFields(read, { readPlan, readConfig, sources }) : [];
  const names = write && createFieldNames(content, config ?? NO_CONFIG, write);
  const readObject = content.read?.objects.find(isSameObject) ?? null;
  const writeOnlyFields = write
    ? listNamedWriteOnlyFields({ names, readObject, readFields, sources })
    : [];
  const settings = config?.write.find(isSameObject)?.fields ?? [];
  const settingsByField = new Map(
    settings.map((setting) => [
      names?.fieldsByMappedName.get(setting.fieldName) ?? setting.fieldName,
      setting,
    ]),
  );
  const getMetadata = indexFieldMetadata(sources);
  const fields = [...readFields, ...writeOnlyFields].map((field) => {
    const { providerField } = field;
    const metadata = providerField === null ? NO_METADATA : getMetadata(providerField);
    const setting = providerField === null ? undefined : settingsByField.get(providerField);
    return createField(field, { ...input, readPlan, readConfig, names, metadata, setting });
  });
  const hasAllFields = sources.description !== null && !sources.description.isPartial;
  const acceptsAnyField = write !== null && (names === null || names.unchangedFields === null);
  return {
    fields: fields.filter(({ isWriteOnly, isReadOnly }) => !(isWriteOnly && isReadOnly)),
    acceptsOtherFields: acceptsAnyField && !hasAllFields,
  };
}

interface FieldInput extends Pick<ObjectInput, 'config' | 'write' | 'canCreate'> {
  /** Null if the object is not read, or without a config. */
  readPlan: ReadPlan | null;
  readConfig: ReadConfig | null;
  /** Null if callers use the provider's names. */
  names: FieldNames | null;
  metadata: FieldMetadata;
  setting: WriteFieldSetting | undefined;
}

function createField({ mapping, ...field }: NamedField, input: FieldInput): FieldContract {
  const { readPlan, readConfig, metadata, setting } = input;
  const isWritable = acceptsWrites(field, input);
  const replacements = readPlan ? findReplacements(readPlan, field.name) : undefined;
  const pinnedType = mapping?.valueType ?? findPinnedType(readConfig, field.name);
  const type = pinnedType
    ? toPinnedType(parseWireValueType(pinnedType))
    : toDeliveredType(metadata.type, replacements);
  return {
    ...field,
    ...type,
    isRequired:
      input.canCreate && isWritable && metadata.isRequired && !isOptionalForCallers(setting),
    isReadOnly: !isWritable,
    values: type.type === 'ENUM' ? toDeliveredValues(metadata.values, replacements) : null,
    references: type.type === 'REFERENCE' ? metadata.references : null,
    description: mapping?.mapToDisplayName ?? mapping?.prompt ?? metadata.displayName,
  };
}

/** True if a write can set the field by its name. */
function acceptsWrites(
  field: Omit<NamedField, 'mapping'>,
  { write, names, config, metadata, setting }: FieldInput,
): boolean {
  if (write === null || metadata.isReadOnly || isNeverWritten(setting)) return false;
  // Without a config, installations may still map a field to the name.
  if (field.providerField === null) return names !== null && !config;
  return field.isWriteOnly || acceptsName(names, field);
}

function findPinnedType(readConfig: ReadConfig | null, name: string): string | null | undefined {
  return readConfig?.fieldMappings.find(({ mapToName }) => mapToName === name)?.valueType;
}

function isNeverWritten(setting: WriteFieldSetting | undefined): boolean {
  return setting?.writeOnCreate === 'NEVER' && setting.writeOnUpdate === 'NEVER';
}

/** True if the config sets the field of new records, or prevents callers from setting it. */
function isOptionalForCallers(setting: WriteFieldSetting | undefined): boolean {
  return setting !== undefined && (setting.default !== null || setting.writeOnCreate === 'NEVER');
}

interface FieldMetadata {
  type: FieldType;
  isReadOnly: boolean;
  isRequired: boolean;
  displayName: string | null;
  values: FieldContract['values'];
  references: string[] | null;
}

const NO_METADATA: FieldMetadata = {
  type: UNKNOWN_TYPE,
  isReadOnly: false,
  isRequired: false,
  displayName: null,
  values: null,
  references: null,
};

/** Returns a function that finds metadata by the provider's name of a field. Some providers ignore the case of names. */
function indexFieldMetadata({ description, declaredFields, learnedFields }: FieldSources) {
  const findDescribedField = indexFields(description?.fields ?? []);
  const findDeclaredField = indexFields(declaredFields);
  return (name: string): FieldMetadata => {
    const field = findDescribedField(name) ?? findDeclaredField(name);
    const rows = learnedFields.get(name) ?? learnedFields.get(name.toLowerCase());
    if (!field) return rows ? toLearnedMetadata(rows) : NO_METADATA;
    const { valueType, readOnly, isRequired, displayName, values, referenceTo } = field;
    return {
      type: toDescribedType(valueType),
      isReadOnly: readOnly,
      isRequired,
      displayName,
      values: values?.length ? values : null,
      references: referenceTo?.length ? referenceTo : null,
    };
  };
}

function indexFields(fields: readonly FieldDescription[]) {
  const fieldsByName = new Map(fields.map((field) => [field.fieldName.toLowerCase(), field]));
  for (const field of fields) fieldsByName.set(field.fieldName, field);
  return (name: string) => fieldsByName.get(name) ?? fieldsByName.get(name.toLowerCase());
}

function toLearnedMetadata(rows: readonly LearnedType[]): FieldMetadata {
  return {
    ...NO_METADATA,
    type: findSharedType(rows.map(({ valueType }) => toDescribedType(valueType))) ?? UNKNOWN_TYPE,
    isReadOnly: rows.every(({ readOnly }) => readOnly),
    isRequired: rows.every(({ required }) => required),
  };
}

/**
 * Returns the type of a field whose values may be replaced. The replacements are strings. A field of another type then has
 * values of both types, so its type is unknown.
 */
function toDeliveredType(type: FieldType, replacements: ValueReplacements | undefined): FieldType {
  if (!replacements || ['STRING', 'ENUM', 'REFERENCE'].includes(type.type)) return type;
  return UNKNOWN_TYPE;
}

function toDeliveredValues(
  values: FieldContract['values'],
  replacements: ValueReplacements | undefined,
): FieldContract['values'] {
  if (!values || !replacements) return values;
  return values.map(({ value, displayValue }) => ({
    value: replacements[value] ?? value,
    displayValue,
  }));
}
