/**
 * Derives the fields of an object in a contract. It uses `createReadPlan` and `createFieldNames`, by which reads and
 * writes decide which names they know.
 */
import { z } from 'zod';
import type { FieldDescription, ObjectDescription } from '../../providers/contract.ts';
import type { ValueReplacements } from '../installation/choice/value-mapping.ts';
import type { WriteFieldSetting } from '../installation/choice/write-field-setting.ts';
import type { ConfigContent, ReadConfig } from '../installation/installation-config.ts';
import { fieldValueResource, valueTypeOfWord } from '../installation/shown-field.ts';
import type {
  FieldMapping,
  IntegrationContent,
  ReadObject,
  WriteObject,
} from '../integration/integration-content.ts';
import { createReadPlan, findReplacements, type ReadPlan } from '../operation/read/read-plan.ts';
import { createFieldNames, type FieldNames } from '../operation/write/record-mapping.ts';
import { enumeration, resource } from '../resource.ts';
import {
  contractFieldType,
  type FieldType,
  findSharedType,
  toDescribedType,
  toPinnedType,
  UNKNOWN_TYPE,
} from './field-type.ts';
import type { LearnedField } from './learned-fields.ts';

const fieldOrigin = enumeration('FieldOrigin', 'The reason why a contract has a field.', {
  REQUIRED: 'The integration requires it of every installation.',
  OPTIONAL: 'The integration offers it, and installations select it.',
  MAPPED: "The name is the integration's, and each installation maps a provider's field to it.",
  EXTRA: 'A field of the account that the integration does not name.',
});

export const fieldContractResource = resource(
  'FieldContract',
  'A field of an object in a contract.',
  {
    name: z
      .string()
      .describe("The builder's name of the field, or the provider's if none is mapped."),
    providerField: z
      .string()
      .nullable()
      .describe(
        "The provider's field. Null if installations map one, or if the project's integrations map different fields.",
      ),
    type: contractFieldType.describe('The type of its values.'),
    isTypeKnown: z
      .boolean()
      .describe(
        'False if no manifest, provider or account has a type for the field, or if they contradict each other.',
      ),
    isList: z.boolean().describe('Whether a value is a list.'),
    isRequired: z.boolean().describe('Whether a new record must have a value.'),
    isReadOnly: z.boolean().describe('Whether a write cannot set the field by this name.'),
    isWriteOnly: z
      .boolean()
      .describe('Whether writes accept the name but records that are read do not have it.'),
    isAlwaysRead: z
      .boolean()
      .describe('Whether every record that is read has the field. Its value may be null.'),
    values: z
      .array(fieldValueResource)
      .nullable()
      .describe('The values of an enum, with mapped values. Null if they are unknown.'),
    references: z
      .array(z.string())
      .nullable()
      .describe(
        'The names of the objects that a reference may point to. Null if they are unknown.',
      ),
    description: z
      .string()
      .nullable()
      .describe('A human-readable description. Null if there is none.'),
    origin: fieldOrigin.describe('The reason why the contract has the field.'),
  },
);
export type FieldContract = z.output<typeof fieldContractResource>;

/** The sources of metadata about an object's fields, the most exact first. */
interface FieldSources {
  /** The account's own description. Null if it is not known. */
  description: ObjectDescription | null;
  /** The fields that every account of the provider has. */
  declared: readonly FieldDescription[];
  /** The types of fields in all accounts of the project, by the provider's name of the field. */
  learned: ReadonlyMap<string, readonly LearnedField[]>;
}

interface ObjectParts {
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

/** Lists the fields of an object. `acceptsOtherFields` is true if writes accept other names of the provider too. */
export function listFields(
  parts: ObjectParts,
  sources: FieldSources,
): { fields: FieldContract[]; acceptsOtherFields: boolean } {
  const { objectName, content, config, read, write, canCreate } = parts;
  const isOfObject = (object: { objectName: string }) => object.objectName === objectName;
  const readConfig = config?.read.find(isOfObject) ?? null;
  const plan = read && readConfig && createReadPlan(read, readConfig, { pageSize: 1 });
  const readFields = read ? listReadFields(read, { plan, readConfig, sources }) : [];
  const names = write && createFieldNames(content, config ?? NO_CONFIG, write);
  const readObject = content.read?.objects.find(isOfObject) ?? null;
  const writeOnly = write ? listWriteOnlyFields({ names, readObject, readFields, sources }) : [];
  const settings = config?.write.find(isOfObject)?.fields ?? [];
  const settingsByField = new Map(
    settings.map((setting) => [names?.mapped.get(setting.fieldName) ?? setting.fieldName, setting]),
  );
  const getMetadata = indexFieldMetadata(sources);
  const fields = [...readFields, ...writeOnly].flatMap(({ mapping, ...field }) => {
    const { name, providerField, isWriteOnly } = field;
    const metadata = providerField === null ? NO_METADATA : getMetadata(providerField);
    const setting = providerField === null ? undefined : settingsByField.get(providerField);
    // A name without a field is writable if installations may still map one to it.
    const isAccepted =
      providerField === null ? names !== null && !config : isWriteOnly || acceptsName(names, field);
    const isWritable =
      write !== null && isAccepted && !metadata.isReadOnly && !isNeverWritten(setting);
    if (isWriteOnly && !isWritable) return [];
    const replacements = plan ? findReplacements(plan, name) : undefined;
    const pinned = mapping?.valueType ?? findPinnedType(readConfig, name);
    const type = pinned
      ? toPinnedType(valueTypeOfWord(pinned))
      : toDeliveredType(metadata.type, replacements);
    const contract: FieldContract = {
      ...field,
      ...type,
      isRequired: canCreate && isWritable && metadata.isRequired && !isOptionalForCallers(setting),
      isReadOnly: !isWritable,
      values: type.type === 'ENUM' ? toDeliveredValues(metadata.values, replacements) : null,
      references: type.type === 'REFERENCE' ? metadata.references : null,
      description: mapping?.mapToDisplayName ?? mapping?.prompt ?? metadata.displayName,
    };
    return [contract];
  });
  const isComplete = sources.description !== null && !sources.description.isPartial;
  const acceptsAny = write !== null && (names === null || names.unchanged === null);
  return { fields, acceptsOtherFields: acceptsAny && !isComplete };
}

function findPinnedType(readConfig: ReadConfig | null, name: string): string | null | undefined {
  return readConfig?.fieldMappings.find(({ mapToName }) => mapToName === name)?.valueType;
}

function isNeverWritten(setting: WriteFieldSetting | undefined): boolean {
  return setting?.writeOnCreate === 'NEVER' && setting.writeOnUpdate === 'NEVER';
}

/** True if the config fills the field of new records, or keeps callers from doing so. */
function isOptionalForCallers(setting: WriteFieldSetting | undefined): boolean {
  return setting !== undefined && (setting.default !== null || setting.writeOnCreate === 'NEVER');
}

/** A field without its metadata. */
type NamedField = Pick<
  FieldContract,
  'name' | 'providerField' | 'isWriteOnly' | 'isAlwaysRead' | 'origin'
> & { mapping: FieldMapping | null };

interface ReadChoices {
  /** Null without a config. The contract then has every field that a config may choose. */
  plan: ReadPlan | null;
  readConfig: ReadConfig | null;
  sources: FieldSources;
}

/** Lists the fields of records that are read. */
function listReadFields(
  readObject: ReadObject,
  { plan, readConfig, sources: { description } }: ReadChoices,
): NamedField[] {
  const isAlwaysRead = plan !== null;
  const mappedFields = new Map(
    plan?.mappings.map(({ mapToName, fieldName }) => [mapToName, fieldName]),
  );
  const manifestFields = new Map(
    listManifestFields(readObject, plan, mappedFields).map((field) => [field.name, field]),
  );
  const dynamicFields = (readConfig?.dynamicMappings ?? []).flatMap((dynamic): NamedField[] => {
    const name = dynamic.mapToName;
    const providerField = mappedFields.get(name) ?? null;
    if (manifestFields.has(name) || providerField === null) return [];
    const mapping = { ...dynamic, fieldName: null };
    return [{ name, providerField, origin: 'MAPPED', isWriteOnly: false, isAlwaysRead, mapping }];
  });
  const namedFields = [...manifestFields.values(), ...dynamicFields];
  const usedNames = new Set(
    namedFields.flatMap(({ name, providerField }) => [name, providerField]),
  );
  const unnamed =
    !plan || plan.readsAll ? listUnnamedFields(readObject, description?.fields ?? []) : [];
  const others = new Set([...(plan?.fields ?? []), ...unnamed.map(({ fieldName }) => fieldName)]);
  const otherFields = [...others]
    .filter((name) => !usedNames.has(name))
    .map((name): NamedField => {
      const field = { name, providerField: name, origin: 'EXTRA' } as const;
      return { ...field, isWriteOnly: false, isAlwaysRead, mapping: null };
    });
  return [...namedFields, ...otherFields];
}

/** Lists the fields of the manifest that are read, or that a config may choose if there is no plan. */
function listManifestFields(
  { requiredFields, optionalFields }: ReadObject,
  plan: ReadPlan | null,
  mappedFields: ReadonlyMap<string, string>,
): NamedField[] {
  const plannedFields = plan && new Set(plan.fields);
  const isPlanned = ({ fieldName, mapToName }: FieldMapping) =>
    !plannedFields ||
    (mapToName === null
      ? plannedFields.has(fieldName ?? '')
      : mappedFields.get(mapToName) === fieldName);
  const listField = (mapping: FieldMapping, isRequired: boolean): NamedField[] => {
    const name = getDeliveredName(mapping);
    const read = { isWriteOnly: false, isAlwaysRead: isRequired || plan !== null, mapping };
    if (mapping.fieldName !== null) {
      const origin = isRequired ? 'REQUIRED' : 'OPTIONAL';
      return isPlanned(mapping)
        ? [{ name, providerField: mapping.fieldName, origin, ...read }]
        : [];
    }
    const providerField = mappedFields.get(name) ?? null;
    const isOmitted = plan !== null && !isRequired && providerField === null;
    return isOmitted ? [] : [{ name, providerField, origin: 'MAPPED', ...read }];
  };
  return [
    ...requiredFields.flatMap((mapping) => listField(mapping, true)),
    ...optionalFields.flatMap((mapping) => listField(mapping, false)),
  ];
}

/** Lists the fields of an account that installations may select although the manifest does not name them. */
export function listUnnamedFields<F extends Pick<FieldDescription, 'fieldName'>>(
  { requiredFields, optionalFields, optionalFieldsAuto }: ReadObject,
  described: readonly F[],
): F[] {
  if (optionalFieldsAuto !== 'all') return [];
  const namedFields = new Set(
    [...requiredFields, ...optionalFields].map(({ fieldName }) => fieldName),
  );
  return described.filter(({ fieldName }) => !namedFields.has(fieldName));
}

function getDeliveredName({ fieldName, mapToName }: FieldMapping): string {
  return mapToName ?? fieldName ?? '';
}

interface WriteOnlyInput {
  /** Null if callers use the provider's names. */
  names: FieldNames | null;
  /** The read object of the manifest, even if the installation does not read it. */
  readObject: ReadObject | null;
  readFields: readonly NamedField[];
  sources: FieldSources;
}

/** Lists the fields that writes accept by names that records do not have when they are read. */
function listWriteOnlyFields({
  names,
  readObject,
  readFields,
  sources,
}: WriteOnlyInput): NamedField[] {
  const usedNames = new Set(readFields.map(({ name }) => name));
  const writable = new Set(
    readFields.flatMap((field) => (acceptsName(names, field) ? (field.providerField ?? []) : [])),
  );
  const isOpen = names === null || names.unchanged === null;
  const accountFields = isOpen ? (sources.description?.fields ?? sources.declared) : [];
  const others = accountFields.map(({ fieldName }): NamedField => {
    const field = { name: fieldName, providerField: fieldName, origin: 'EXTRA' } as const;
    return { ...field, ...WRITE_ONLY, mapping: null };
  });
  return [...(names ? listMappedFields(names, readObject) : []), ...others].filter((field) => {
    const { name, providerField } = field;
    const isKnown = usedNames.has(name) || (providerField !== null && writable.has(providerField));
    if (isKnown || !acceptsName(names, field)) return false;
    usedNames.add(name);
    return true;
  });
}

const WRITE_ONLY = { isWriteOnly: true, isAlwaysRead: false } as const;

/** Lists the fields that writes accept by names of the manifest or the config. */
function listMappedFields({ mapped }: FieldNames, readObject: ReadObject | null): NamedField[] {
  const mappings = [...(readObject?.requiredFields ?? []), ...(readObject?.optionalFields ?? [])];
  const byName = new Map(mappings.map((mapping) => [getDeliveredName(mapping), mapping]));
  const unmapped = mappings.flatMap(({ fieldName, mapToName }) =>
    fieldName !== null && mapToName === null ? [[fieldName, fieldName] as const] : [],
  );
  return [...unmapped, ...mapped].map(([name, providerField]) => {
    const mapping = byName.get(name) ?? null;
    const origin = mapping?.fieldName == null ? 'MAPPED' : 'OPTIONAL';
    return { name, providerField, ...WRITE_ONLY, origin, mapping };
  });
}

/** True if a write with this name sets the field. Reads and writes may map one name to different fields. */
function acceptsName(
  names: FieldNames | null,
  { name, providerField }: Pick<FieldContract, 'name' | 'providerField'>,
): boolean {
  if (names === null) return name === providerField;
  const written = names.mapped.get(name);
  if (written !== undefined) return written === providerField;
  return name === providerField && (names.unchanged === null || names.unchanged.has(name));
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

/** Returns a lookup of metadata by the provider's name of a field. Some providers ignore the case of names. */
function indexFieldMetadata({ description, declared, learned }: FieldSources) {
  const described = indexFields(description?.fields ?? []);
  const standard = indexFields(declared);
  return (name: string): FieldMetadata => {
    const field = described(name) ?? standard(name);
    const rows = learned.get(name) ?? learned.get(name.toLowerCase());
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
  const byName = new Map(fields.map((field) => [field.fieldName.toLowerCase(), field]));
  for (const field of fields) byName.set(field.fieldName, field);
  return (name: string) => byName.get(name) ?? byName.get(name.toLowerCase());
}

function toLearnedMetadata(rows: readonly LearnedField[]): FieldMetadata {
  return {
    ...NO_METADATA,
    type: findSharedType(rows.map(({ valueType }) => toDescribedType(valueType))) ?? UNKNOWN_TYPE,
    isReadOnly: rows.every(({ readOnly }) => readOnly),
    isRequired: rows.every(({ required }) => required),
  };
}

/** Replaced values are strings. A field of another type has values of both types, so its type is unknown. */
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
