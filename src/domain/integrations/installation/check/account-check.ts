/**
 * Finds objects and fields of a config that the connected account lacks, before anything is saved. If the provider can't
 * respond now (credentials, rate limit, outage), the config is accepted, and reads and writes report the error later.
 */

import type { Row } from '../../../../database/statements/tables.ts';
import type { Issue } from '../../../../kernel/errors.ts';
import { type Provider, supportsCapability } from '../../../../providers/contract.ts';
import { ProviderError, type ProviderErrorKind } from '../../../../providers/provider-error.ts';
import { withDeadline } from '../../../../work/deadline.ts';
import type { ProviderServices } from '../../../access/call.ts';
import { createInputIssue } from '../../../base/issues.ts';
import { openProviderSession } from '../../../connections/connection/connection-session.ts';
import { describeObject } from '../../../connections/provider/object-descriptions.ts';
import { type Waiter, waitForProvider } from '../../../connections/provider/provider-wait.ts';
import type { IntegrationContent, ReadObject } from '../../integration/integration-content.ts';
import { type MappingChoice, mapNamesToFields } from '../choice/mapped-names.ts';
import type { ConfigChoices } from '../installation-config.ts';

/** The limit leaves most of a mutation's time for its other work. Names that are unchecked by then are accepted. */
const CHECK_TIMEOUT_MS = 10_000;

/** Errors that the request itself caused. A retry would fail in the same way. */
const REFUSALS: readonly ProviderErrorKind[] = ['MISSING_OBJECT', 'MISSING_FIELD', 'BAD_REQUEST'];

/** Returns an issue for each chosen name that the account lacks. Returns none without a connection. */
export async function listIssuesAtAccount(
  services: Waiter,
  { projectId, connectionId }: { projectId: string; connectionId: string | null },
  choices: Choices,
): Promise<Issue[]> {
  if (connectionId === null) return [];
  const names = listChosenNames(choices);
  return listIssuesOfNames(services, { projectId, connectionId }, { ...choices, names });
}

/** Returns an issue for each name that the account lacks. */
export async function listIssuesOfNames(
  services: Waiter,
  { projectId, connectionId }: { projectId: string; connectionId: string },
  { content, names }: Pick<Choices, 'content'> & { names: readonly ChosenNames[] },
): Promise<Issue[]> {
  const key = { projectId, id: connectionId };
  const [connection] = await services.database.reads.find('Connection', key);
  const { module } = content;
  const catalog = await services.catalogs.getOfProject(projectId);
  const provider = connection && catalog.findWithModule(connection.provider, module);
  if (!connection || !provider || provider.name !== content.provider) return [];
  const namesToQuery = names.filter((chosen) => needsQuery(provider, chosen));
  if (namesToQuery.length === 0) return [];
  // A check that has not finished at the deadline leaves a hole, which `flat` skips.
  const issueLists: Issue[][] = [];
  const check = async (chosen: ChosenNames, index: number) => {
    issueLists[index] = await listCheckIssues(services, { connection, provider, module, chosen });
  };
  await waitForProvider(services, { projectId, connectionId }, () =>
    withDeadline(Promise.all(namesToQuery.map(check)), CHECK_TIMEOUT_MS, () => {}),
  );
  return issueLists.flat();
}

/** True if only the account can confirm the names. The catalog lists the objects of some providers. */
function needsQuery({ objects }: Provider, { objectName, fields }: ChosenNames): boolean {
  return objects === undefined || (objects.includes(objectName) && fields.length > 0);
}

interface Check {
  connection: Row<'Connection'>;
  provider: Provider;
  module: string | null;
  chosen: ChosenNames;
}

async function listCheckIssues(services: ProviderServices, check: Check): Promise<Issue[]> {
  const { chosen } = check;
  try {
    const existingNames = await fetchFieldNames(services, check);
    return existingNames ? listMissingFieldIssues(chosen, existingNames) : [];
  } catch (error) {
    if (!(error instanceof ProviderError)) {
      services.log.warn({ err: error, connectionId: check.connection.id }, 'account.check_failed');
      return [];
    }
    if (!REFUSALS.includes(error.kind)) return [];
    const detail = `names something that the account does not have. The provider says: ${error.message}`;
    return [createInputIssue(chosen.path, detail, chosen.objectName)];
  }
}

/**
 * Returns the names of the account's fields. If the provider does not report all of them, reads a record with the chosen
 * fields, which throws a ProviderError for a missing field, and returns null.
 */
async function fetchFieldNames(
  services: ProviderServices,
  { connection, provider, module, chosen: { objectName, fields } }: Check,
): Promise<string[] | null> {
  const { capabilities } = provider;
  if (capabilities.describeObject && supportsCapability(provider, objectName, 'METADATA')) {
    const description = await describeObject({ services, connection, module, objectName });
    if (description.isPartial) return null;
    return description.fields.map(({ fieldName }) => fieldName);
  }
  const sample = { objectName, fields: fields.map(({ name }) => name), pageSize: 1 };
  await capabilities.readPage?.(openProviderSession(services, connection, provider), sample);
  return null;
}

/** Returns an issue for each field that is not among the fields of the account's object. */
export function listMissingFieldIssues(
  { objectName, fields }: Pick<ChosenNames, 'objectName' | 'fields'>,
  accountFields: readonly string[],
): Issue[] {
  const existingNames = new Set(['id', ...accountFields.map(getTopLevelName)]);
  const detail = `is not a field of ${objectName} in the account.`;
  return fields.flatMap(({ name, path }) =>
    canExist(getTopLevelName(name), existingNames) ? [] : createInputIssue(path, detail, name),
  );
}

/** True for a field of the object, and for any dotted name: it follows relations, which no description includes. */
function canExist(name: string, existingNames: ReadonlySet<string>): boolean {
  return existingNames.has(name) || name.includes('.');
}

/**
 * Returns the top-level field of a path such as `$['address']['city']`, in lower case, because some providers ignore
 * case.
 */
function getTopLevelName(name: string): string {
  const [, inBrackets] = /^\$\['([^']*)'\]/.exec(name) ?? [];
  return (inBrackets ?? name).toLowerCase();
}

type Path = readonly PropertyKey[];

export interface ChosenNames {
  objectName: string;
  /** The path of the object's name in the input. */
  path: Path;
  /** Chosen fields that the integration does not name. */
  fields: { name: string; path: Path }[];
}

interface Choices {
  content: IntegrationContent;
  /** Null means everything in the integration. */
  config: ConfigChoices | null;
  /** The path of the config in the input, or of the member that determines it. */
  path: Path;
  /** True if the config is the stored one. All its names then have the path `path`. */
  isStored?: boolean;
}

/** Lists each chosen object once: a read object with its chosen fields, a write object without fields. */
function listChosenNames({ content, config, path, isStored = false }: Choices): ChosenNames[] {
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
    path: createPath(...getMappingPath(mapToName, choice)),
  }));
  const filteredFields = (choice.fieldFilters ?? []).map(({ fieldName }, index) => ({
    name: fieldName,
    path: createPath('fieldFilters', index, 'fieldName'),
  }));
  return [...selectedFields, ...mappedFields, ...filteredFields];
}

/** Returns the path of the field name in its mapping. A default has no mapping, so its path is the list of mappings. */
function getMappingPath(
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
