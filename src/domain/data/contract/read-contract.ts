/** Reads contracts: collects the data from which they are derived, and caches them by the identity of this data. */

import { LRUCache } from 'lru-cache';
import type { Row } from '../../../database/statements/tables.ts';
import { DomainError, unprocessable } from '../../../kernel/errors.ts';
import type { ObjectDescription } from '../../../providers/contract.ts';
import type { Call, ProviderServices } from '../../access/call.ts';
import type { Catalog } from '../../access/catalog.ts';
import { read } from '../../access/declared-read.ts';
import { byId } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { readConfigContent } from '../../integrations/installation/installation-config.ts';
import { findContent } from '../../integrations/integration/content-cache.ts';
import {
  describeObjects,
  type HydratedObject,
} from '../../integrations/integration/hydrated-revision.ts';
import {
  type IntegrationContent,
  readIntegrationContent,
} from '../../integrations/integration/integration-content.ts';
import { loadLatestRevisions } from '../../integrations/integration/revision.ts';
import type { Contract } from './contract-resource.ts';
import { loadLearnedTypes, type ManifestTypes } from './learned-fields.ts';
import { type ContractInput, createContract } from './object-contract.ts';
import { createProjectContract } from './project-contract.ts';

/** The maximum size of the cache, in characters of JSON: some dozens of contracts with thousands of fields each. */
const CHARACTERS_MAX = 32 * 1024 * 1024;
/** The maximum number of integrations in a contract. Their contents are read for each request. */
export const INTEGRATIONS_MAX = 1_000;

interface CachedContract {
  contract: Contract;
  characters: number;
}

const CONTRACTS = new LRUCache<string, CachedContract>({
  maxSize: CHARACTERS_MAX,
  sizeCalculation: ({ characters }) => characters,
});

/** Returns the cached contract with this identity, or derives it. Callers share it and must not change it. */
export function getCachedContract(identity: readonly unknown[], derive: () => Contract): Contract {
  const key = JSON.stringify(identity);
  const cachedContract = CONTRACTS.get(key);
  if (cachedContract) return cachedContract.contract;
  const contract = derive();
  CONTRACTS.set(key, { contract, characters: JSON.stringify(contract).length });
  return contract;
}

type Revision = Pick<Row<'Revision'>, 'id' | 'projectId' | 'content'>;

/** Lists the contracts from which builders generate code. It sends no request to an account. */
export const listRevisionContracts = read(
  'read',
  'The contract that all installations of the revision share. It needs no request to the provider.',
  deriveContracts,
);

async function deriveContracts(call: Call, revisions: readonly Revision[]): Promise<Contract[]> {
  const sources = revisions.map((revision) => ({
    revisionId: revision.id,
    projectId: revision.projectId,
    content: readIntegrationContent(revision),
  }));
  const typedSources = await addLearnedTypes(call, sources);
  return typedSources.map(({ revisionId, learnedTypes: { fields, digest }, ...source }) =>
    getCachedContract([revisionId, digest, toProviderIdentity(source)], () =>
      createContract({ ...toContractSource(source), learnedFields: fields }),
    ),
  );
}

interface ContentSource {
  projectId: string;
  content: IntegrationContent;
}

interface TypedSource {
  /** The catalog of the source's project. */
  catalog: Catalog;
  learnedTypes: ManifestTypes;
}

/**
 * Adds the catalog of its project, if it has none, and the types that accounts have described to each source. One
 * statement reads the types of all sources.
 */
async function addLearnedTypes<S extends ContentSource>(
  { database, catalogs }: ProviderServices,
  sources: readonly (S & { catalog?: Catalog })[],
): Promise<(S & TypedSource)[]> {
  const sourcesInProject = await Promise.all(
    sources.map(async (source) => ({
      ...source,
      catalog: source.catalog ?? (await catalogs.getOfProject(source.projectId)),
    })),
  );
  const types = await loadLearnedTypes(
    database,
    sourcesInProject.map(({ projectId, content, catalog }) => {
      return { projectId, provider: catalog.find(content.provider), content };
    }),
  );
  return sourcesInProject.map((source, index) => ({
    ...source,
    learnedTypes: types[index] as ManifestTypes,
  }));
}

function toContractSource({
  catalog,
  content,
}: Pick<TypedSource, 'catalog'> & Pick<ContentSource, 'content'>): Pick<
  ContractInput,
  'integration' | 'content' | 'provider'
> {
  const provider = catalog.findWithModule(content.provider, content.module);
  return { integration: content.name, content, provider };
}

/**
 * Lists the contracts of installations. Descriptions of accounts are cached for a minute. Objects that can't be described
 * have the types of the revision. A contract is null if the installation was deleted in the meantime.
 */
export const listInstallationContracts = read(
  orEndUser('read'),
  "The contract of the customer's account. The provider describes its objects at most once a minute.",
  async (
    call: Call,
    installations: readonly Row<'Installation'>[],
  ): Promise<(Contract | null)[]> => {
    const [revisions, connections, configs] = await Promise.all([
      loadLatestRevisions(
        call,
        installations.map(({ integrationId }) => integrationId),
      ),
      byId('Connection')(
        call,
        installations.map(({ connectionId }) => connectionId),
      ),
      byId('InstallationConfig')(
        call,
        installations.map(({ configId }) => configId),
      ),
    ]);
    const sources = installations.flatMap((installation, index) => {
      const [revision, connection, config] = [revisions[index], connections[index], configs[index]];
      if (!revision || !connection || !config) return [];
      const { projectId } = installation;
      const content = readIntegrationContent(revision);
      return { installation, projectId, revision, connection, config, content };
    });
    const contractsByInstallation = new Map<Row<'Installation'>, Contract>();
    const queue = (await addLearnedTypes(call, sources)).values();
    const worker = async () => {
      for (const source of queue) {
        const contract = await readInstallationContract(call, source);
        contractsByInstallation.set(source.installation, contract);
      }
    };
    // Each contract counts as a request that waits for a provider. Half of the limit is left to the caller's other requests.
    const concurrencyMax = Math.ceil(call.config.LIMIT_CALLER_PROVIDER_REQUESTS / 2);
    const workers = { length: Math.min(concurrencyMax, sources.length) };
    await Promise.all(Array.from(workers, worker));
    return installations.map((installation) => contractsByInstallation.get(installation) ?? null);
  },
);

interface InstallationSource extends TypedSource {
  revision: Row<'Revision'>;
  connection: Row<'Connection'>;
  config: Row<'InstallationConfig'>;
  content: IntegrationContent;
}

async function readInstallationContract(
  call: Call,
  { revision, connection, config, content, catalog, learnedTypes }: InstallationSource,
): Promise<Contract> {
  const descriptions = await describeObjects(call, connection, content);
  const identity = [
    revision.id,
    config.id,
    learnedTypes.digest,
    toProviderIdentity({ catalog, content }),
    [...descriptions].map(toDescriptionIdentity),
  ];
  return getCachedContract(identity, () =>
    createContract({
      ...toContractSource({ catalog, content }),
      learnedFields: learnedTypes.fields,
      config: readConfigContent(config),
      descriptions,
    }),
  );
}

/** Identifies the version of a custom provider, whose document may change between two contracts of a revision. */
function toProviderIdentity({
  catalog,
  content,
}: Pick<TypedSource, 'catalog'> & Pick<ContentSource, 'content'>): string | null {
  return catalog.find(content.provider)?.document?.revision ?? null;
}

const DESCRIPTION_IDS = new WeakMap<ObjectDescription, number>();
let descriptionCount = 0;

/** Identifies a description in this process. The cache of descriptions returns the same object as long as it is cached. */
function toDescriptionIdentity([name, description]: [string, HydratedObject]): unknown[] {
  if ('error' in description) return [name, description.error];
  const existingId = DESCRIPTION_IDS.get(description);
  if (existingId !== undefined) return [name, existingId];
  descriptionCount += 1;
  DESCRIPTION_IDS.set(description, descriptionCount);
  return [name, descriptionCount];
}

type Project = Pick<Row<'Project'>, 'id'>;

/** Lists the contracts of projects. For a project with too many integrations, returns an UNPROCESSABLE error. */
export const listProjectContracts = read(
  'read',
  'The contracts of the latest revisions of all integrations, merged by object name. It needs no request to a provider.',
  async (call: Call, projects: readonly Project[]): Promise<(Contract | DomainError)[]> => {
    const where = { projectId: { in: projects.map(({ id }) => id) } };
    const counts = await call.database.prisma.integration.groupBy({
      by: ['projectId'],
      where,
      _count: true,
    });
    const oversizedIds = new Set<string>();
    const projectIds: string[] = [];
    for (const { projectId, _count: count } of counts) {
      if (count > INTEGRATIONS_MAX) oversizedIds.add(projectId);
      else projectIds.push(projectId);
    }
    const integrations =
      projectIds.length === 0
        ? []
        : await call.database.prisma.integration.findMany({
            where: { projectId: { in: projectIds } },
            select: { latestRevisionId: true },
            orderBy: { id: 'asc' },
          });
    const latestRevisions = await byId('Revision')(
      call,
      integrations.map(({ latestRevisionId }) => latestRevisionId),
    );
    const revisions = latestRevisions.filter((revision) => revision !== null);
    const contracts = await listRevisionContracts(call, revisions);
    const contractsByProject = Map.groupBy(contracts, (_, index) => revisions[index]?.projectId);
    return projects.map(({ id }) =>
      oversizedIds.has(id)
        ? createTooManyIntegrationsError()
        : mergeContracts(contractsByProject.get(id) ?? []),
    );
  },
);

/** Merges contracts by the names of objects. The result is cached. */
export function mergeContracts(contracts: readonly Contract[]): Contract {
  const identity = contracts.map(({ hash }) => hash);
  return getCachedContract(identity, () => createProjectContract(contracts));
}

export function createTooManyIntegrationsError(): DomainError {
  return unprocessable(`A contract covers at most ${INTEGRATIONS_MAX} integrations.`);
}

/** Returns the merged contract of a project's integrations. The caller must check that the viewer may use them. */
export async function readIntegrationsContract(
  call: Call,
  integrations: readonly Row<'Integration'>[],
): Promise<Contract> {
  const contents = await Promise.all(
    integrations.map(({ projectId, latestRevisionId: id }) =>
      findContent(call.database, 'Revision', { projectId, id }),
    ),
  );
  const revisions = contents.filter((revision) => revision !== null);
  return mergeContracts(await deriveContracts(call, revisions));
}

/**
 * Returns the contract that a project would have with each of these lists of contents. All contracts use the same learned
 * types. They are not cached.
 */
export async function createContractsOfContents(
  call: Call,
  projectId: string,
  lists: readonly { contents: readonly IntegrationContent[]; catalog: Catalog }[],
): Promise<Contract[]> {
  const sources = lists.flatMap(({ contents, catalog }, listIndex) =>
    contents.map((content) => ({ projectId, content, catalog, listIndex })),
  );
  const typedSources = await addLearnedTypes(call, sources);
  const sourcesByList = Map.groupBy(typedSources, ({ listIndex }) => listIndex);
  return lists.map((_, listIndex) =>
    createProjectContract(
      (sourcesByList.get(listIndex) ?? []).map(({ learnedTypes: { fields }, ...source }) =>
        createContract({ ...toContractSource(source), learnedFields: fields }),
      ),
    ),
  );
}

/** Throws UNPROCESSABLE if the project has too many integrations. */
export const getProjectContract = read(
  'read',
  'Gets the contract of a project.',
  async (call: Call, project: Project): Promise<Contract> => {
    const [contract] = await listProjectContracts(call, [project]);
    if (!contract || contract instanceof DomainError) throw contract;
    return contract;
  },
);
