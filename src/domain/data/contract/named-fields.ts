/**
 * Lists the names under which an object's fields are read and written. The names come from `createReadPlan` and
 * `createFieldNames`, which reads and writes use too.
 */
import type { FieldDescription, ObjectDescription } from '../../../providers/contract.ts';
import { getDeliveredName } from '../../integrations/installation/choice/mapped-names.ts';
import type { ReadConfig } from '../../integrations/installation/installation-config.ts';
import type {
  FieldMapping,
  ReadObject,
} from '../../integrations/integration/integration-content.ts';
import type { ReadPlan } from '../operation/read/read-plan.ts';
import { type FieldNames, findFieldName } from '../operation/write/record-mapping.ts';
import type { FieldContract } from './field-contract.ts';
import type { LearnedType } from './learned-fields.ts';

const WRITE_ONLY = { isWriteOnly: true, isAlwaysRead: false } as const;

/** A field without its metadata. */
export type NamedField = Pick<
  FieldContract,
  'name' | 'providerField' | 'isWriteOnly' | 'isAlwaysRead' | 'origin'
> & { mapping: FieldMapping | null };

/** The sources of metadata about an object's fields, the most exact first. */
export interface FieldSources {
  /** The account's description. Null if there is none. */
  description: ObjectDescription | null;
  /** The fields that every account of the provider has. */
  declaredFields: readonly FieldDescription[];
  /** The types of fields in all accounts of the project, by the provider's name of the field. */
  learnedFields: ReadonlyMap<string, readonly LearnedType[]>;
}

interface ReadChoices {
  /** Null without a config. The contract then has every field that a config can select. */
  readPlan: ReadPlan | null;
  readConfig: ReadConfig | null;
  sources: FieldSources;
}

/** Lists the fields of records that are read, with their names. */
export function listNamedReadFields(
  readObject: ReadObject,
  { readPlan, readConfig, sources: { description } }: ReadChoices,
): NamedField[] {
  const isAlwaysRead = readPlan !== null;
  const mappedFields = new Map(
    readPlan?.mappings.map(({ mapToName, fieldName }) => [mapToName, fieldName]),
  );
  const manifestFields = new Map(
    listManifestFields(readObject, readPlan, mappedFields).map((field) => [field.name, field]),
  );
  const dynamicMappings = readConfig?.dynamicMappings ?? [];
  const dynamicFields = dynamicMappings.flatMap((dynamicMapping): NamedField[] => {
    const name = dynamicMapping.mapToName;
    const providerField = mappedFields.get(name) ?? null;
    if (manifestFields.has(name) || providerField === null) return [];
    const mapping = { ...dynamicMapping, fieldName: null };
    return [{ name, providerField, origin: 'MAPPED', isWriteOnly: false, isAlwaysRead, mapping }];
  });
  const namedFields = [...manifestFields.values(), ...dynamicFields];
  const usedNames = new Set(
    namedFields.flatMap(({ name, providerField }) => [name, providerField]),
  );
  const unnamedFields =
    !readPlan || readPlan.readsAll ? listUnnamedFields(readObject, description?.fields ?? []) : [];
  const providerFields = new Set([
    ...(readPlan?.fields ?? []),
    ...unnamedFields.map(({ fieldName }) => fieldName),
  ]);
  const otherFields = [...providerFields]
    .filter((name) => !usedNames.has(name))
    .map((name): NamedField => {
      const field = { name, providerField: name, origin: 'EXTRA' } as const;
      return { ...field, isWriteOnly: false, isAlwaysRead, mapping: null };
    });
  return [...namedFields, ...otherFields];
}

/** Lists the fields of the manifest that are read. Without a read plan, lists the fields that a config can select. */
function listManifestFields(
  { requiredFields, optionalFields }: ReadObject,
  readPlan: ReadPlan | null,
  mappedFields: ReadonlyMap<string, string>,
): NamedField[] {
  const plannedFields = readPlan && new Set(readPlan.fields);
  const isPlanned = ({ fieldName, mapToName }: FieldMapping) =>
    !plannedFields ||
    (mapToName === null
      ? plannedFields.has(fieldName ?? '')
      : mappedFields.get(mapToName) === fieldName);
  const listField = (mapping: FieldMapping, isRequired: boolean): NamedField[] => {
    const name = getDeliveredName(mapping);
    const members = { isWriteOnly: false, isAlwaysRead: isRequired || readPlan !== null, mapping };
    if (mapping.fieldName !== null) {
      const origin = isRequired ? 'REQUIRED' : 'OPTIONAL';
      return isPlanned(mapping)
        ? [{ name, providerField: mapping.fieldName, origin, ...members }]
        : [];
    }
    const providerField = mappedFields.get(name) ?? null;
    const isOmitted = readPlan !== null && !isRequired && providerField === null;
    return isOmitted ? [] : [{ name, providerField, origin: 'MAPPED', ...members }];
  };
  return [
    ...requiredFields.flatMap((mapping) => listField(mapping, true)),
    ...optionalFields.flatMap((mapping) => listField(mapping, false)),
  ];
}

/** Lists the fields of an account that installations may select although the manifest does not name them. */
export function listUnnamedFields<F extends Pick<FieldDescription, 'fieldName'>>(
  { requiredFields, optionalFields, optionalFieldsAuto }: ReadObject,
  accountFields: readonly F[],
): F[] {
  if (optionalFieldsAuto !== 'all') return [];
  const namedFields = new Set(
    [...requiredFields, ...optionalFields].map(({ fieldName }) => fieldName),
  );
  return accountFields.filter(({ fieldName }) => !namedFields.has(fieldName));
}

interface WriteOnlyInput {
  /** Null if callers use the provider's names. */
  names: FieldNames | null;
  /** The read object of the manifest, even if the installation does not read it. */
  readObject: ReadObject | null;
  readFields: readonly NamedField[];
  sources: FieldSources;
}

/** Lists the fields that only writes accept. No record that is read has a field with one of their names. */
export function listNamedWriteOnlyFields({
  names,
  readObject,
  readFields,
  sources,
}: WriteOnlyInput): NamedField[] {
  const usedNames = new Set(readFields.map(({ name }) => name));
  const writableFields = new Set(
    readFields.flatMap((field) => (acceptsName(names, field) ? (field.providerField ?? []) : [])),
  );
  const acceptsAnyField = names === null || names.unchangedFields === null;
  const accountFields = acceptsAnyField
    ? (sources.description?.fields ?? sources.declaredFields)
    : [];
  const otherFields = accountFields.map(({ fieldName }): NamedField => {
    const field = { name: fieldName, providerField: fieldName, origin: 'EXTRA' } as const;
    return { ...field, ...WRITE_ONLY, mapping: null };
  });
  const mappedFields = names ? listMappedFields(names, readObject) : [];
  return [...mappedFields, ...otherFields].filter((field) => {
    const { name, providerField } = field;
    const isWritable = providerField !== null && writableFields.has(providerField);
    if (usedNames.has(name) || isWritable || !acceptsName(names, field)) return false;
    usedNames.add(name);
    return true;
  });
}

/** Lists the fields that writes accept under names of the manifest or the config. */
function listMappedFields(
  { fieldsByMappedName }: FieldNames,
  readObject: ReadObject | null,
): NamedField[] {
  const mappings = [...(readObject?.requiredFields ?? []), ...(readObject?.optionalFields ?? [])];
  const mappingsByName = new Map(mappings.map((mapping) => [getDeliveredName(mapping), mapping]));
  const unmappedNames = mappings.flatMap(({ fieldName, mapToName }) =>
    fieldName !== null && mapToName === null ? [[fieldName, fieldName] as const] : [],
  );
  return [...unmappedNames, ...fieldsByMappedName].map(([name, providerField]) => {
    const mapping = mappingsByName.get(name) ?? null;
    const origin = mapping?.fieldName == null ? 'MAPPED' : 'OPTIONAL';
    return { name, providerField, ...WRITE_ONLY, origin, mapping };
  });
}

/** True if a write with the name sets this field. Reads and writes may map the same name to different fields. */
export function acceptsName(
  names: FieldNames | null,
  { name, providerField }: Pick<FieldContract, 'name' | 'providerField'>,
): boolean {
  if (names === null) return name === providerField;
  return providerField !== null && findFieldName(names, name) === providerField;
}
