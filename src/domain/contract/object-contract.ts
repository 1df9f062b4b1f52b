/**
 * The contract of a revision, an installation or a project: its objects and fields under the builder's names, with the
 * operations and types that callers can rely on. Contracts are derived from stored data alone.
 */
import { createHash } from 'node:crypto';
import {
  type ObjectDescription,
  type Provider,
  type ProviderCapability,
  supportsFor,
} from '../../providers/contract.ts';
import { isReadByIds, searchFiltersMax } from '../../providers/object-support.ts';
import type { ConfigContent } from '../installation/installation-config.ts';
import type {
  IntegrationContent,
  ReadObject,
  WriteObject,
} from '../integration/integration-content.ts';
import { recordKinds, withChoice } from '../provider-event/event-kinds.ts';
import { type FieldContract, fieldsOf } from './contract-fields.ts';
import { nameClashes } from './formats/safe-names.ts';
import type { LearnedFields } from './learned-fields.ts';

export { FIELD_ORIGINS, type FieldContract } from './contract-fields.ts';

export const CONTRACT_VERBS = [
  'LIST',
  'SEARCH',
  'READ_BY_ID',
  'CREATE',
  'UPDATE',
  'DELETE',
  'SUBSCRIBE',
] as const;
export type ContractVerb = (typeof CONTRACT_VERBS)[number];

export const CONTRACT_FINDINGS = ['TYPE_CONFLICT', 'NAME_CLASH', 'NOT_DESCRIBED'] as const;

export interface Contract {
  /** Equal for contracts with the same objects and findings. */
  hash: string;
  objects: ObjectContract[];
  findings: ContractFinding[];
}

export interface ObjectContract {
  /** The builder's name, or the provider's if the integration maps none. */
  name: string;
  displayName: string | null;
  /** The integrations that have the object. The contract of a project may have several. */
  sources: ContractSource[];
  /** The operations on records. In a project, at least one source supports each verb. */
  verbs: ContractVerb[];
  filterable: Filterable;
  /** True if writes may name further fields of the provider. */
  acceptsOtherFields: boolean;
  fields: FieldContract[];
}

export interface ContractSource {
  integration: string;
  provider: string;
  /** The provider's name of the object. */
  providerObject: string;
}

export interface Filterable {
  /** The names of the fields that a search may name. */
  fields: string[];
  /** The most conditions of one search. */
  conditionsMax: number;
}

/** A reason why the contract is less exact than it could be. */
export interface ContractFinding {
  kind: (typeof CONTRACT_FINDINGS)[number];
  object: string;
  field: string | null;
  message: string;
}

export interface ContractInput {
  /** The name of the integration. */
  integration: string;
  content: IntegrationContent;
  /** The provider as the integration's module uses it. Null if it is no longer in the catalogue. */
  provider: Provider | null;
  learned: LearnedFields;
  /** The config of an installation. Absent for the contract of a revision. */
  config?: ConfigContent | undefined;
  /** The account's descriptions by the provider's names of objects, or the reasons why there are none. */
  descriptions?: ReadonlyMap<string, ObjectDescription | { error: string }> | undefined;
}

/** The contract of a revision, or of an installation if the input has a config. */
export function contractOf(input: ContractInput): Contract {
  const objects = [...objectSpecs(input.content)].flatMap(([providerObject, specs]) => {
    const object = objectContract(input, { providerObject, ...specs });
    return object.verbs.length > 0 ? object : [];
  });
  const names = new Map(
    objects.map(({ name, sources }) => [sources[0]?.providerObject ?? name, name]),
  );
  for (const { fields } of objects) {
    for (const field of fields) {
      field.references = field.references?.map((target) => names.get(target) ?? target) ?? null;
    }
  }
  const undescribed = objects.flatMap(({ name, sources: [source] }): ContractFinding[] => {
    const description = input.descriptions?.get(source?.providerObject ?? name);
    if (!description || !('error' in description)) return [];
    return [{ kind: 'NOT_DESCRIBED', object: name, field: null, message: description.error }];
  });
  return withHash(objects, undescribed);
}

/** Completes a contract with findings about its names, and with its hash. */
export function withHash(objects: ObjectContract[], others: readonly ContractFinding[]): Contract {
  const findings = [...others, ...nameClashes(objects)];
  const text = JSON.stringify([objects, findings]);
  const hash = createHash('sha256').update(text).digest('base64url');
  return { hash, objects, findings };
}

/** An object of a revision: what it reads and writes of it. */
export interface ObjectSpecs {
  /** The provider's name of the object. */
  providerObject: string;
  read: ReadObject | null;
  write: WriteObject | null;
}

function objectSpecs({ read, write }: IntegrationContent) {
  const specs = new Map<string, Pick<ObjectSpecs, 'read' | 'write'>>();
  for (const spec of read?.objects ?? []) specs.set(spec.objectName, { read: spec, write: null });
  for (const spec of write?.objects ?? []) {
    specs.set(spec.objectName, { read: specs.get(spec.objectName)?.read ?? null, write: spec });
  }
  return specs;
}

function objectContract(input: ContractInput, specs: ObjectSpecs): ObjectContract {
  const { integration, content, provider, config, descriptions } = input;
  const { providerObject } = specs;
  const choice = config?.read.find(({ objectName }) => objectName === providerObject);
  const read = config && (!choice || choice.disabled) ? null : specs.read;
  const write = config && !writeChoice(config, providerObject) ? null : specs.write;
  const verbs = verbsOf(input, { providerObject, read, write });
  const described = descriptions?.get(providerObject);
  const description = described && !('error' in described) ? described : null;
  const common = provider?.commonObjects?.find(({ name }) => name === providerObject);
  const { fields, acceptsOtherFields } = fieldsOf(
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
      declared: common?.fields ?? [],
      learned: input.learned.get(providerObject) ?? new Map(),
    },
  );
  const conditions = choice?.fieldFilters?.length ?? 0;
  const isSearchable = (name: string) => common?.searchableNames?.test(name) ?? true;
  const searchable = fields.filter(
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
      fields: hasSearch ? searchable.map(({ name }) => name) : [],
      conditionsMax:
        hasSearch && provider ? searchFiltersMax(provider, providerObject) - conditions : 0,
    },
    acceptsOtherFields,
    fields,
  };
}

function isWrite(verb: ContractVerb): boolean {
  return verb === 'CREATE' || verb === 'UPDATE';
}

function writeChoice(config: ConfigContent, providerObject: string) {
  return config.write.find(({ objectName }) => objectName === providerObject) ?? null;
}

/** The verbs that the integration allows, the installation chose, and the provider supports. */
function verbsOf(
  input: ContractInput,
  { providerObject, read, write }: ObjectSpecs,
): ContractVerb[] {
  const { provider, config } = input;
  if (!provider) return [];
  const can = (capability: ProviderCapability) => supportsFor(provider, providerObject, capability);
  const conditions =
    config?.read.find(({ objectName }) => objectName === providerObject)?.fieldFilters?.length ?? 0;
  const isRead = read !== null && can('READ');
  const isWritten = write !== null && can('WRITE');
  const writes = provider.commonObjects?.find(({ name }) => name === providerObject)?.writes;
  const deletes = !config || writeChoice(config, providerObject)?.deletionEnabled === true;
  const allowed: Record<ContractVerb, boolean> = {
    LIST: isRead,
    SEARCH: isRead && searchFiltersMax(provider, providerObject) > conditions,
    READ_BY_ID: isRead && isReadByIds(provider, providerObject),
    CREATE: isWritten && (writes?.includes('CREATE') ?? true),
    UPDATE: isWritten && (writes?.includes('UPDATE') ?? true),
    DELETE: write !== null && can('DELETE') && deletes,
    SUBSCRIBE: isRead && isFollowed(input, providerObject),
  };
  return CONTRACT_VERBS.filter((verb) => allowed[verb]);
}

/** True if the installation gets events about records, or can get them in the case of a revision. */
function isFollowed(
  { content: { subscribe }, provider, config }: ContractInput,
  providerObject: string,
): boolean {
  const spec = subscribe?.objects.find(({ objectName }) => objectName === providerObject);
  const capability = provider?.capabilities.subscribe;
  if (!spec || !capability) return false;
  const choice = config?.subscribe?.find(({ objectName }) => objectName === providerObject);
  const supported = capability.kindsOf?.(providerObject) ?? capability.kinds;
  return recordKinds(choice ? withChoice(spec, choice) : spec).some((kind) =>
    supported.includes(kind),
  );
}
