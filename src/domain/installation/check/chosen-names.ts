/** The names that a customer chooses, with their places in the input. */
import type { IntegrationContent, ReadObject } from '../../integration/integration-content.ts';
import { type MappingChoice, mappedNames } from '../choice/mapped-names.ts';
import type { ConfigContent, ConfigInput } from '../installation-config.ts';

type Path = readonly PropertyKey[];

export interface ChosenNames {
  objectName: string;
  /** Where the object is named. */
  path: Path;
  /** Fields beside those that the integration names. */
  fields: { name: string; path: Path }[];
}

export interface Choices {
  content: IntegrationContent;
  /** Null: all that the integration has. */
  config: ConfigInput | ConfigContent | null;
  /** Where the config is in the input, or what stands for it. */
  path: Path;
  /** The config is not in the input: its members have no places of their own. */
  isPresent?: boolean;
}

/** Each object once: what is read of it, or that it is written. */
export function chosenNames({ content, config, path, isPresent = false }: Choices): ChosenNames[] {
  const at = (...below: PropertyKey[]) =>
    config === null || isPresent ? path : [...path, ...below];
  const reads = (config ?? { read: content.read?.objects }).read ?? [];
  const writes = (config ?? { write: content.write?.objects }).write ?? [];
  const named = new Map((content.read?.objects ?? []).map((spec) => [spec.objectName, spec]));
  const chosen = new Map<string, ChosenNames>();
  for (const [index, choice] of reads.entries()) {
    const spec = named.get(choice.objectName);
    if (!spec || ('disabled' in choice && choice.disabled)) continue;
    const fields = fieldsOf(choice, spec, (...below) => at('read', index, ...below));
    chosen.set(choice.objectName, {
      objectName: choice.objectName,
      path: at('read', index, 'objectName'),
      fields,
    });
  }
  for (const [index, { objectName }] of writes.entries()) {
    if (chosen.has(objectName)) continue;
    chosen.set(objectName, { objectName, path: at('write', index, 'objectName'), fields: [] });
  }
  return [...chosen.values()];
}

interface FieldChoices extends MappingChoice {
  objectName: string;
  selectedFields?: readonly string[] | null | undefined;
  fieldFilters?: readonly { fieldName: string }[] | null | undefined;
}

/** Those that the integration lets the customer choose; of others it is told already that they are none. */
function fieldsOf(
  choice: FieldChoices,
  spec: ReadObject,
  at: (...below: PropertyKey[]) => Path,
): ChosenNames['fields'] {
  const { requiredFields, optionalFields, optionalFieldsAuto } = spec;
  const own = new Set([...requiredFields, ...optionalFields].map(({ fieldName }) => fieldName));
  const selected = (choice.selectedFields ?? []).flatMap((name, index) =>
    own.has(name) || optionalFieldsAuto !== 'all'
      ? []
      : { name, path: at('selectedFields', index) },
  );
  const mapped = [...mappedNames(spec, choice)].map(([mapToName, name]) => ({
    name,
    path: at(...placeOf(mapToName, choice)),
  }));
  const filtered = (choice.fieldFilters ?? []).map(({ fieldName: name }, index) => ({
    name,
    path: at('fieldFilters', index, 'fieldName'),
  }));
  return [...selected, ...mapped, ...filtered];
}

/** Where the choice says which field the name stands for; a default is said nowhere. */
function placeOf(
  mapToName: string,
  { fieldMappings, dynamicMappings }: MappingChoice,
): PropertyKey[] {
  const indexIn = (mappings: MappingChoice['fieldMappings']) =>
    (mappings ?? []).findIndex((one) => one.mapToName === mapToName && one.fieldName);
  const [byCustomer, byPage] = [indexIn(fieldMappings), indexIn(dynamicMappings)];
  if (byCustomer >= 0) return ['fieldMappings', byCustomer, 'fieldName'];
  return byPage >= 0 ? ['dynamicMappings', byPage, 'fieldName'] : ['fieldMappings'];
}
