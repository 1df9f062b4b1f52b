/** Derives the fields of an object in a contract. */
import type { WriteFieldSetting } from '../installation/choice/write-field-setting.ts';
import type { ConfigContent, ReadConfig } from '../installation/installation-config.ts';
import { parseWireValueType } from '../installation/shown-field.ts';
import type {
  IntegrationContent,
  ReadObject,
  WriteObject,
} from '../integration/integration-content.ts';
import { createReadPlan, findReplacements, type ReadPlan } from '../operation/read/read-plan.ts';
import { createFieldNames, type FieldNames } from '../operation/write/record-mapping.ts';
import type { FieldContract } from './field-contract.ts';
import {
  type FieldMetadata,
  type FieldSources,
  indexFieldMetadata,
  NO_METADATA,
  toDeliveredType,
  toDeliveredValues,
} from './field-metadata.ts';
import { toPinnedType } from './field-type.ts';
import {
  acceptsName,
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
  const plan = read && readConfig && createReadPlan(read, readConfig, { pageSize: 1 });
  const readFields = read ? listNamedReadFields(read, { plan, readConfig, sources }) : [];
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
    return createField(field, { ...input, plan, readConfig, names, metadata, setting });
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
  plan: ReadPlan | null;
  readConfig: ReadConfig | null;
  /** Null if callers use the provider's names. */
  names: FieldNames | null;
  metadata: FieldMetadata;
  setting: WriteFieldSetting | undefined;
}

function createField({ mapping, ...field }: NamedField, input: FieldInput): FieldContract {
  const { plan, readConfig, metadata, setting } = input;
  const isWritable = acceptsWrites(field, input);
  const replacements = plan ? findReplacements(plan, field.name) : undefined;
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
