/**
 * The fields of an object in a contract. Reads and writes decide by `createReadPlan` and `createFieldNames` which names they
 * know, so a contract asks the same functions.
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
import { createReadPlan, type ReadPlan } from '../operation/read/read-plan.ts';
import { createFieldNames, type FieldNames } from '../operation/write/record-mapping.ts';
import { enumeration, resource } from '../resource.ts';
import {
  contractFieldType,
  describedType,
  type FieldType,
  pinnedType,
  sharedType,
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
        "The provider's field. Null if installations map one, or if the integrations of a project have several.",
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
    isWriteOnly: z.boolean().describe('Whether records that are read lack the field by this name.'),
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
    description: z.string().nullable().describe('A text for people. Null if there is none.'),
    origin: fieldOrigin.describe('The reason why the contract has the field.'),
  },
);
export type FieldContract = z.output<typeof fieldContractResource>;

/** The sources of facts about an object's fields, the most exact first. */
interface FieldSources {
  /** The account's own description. Null if it is not known. */
  description: ObjectDescription | null;
  /** The fields that every account of the provider has. */
  declared: readonly FieldDescription[];
  /** The types in all accounts of the project, by field. */
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

/** The fields of an object, and whether writes accept names of the provider that are not among them. */
export function listFields(
  parts: ObjectParts,
  sources: FieldSources,
): { fields: FieldContract[]; acceptsOtherFields: boolean } {
  const { objectName, content, config, read, write, canCreate } = parts;
  const isOfObject = (object: { objectName: string }) => object.objectName === objectName;
  const choice = config?.read.find(isOfObject) ?? null;
  const plan = read && choice && createReadPlan(read, choice, { pageSize: 1 });
  const readNames = read ? readFields(read, { plan, choice, sources }) : [];
  const names = write && createFieldNames(content, config ?? NO_CONFIG, write);
  const spec = content.read?.objects.find(isOfObject) ?? null;
  const writeOnly = write ? writeOnlyFields({ names, spec, readNames, sources }) : [];
  const settings = config?.write.find(isOfObject)?.fields ?? [];
  const settingsByField = new Map(
    settings.map((setting) => [names?.mapped.get(setting.fieldName) ?? setting.fieldName, setting]),
  );
  const facts = factsByName(sources);
  const fields = [...readNames, ...writeOnly].flatMap(({ mapping, ...field }) => {
    const { name, providerField, isWriteOnly } = field;
    const fieldFacts = providerField === null ? NO_FACTS : facts(providerField);
    const setting = providerField === null ? undefined : settingsByField.get(providerField);
    // A name without a field is writable if installations may still map one to it.
    const isAccepted =
      providerField === null ? names !== null && !config : isWriteOnly || acceptsName(names, field);
    const isWritable =
      write !== null && isAccepted && !fieldFacts.readOnly && !isNeverWritten(setting);
    if (isWriteOnly && !isWritable) return [];
    const words = findReplacements(plan, name);
    const pinned = mapping?.valueType ?? pinnedByConfig(choice, name);
    const type = pinned
      ? pinnedType(valueTypeOfWord(pinned))
      : deliveredType(fieldFacts.type, words);
    const completed: FieldContract = {
      ...field,
      ...type,
      isRequired: canCreate && isWritable && fieldFacts.required && !isFilled(setting),
      isReadOnly: !isWritable,
      values: type.type === 'ENUM' ? deliveredValues(fieldFacts.values, words) : null,
      references: type.type === 'REFERENCE' ? fieldFacts.references : null,
      description: mapping?.mapToDisplayName ?? mapping?.prompt ?? fieldFacts.displayName,
    };
    return [completed];
  });
  const isComplete = sources.description !== null && !sources.description.isPartial;
  const acceptsAny = write !== null && (names === null || names.unchanged === null);
  return { fields, acceptsOtherFields: acceptsAny && !isComplete };
}

function pinnedByConfig(choice: ReadConfig | null, name: string): string | null | undefined {
  return choice?.fieldMappings.find(({ mapToName }) => mapToName === name)?.valueType;
}

function findReplacements(plan: ReadPlan | null, name: string): ValueReplacements | undefined {
  return plan && Object.hasOwn(plan.words, name) ? plan.words[name] : undefined;
}

function isNeverWritten(setting: WriteFieldSetting | undefined): boolean {
  return setting?.writeOnCreate === 'NEVER' && setting.writeOnUpdate === 'NEVER';
}

/** True if the config fills the field of new records, or keeps callers from doing so. */
function isFilled(setting: WriteFieldSetting | undefined): boolean {
  return setting !== undefined && (setting.default !== null || setting.writeOnCreate === 'NEVER');
}

/** A field before its facts are known. */
type NamedField = Pick<
  FieldContract,
  'name' | 'providerField' | 'isWriteOnly' | 'isAlwaysRead' | 'origin'
> & { mapping: FieldMapping | null };

interface ReadChoices {
  /** Null without a config. The contract then has every field that a config may choose. */
  plan: ReadPlan | null;
  choice: ReadConfig | null;
  sources: FieldSources;
}

/** The fields of records that are read. */
function readFields(
  spec: ReadObject,
  { plan, choice, sources: { description } }: ReadChoices,
): NamedField[] {
  const mapped = new Map(plan?.mappings.map(({ mapToName, fieldName }) => [mapToName, fieldName]));
  const planned = plan && new Set(plan.fields);
  const isPlanned = ({ fieldName, mapToName }: FieldMapping) =>
    !planned ||
    (mapToName === null ? planned.has(fieldName ?? '') : mapped.get(mapToName) === fieldName);
  const named = new Map<string, NamedField>();
  const add = (name: string, field: Pick<NamedField, 'providerField' | 'origin'> & Added) =>
    named.set(name, {
      name,
      isWriteOnly: false,
      isAlwaysRead: plan !== null,
      mapping: null,
      ...field,
    });
  const listed = [
    ...spec.requiredFields.map((mapping) => ({ mapping, isRequired: true })),
    ...spec.optionalFields.map((mapping) => ({ mapping, isRequired: false })),
  ];
  for (const { mapping, isRequired } of listed) {
    const { fieldName } = mapping;
    const name = getDeliveredName(mapping);
    const isAlwaysRead = isRequired || plan !== null;
    if (fieldName === null) {
      const providerField = mapped.get(name) ?? null;
      if (plan && !isRequired && providerField === null) continue;
      add(name, { providerField, origin: 'MAPPED', isAlwaysRead, mapping });
    } else if (isPlanned(mapping)) {
      const origin = isRequired ? 'REQUIRED' : 'OPTIONAL';
      add(name, { providerField: fieldName, origin, isAlwaysRead, mapping });
    }
  }
  for (const dynamic of choice?.dynamicMappings ?? []) {
    const { mapToName } = dynamic;
    const providerField = mapped.get(mapToName) ?? null;
    if (named.has(mapToName) || providerField === null) continue;
    add(mapToName, { providerField, origin: 'MAPPED', mapping: { ...dynamic, fieldName: null } });
  }
  const usedFields = new Set([...named.values()].map(({ providerField }) => providerField));
  const unnamed = !plan || plan.readsAll ? unnamedFields(spec, description?.fields ?? []) : [];
  const others = [...(plan?.fields ?? []), ...unnamed.map(({ fieldName }) => fieldName)];
  for (const fieldName of others) {
    if (usedFields.has(fieldName) || named.has(fieldName)) continue;
    add(fieldName, { providerField: fieldName, origin: 'EXTRA' });
  }
  return [...named.values()];
}

/** The fields of an account that installations may select although the manifest does not name them. */
export function unnamedFields<F extends Pick<FieldDescription, 'fieldName'>>(
  { requiredFields, optionalFields, optionalFieldsAuto }: ReadObject,
  described: readonly F[],
): F[] {
  if (optionalFieldsAuto !== 'all') return [];
  const named = new Set([...requiredFields, ...optionalFields].map(({ fieldName }) => fieldName));
  return described.filter(({ fieldName }) => !named.has(fieldName));
}

type Added = Partial<Pick<NamedField, 'isAlwaysRead' | 'mapping'>>;

function getDeliveredName({ fieldName, mapToName }: FieldMapping): string {
  return mapToName ?? fieldName ?? '';
}

interface WriteOnlyInput {
  /** Null if callers use the provider's names. */
  names: FieldNames | null;
  /** The read object of the manifest, also if the installation does not read it. */
  spec: ReadObject | null;
  readNames: readonly NamedField[];
  sources: FieldSources;
}

/** Names that writes accept and records that are read do not have. */
function writeOnlyFields({ names, spec, readNames, sources }: WriteOnlyInput): NamedField[] {
  const usedNames = new Set(readNames.map(({ name }) => name));
  const writable = new Set(
    readNames.flatMap((field) => (acceptsName(names, field) ? (field.providerField ?? []) : [])),
  );
  const isOpen = names === null || names.unchanged === null;
  const existing = isOpen ? (sources.description?.fields ?? sources.declared) : [];
  const others = existing.map(({ fieldName }): NamedField => {
    const field = { name: fieldName, providerField: fieldName, origin: 'EXTRA' } as const;
    return { ...field, ...WRITE_ONLY, mapping: null };
  });
  return [...(names ? mappedFields(names, spec) : []), ...others].filter((field) => {
    const { name, providerField } = field;
    const isKnown = usedNames.has(name) || (providerField !== null && writable.has(providerField));
    if (isKnown || !acceptsName(names, field)) return false;
    usedNames.add(name);
    return true;
  });
}

const WRITE_ONLY = { isWriteOnly: true, isAlwaysRead: false } as const;

/** The fields that writes know by the names of the manifest and of the config. */
function mappedFields({ mapped }: FieldNames, spec: ReadObject | null): NamedField[] {
  const mappings = [...(spec?.requiredFields ?? []), ...(spec?.optionalFields ?? [])];
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

/** True if a write with this name sets the field. A name that is read as one field may be written to another. */
function acceptsName(
  names: FieldNames | null,
  { name, providerField }: Pick<FieldContract, 'name' | 'providerField'>,
): boolean {
  if (names === null) return name === providerField;
  const written = names.mapped.get(name);
  if (written !== undefined) return written === providerField;
  return name === providerField && (names.unchanged === null || names.unchanged.has(name));
}

interface FieldFacts {
  type: FieldType;
  readOnly: boolean;
  required: boolean;
  displayName: string | null;
  values: FieldContract['values'];
  references: string[] | null;
}

const NO_FACTS: FieldFacts = {
  type: UNKNOWN_TYPE,
  readOnly: false,
  required: false,
  displayName: null,
  values: null,
  references: null,
};

/** Returns what is known of a field, by the provider's name. Some providers ignore the case of names. */
function factsByName({ description, declared, learned }: FieldSources) {
  const described = indexFields(description?.fields ?? []);
  const standard = indexFields(declared);
  return (name: string): FieldFacts => {
    const field = described(name) ?? standard(name);
    const rows = learned.get(name) ?? learned.get(name.toLowerCase());
    if (!field) return rows ? learnedFacts(rows) : NO_FACTS;
    const { valueType, readOnly, isRequired: required, displayName, values, referenceTo } = field;
    return {
      type: describedType(valueType),
      readOnly,
      required,
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

function learnedFacts(rows: readonly LearnedField[]): FieldFacts {
  return {
    ...NO_FACTS,
    type: sharedType(rows.map(({ valueType }) => describedType(valueType))) ?? UNKNOWN_TYPE,
    readOnly: rows.every(({ readOnly }) => readOnly),
    required: rows.every(({ required }) => required),
  };
}

/** Mapped values are texts. A field of another type then has values of both types. */
function deliveredType(type: FieldType, words: ValueReplacements | undefined): FieldType {
  if (!words || ['STRING', 'ENUM', 'REFERENCE'].includes(type.type)) return type;
  return UNKNOWN_TYPE;
}

function deliveredValues(
  values: FieldContract['values'],
  words: ValueReplacements | undefined,
): FieldContract['values'] {
  if (!values || !words) return values;
  return values.map(({ value, displayValue }) => ({ value: words[value] ?? value, displayValue }));
}
