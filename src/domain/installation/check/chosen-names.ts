/** The object and field names that a customer chooses, with their paths in the input. */
import type { IntegrationContent, ReadObject } from '../../integration/integration-content.ts';
import { type MappingChoice, mapNamesToFields } from '../choice/mapped-names.ts';
import type { ConfigChoices } from '../installation-config.ts';

type Path = readonly PropertyKey[];

export interface ChosenNames {
  objectName: string;
  /** The path of the object's name in the input. */
  path: Path;
  /** Chosen fields that the integration does not name. */
  fields: { name: string; path: Path }[];
}

export interface Choices {
  content: IntegrationContent;
  /** Null means everything in the integration. */
  config: ConfigChoices | null;
  /** The path of the config in the input, or of the member that determines it. */
  path: Path;
  /** True if the config is the stored one. All its names then have the path `path`. */
  isStored?: boolean;
}

/** Lists each chosen object once: a read object with its chosen fields, a write object without fields. */
export function listChosenNames({
  content,
  config,
  path,
  isStored = false,
}: Choices): ChosenNames[] {
  const createPath = (...below: PropertyKey[]) =>
    config === null || isStored ? path : [...path, ...below];
  const reads = (config ?? { read: content.read?.objects }).read ?? [];
  const writes = (config ?? { write: content.write?.objects }).write ?? [];
  const specsByName = new Map((content.read?.objects ?? []).map((spec) => [spec.objectName, spec]));
  const chosen = new Map<string, ChosenNames>();
  for (const [index, choice] of reads.entries()) {
    const spec = specsByName.get(choice.objectName);
    if (!spec || ('disabled' in choice && choice.disabled)) continue;
    const fields = listChosenFields(choice, spec, (...below) =>
      createPath('read', index, ...below),
    );
    chosen.set(choice.objectName, {
      objectName: choice.objectName,
      path: createPath('read', index, 'objectName'),
      fields,
    });
  }
  for (const [index, { objectName }] of writes.entries()) {
    if (chosen.has(objectName)) continue;
    chosen.set(objectName, {
      objectName,
      path: createPath('write', index, 'objectName'),
      fields: [],
    });
  }
  return [...chosen.values()];
}

interface FieldChoices extends MappingChoice {
  objectName: string;
  selectedFields?: readonly string[] | null | undefined;
  fieldFilters?: readonly { fieldName: string }[] | null | undefined;
}

/** Lists the chosen fields that the integration offers. Other names are reported elsewhere. */
function listChosenFields(
  choice: FieldChoices,
  spec: ReadObject,
  pathTo: (...below: PropertyKey[]) => Path,
): ChosenNames['fields'] {
  const { requiredFields, optionalFields, optionalFieldsAuto } = spec;
  const listedFields = new Set(
    [...requiredFields, ...optionalFields].map(({ fieldName }) => fieldName),
  );
  const selectedFields = (choice.selectedFields ?? []).flatMap((name, index) =>
    listedFields.has(name) || optionalFieldsAuto !== 'all'
      ? []
      : { name, path: pathTo('selectedFields', index) },
  );
  const mappedFields = [...mapNamesToFields(spec, choice)].map(([mapToName, name]) => ({
    name,
    path: pathTo(...findPath(mapToName, choice)),
  }));
  const filteredFields = (choice.fieldFilters ?? []).map(({ fieldName: name }, index) => ({
    name,
    path: pathTo('fieldFilters', index, 'fieldName'),
  }));
  return [...selectedFields, ...mappedFields, ...filteredFields];
}

/** The path of the field name in the mapping. A default has no path of its own, so it gets the path of the mappings. */
function findPath(
  mapToName: string,
  { fieldMappings, dynamicMappings }: MappingChoice,
): PropertyKey[] {
  const indexIn = (mappings: MappingChoice['fieldMappings']) =>
    (mappings ?? []).findIndex((mapping) => mapping.mapToName === mapToName && mapping.fieldName);
  const customerIndex = indexIn(fieldMappings);
  if (customerIndex >= 0) return ['fieldMappings', customerIndex, 'fieldName'];
  const pageIndex = indexIn(dynamicMappings);
  return pageIndex >= 0 ? ['dynamicMappings', pageIndex, 'fieldName'] : ['fieldMappings'];
}
