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
  const specs = content.read?.objects ?? [];
  const readChoices = config ? (config.read ?? []) : specs;
  const writeChoices = config ? (config.write ?? []) : (content.write?.objects ?? []);
  const specsByName = new Map(specs.map((spec) => [spec.objectName, spec]));
  const namesByObject = new Map<string, ChosenNames>();
  for (const [index, choice] of readChoices.entries()) {
    const { objectName } = choice;
    const spec = specsByName.get(objectName);
    if (!spec || ('disabled' in choice && choice.disabled)) continue;
    const createFieldPath = (...below: PropertyKey[]) => createPath('read', index, ...below);
    namesByObject.set(objectName, {
      objectName,
      path: createPath('read', index, 'objectName'),
      fields: listChosenFields(choice, spec, createFieldPath),
    });
  }
  for (const [index, { objectName }] of writeChoices.entries()) {
    if (namesByObject.has(objectName)) continue;
    const objectPath = createPath('write', index, 'objectName');
    namesByObject.set(objectName, { objectName, path: objectPath, fields: [] });
  }
  return [...namesByObject.values()];
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
  createPath: (...below: PropertyKey[]) => Path,
): ChosenNames['fields'] {
  const { requiredFields, optionalFields, optionalFieldsAuto } = spec;
  const listedNames = new Set(
    [...requiredFields, ...optionalFields].map(({ fieldName }) => fieldName),
  );
  const selectedFields = (choice.selectedFields ?? []).flatMap((name, index) =>
    listedNames.has(name) || optionalFieldsAuto !== 'all'
      ? []
      : { name, path: createPath('selectedFields', index) },
  );
  const mappedFields = [...mapNamesToFields(spec, choice)].map(([mapToName, name]) => ({
    name,
    path: createPath(...findMappingPath(mapToName, choice)),
  }));
  const filteredFields = (choice.fieldFilters ?? []).map(({ fieldName }, index) => ({
    name: fieldName,
    path: createPath('fieldFilters', index, 'fieldName'),
  }));
  return [...selectedFields, ...mappedFields, ...filteredFields];
}

/** Returns the path of the field name in its mapping. A default has no mapping, so its path is the list of mappings. */
function findMappingPath(
  mapToName: string,
  { fieldMappings, dynamicMappings }: MappingChoice,
): PropertyKey[] {
  const findIndex = (mappings: MappingChoice['fieldMappings']) =>
    (mappings ?? []).findIndex((mapping) => mapping.mapToName === mapToName && mapping.fieldName);
  const fieldIndex = findIndex(fieldMappings);
  if (fieldIndex >= 0) return ['fieldMappings', fieldIndex, 'fieldName'];
  const dynamicIndex = findIndex(dynamicMappings);
  return dynamicIndex >= 0 ? ['dynamicMappings', dynamicIndex, 'fieldName'] : ['fieldMappings'];
}
