/**
 * Derives the contract of a revision or an installation: its objects and fields under the builder's names, with the
 * operations and types on which callers can rely. A contract is derived from stored data and from descriptions of the
 * account, without a request.
 */
import { hash } from 'node:crypto';
import {
  type ObjectDescription,
  type Provider,
  type ProviderCapability,
  supportsCapability,
} from '../../../providers/contract.ts';
import { canReadByIds, getFiltersMax } from '../../../providers/object-support.ts';
import type { ConfigContent } from '../../integrations/installation/installation-config.ts';
import type {
  IntegrationContent,
  ReadObject,
  WriteObject,
} from '../../integrations/integration/integration-content.ts';
import { applyConfig, listRecordKinds } from '../provider-event/event-kinds.ts';
import { listFields } from './contract-fields.ts';
import {
  CONTRACT_VERBS,
  type Contract,
  type ContractFinding,
  type ContractVerb,
  type ObjectContract,
} from './contract-resource.ts';
import { listNameClashes } from './formats/safe-names.ts';
import type { LearnedFields } from './learned-fields.ts';

export interface ContractInput {
  /** The name of the integration. */
  integration: string;
  content: IntegrationContent;
  /** The provider as the integration's module uses it. Null if it is no longer in the catalog. */
  provider: Provider | null;
  learnedFields: LearnedFields;
  /** The config of an installation. Absent for the contract of a revision. */
  config?: ConfigContent | undefined;
  /** The account's descriptions by the provider's object names, or the reasons why there are none. */
  descriptions?: ReadonlyMap<string, ObjectDescription | { error: string }> | undefined;
}

/** Derives the contract of an installation if the input has a config, and of a revision otherwise. */
export function createContract(input: ContractInput): Contract {
  const objects = [...indexObjectSpecs(input.content)].flatMap(([providerObject, specs]) => {
    const object = createObjectContract(input, { providerObject, ...specs });
    return object.verbs.length > 0 ? object : [];
  });
  const namesByProviderObject = new Map(
    objects.map(({ name, sources }) => [sources[0]?.providerObject ?? name, name]),
  );
  for (const { fields } of objects) {
    for (const field of fields) {
      const names = field.references?.map((target) => namesByProviderObject.get(target) ?? target);
      field.references = names ?? null;
    }
  }
  const descriptionFindings = objects.flatMap(({ name, sources: [source] }): ContractFinding[] => {
    const description = input.descriptions?.get(source?.providerObject ?? name);
    if (!description || !('error' in description)) return [];
    return [{ kind: 'NOT_DESCRIBED', object: name, field: null, message: description.error }];
  });
  return createHashedContract(objects, descriptionFindings);
}

/** Creates a contract with its hash. Adds findings about its names. */
export function createHashedContract(
  objects: ObjectContract[],
  otherFindings: readonly ContractFinding[],
): Contract {
  const findings = [...otherFindings, ...listNameClashes(objects)];
  const text = JSON.stringify([objects, findings]);
  return { hash: hash('sha256', text, 'base64url'), objects, findings };
}

/** The read object and the write object by which a revision uses an object of the provider. */
interface ObjectSpecs {
  /** The provider's name of the object. */
  providerObject: string;
  read: ReadObject | null;
  write: WriteObject | null;
}

function indexObjectSpecs({ read, write }: IntegrationContent) {
  const specs = new Map<string, Pick<ObjectSpecs, 'read' | 'write'>>();
  for (const spec of read?.objects ?? []) specs.set(spec.objectName, { read: spec, write: null });
  for (const spec of write?.objects ?? []) {
    specs.set(spec.objectName, { read: specs.get(spec.objectName)?.read ?? null, write: spec });
  }
  return specs;
}

function createObjectContract(input: ContractInput, specs: ObjectSpecs): ObjectContract {
  const { integration, content, provider, config, descriptions } = input;
  const { providerObject } = specs;
  const readConfig = config?.read.find(({ objectName }) => objectName === providerObject);
  const read = config && (!readConfig || readConfig.disabled) ? null : specs.read;
  const write = config && !findWriteConfig(config, providerObject) ? null : specs.write;
  const verbs = listVerbs(input, { providerObject, read, write });
  const descriptionResult = descriptions?.get(providerObject);
  const description =
    descriptionResult && !('error' in descriptionResult) ? descriptionResult : null;
  const commonObject = provider?.commonObjects?.find(({ name }) => name === providerObject);
  const { fields, acceptsOtherFields } = listFields(
    {
      objectName: providerObject,
      content,
      config,
      read: verbs.includes('LIST') ? read : null,
      write: verbs.some(isWrite) ? write : null,
      canCreate: verbs.includes('CREATE'),
    },
    {
      description,
      declaredFields: commonObject?.fields ?? [],
      learnedFields: input.learnedFields.get(providerObject) ?? new Map(),
    },
  );
  const isSearchable = (name: string) => commonObject?.isSearchable?.(name) ?? true;
  const searchableFields = fields.filter(
    ({ isWriteOnly, providerField }) =>
      !isWriteOnly && (providerField === null || isSearchable(providerField)),
  );
  const hasSearch = verbs.includes('SEARCH');
  return {
    name: specs.read?.mapToName ?? providerObject,
    displayName: specs.read?.mapToDisplayName ?? description?.displayName ?? null,
    sources: [{ integration, provider: content.provider, providerObject }],
    verbs,
    filterable: {
      fields: hasSearch ? searchableFields.map(({ name }) => name) : [],
      conditionsMax:
        hasSearch && provider ? countFreeConditions(provider, config, providerObject) : 0,
    },
    acceptsOtherFields,
    fields,
  };
}

/** Returns the provider's name of an object, by its name in contracts. Null if the content has no such object. */
export function findProviderObject(
  { read, write }: Pick<IntegrationContent, 'read' | 'write'>,
  name: string,
): string | null {
  const mappedObject = read?.objects.find(
    ({ mapToName, objectName }) => (mapToName ?? objectName) === name,
  );
  if (mappedObject) return mappedObject.objectName;
  // An object that is read too has the name of its read object.
  const isRead = read?.objects.some(({ objectName }) => objectName === name) ?? false;
  const isWritten = write?.objects.some(({ objectName }) => objectName === name) ?? false;
  return isWritten && !isRead ? name : null;
}

function isWrite(verb: ContractVerb): boolean {
  return verb === 'CREATE' || verb === 'UPDATE';
}

/** Returns how many conditions a search may have in addition to the conditions of the config. */
function countFreeConditions(
  provider: Provider,
  config: ConfigContent | undefined,
  providerObject: string,
): number {
  const readConfig = config?.read.find(({ objectName }) => objectName === providerObject);
  return getFiltersMax(provider, providerObject) - (readConfig?.fieldFilters?.length ?? 0);
}

function findWriteConfig(config: ConfigContent, providerObject: string) {
  return config.write.find(({ objectName }) => objectName === providerObject) ?? null;
}

/** Lists the verbs that the integration allows, the config enables, and the provider supports. */
function listVerbs(
  input: ContractInput,
  { providerObject, read, write }: ObjectSpecs,
): ContractVerb[] {
  const { provider, config } = input;
  if (!provider) return [];
  const supports = (capability: ProviderCapability) =>
    supportsCapability(provider, providerObject, capability);
  const isRead = read !== null && supports('READ');
  const isWritten = write !== null && supports('WRITE');
  const writeTypes = provider.commonObjects?.find(({ name }) => name === providerObject)?.writes;
  const isDeletionEnabled =
    !config || findWriteConfig(config, providerObject)?.deletionEnabled === true;
  const isAllowed: Record<ContractVerb, boolean> = {
    LIST: isRead,
    SEARCH: isRead && countFreeConditions(provider, config, providerObject) > 0,
    READ_BY_ID: isRead && canReadByIds(provider, providerObject),
    CREATE: isWritten && (writeTypes?.includes('CREATE') ?? true),
    UPDATE: isWritten && (writeTypes?.includes('UPDATE') ?? true),
    DELETE: write !== null && supports('DELETE') && isDeletionEnabled,
    SUBSCRIBE: isRead && getsRecordEvents(input, providerObject),
  };
  return CONTRACT_VERBS.filter((verb) => isAllowed[verb]);
}

/** True if the config subscribes to events about records. Without a config, true if a config can. */
function getsRecordEvents(
  { content: { subscribe }, provider, config }: ContractInput,
  providerObject: string,
): boolean {
  const spec = subscribe?.objects.find(({ objectName }) => objectName === providerObject);
  const capability = provider?.capabilities.subscribe;
  if (!spec || !capability) return false;
  const subscribeConfig = config?.subscribe?.find(
    ({ objectName }) => objectName === providerObject,
  );
  const supportedKinds = capability.listKinds?.(providerObject) ?? capability.kinds;
  const effectiveSpec = subscribeConfig ? applyConfig(spec, subscribeConfig) : spec;
  return listRecordKinds(effectiveSpec).some((kind) => supportedKinds.includes(kind));
}
