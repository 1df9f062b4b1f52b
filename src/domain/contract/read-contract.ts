/** Reads contracts: collects the stored data that they are derived from, and caches the results by its identity. */
import { LRUCache } from 'lru-cache';
import type { Row } from '../../database/rows.ts';
import { notFound, unprocessable } from '../../errors.ts';
import type { ObjectDescription } from '../../providers/contract.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import { configOf } from '../installation/installation-config.ts';
import { findContent, findContents } from '../integration/content-cache.ts';
import { describeObjects, type HydratedObject } from '../integration/hydrated-revision.ts';
import { contentOf, type IntegrationContent } from '../integration/integration-content.ts';
import { latestRevisions } from '../integration/revision.ts';
import { byId } from '../scope.ts';
import { orEndUser } from '../viewer/needs.ts';
import { findLearned, type Learned, NOTHING_LEARNED } from './learned-fields.ts';
import { type Contract, type ContractInput, contractOf } from './object-contract.ts';
import { projectContractOf } from './project-contract.ts';

/** The most characters of JSON in the cache: some dozens of contracts with thousands of fields each. */
const CHARACTERS_MAX = 32 * 1024 * 1024;
/** The most integrations in the contract of a project. Their contents are read for each request. */
const INTEGRATIONS_MAX = 1_000;

interface Cached {
  contract: Contract;
  characters: number;
}

const CONTRACTS = new LRUCache<string, Cached>({
  maxSize: CHARACTERS_MAX,
  sizeCalculation: ({ characters }) => characters,
});

/** Returns the contract of an input with this identity. Callers share it and must not change it. */
export function cachedContract(identity: readonly unknown[], derive: () => Contract): Contract {
  const key = JSON.stringify(identity);
  const cached = CONTRACTS.get(key);
  if (cached) return cached.contract;
  const contract = derive();
  CONTRACTS.set(key, { contract, characters: JSON.stringify(contract).length });
  return contract;
}

type Revision = Pick<Row<'Revision'>, 'id' | 'projectId' | 'content'>;

/** The contract that a builder's code compiles against. It reads no account. */
export const getRevisionContract = read(
  'read',
  async (call: Call, revision: Revision): Promise<Contract> => {
    const [contract] = await revisionContracts(call, revision.projectId, [revision]);
    if (!contract) throw new Error('Bug: a revision without a contract.');
    return contract;
  },
);

async function revisionContracts(
  { database, catalogue }: Call,
  projectId: string,
  revisions: readonly Revision[],
): Promise<Contract[]> {
  const contents = revisions.map(contentOf);
  const known = contents.flatMap((content) => {
    const provider = catalogue.find(content.provider);
    return provider ? { provider, content } : [];
  });
  const learned = known.length > 0 ? await findLearned(database, projectId, known) : [];
  const learnedOf = new Map(known.map(({ content }, index) => [content, learned[index]]));
  return revisions.map(({ id }, index) => {
    const content = contents[index] as IntegrationContent;
    const { fields, digest } = learnedOf.get(content) ?? NO_LEARNED;
    return cachedContract([id, digest], () =>
      contractOf({ ...sourceOf(catalogue, content), learned: fields }),
    );
  });
}

const NO_LEARNED: Learned = { fields: NOTHING_LEARNED, digest: '' };

function sourceOf(
  catalogue: Call['catalogue'],
  content: IntegrationContent,
): Pick<ContractInput, 'integration' | 'content' | 'provider'> {
  const provider = catalogue.findAt(content.provider, content.module);
  return { integration: content.name, content, provider };
}

/**
 * The contract of one customer. It reads the account's descriptions of its objects, which are cached for a minute. Objects
 * that can't be described keep the types of the revision.
 */
export const getInstallationContract = read(
  orEndUser('read'),
  async (call: Call, installation: Row<'Installation'>): Promise<Contract> => {
    const { projectId, integrationId, connectionId, configId } = installation;
    const [revision] = await latestRevisions(call, [integrationId]);
    const [connection] = await byId('Connection')(call, [connectionId]);
    const config = await findContent(call.database, 'InstallationConfig', {
      projectId,
      id: configId,
    });
    if (!revision || !connection || !config) throw notFound('Installation', installation.id);
    const content = contentOf(revision);
    const provider = call.catalogue.find(content.provider);
    const [learned = NO_LEARNED] = provider
      ? await findLearned(call.database, projectId, [{ provider, content }])
      : [];
    const descriptions = await describeObjects(call, connection, content);
    const identity = [revision.id, configId, learned.digest, [...descriptions].map(identityOf)];
    return cachedContract(identity, () =>
      contractOf({
        ...sourceOf(call.catalogue, content),
        learned: learned.fields,
        config: configOf(config),
        descriptions,
      }),
    );
  },
);

const DESCRIPTION_IDS = new WeakMap<ObjectDescription, number>();
let descriptionCount = 0;

/** Identifies a description in this process. The cache of descriptions returns the same object for a minute. */
function identityOf([name, description]: [string, HydratedObject]): unknown[] {
  if ('error' in description) return [name, description.error];
  const known = DESCRIPTION_IDS.get(description);
  if (known !== undefined) return [name, known];
  descriptionCount += 1;
  DESCRIPTION_IDS.set(description, descriptionCount);
  return [name, descriptionCount];
}

/** The contract of all integrations of a project. Throws UNPROCESSABLE if the project has too many of them. */
export const getProjectContract = read(
  'read',
  async (call: Call, { id: projectId }: Pick<Row<'Project'>, 'id'>): Promise<Contract> => {
    const integrations = await call.database.prisma.integration.findMany({
      where: { projectId },
      select: { latestRevisionId: true },
      orderBy: { id: 'asc' },
      take: INTEGRATIONS_MAX + 1,
    });
    if (integrations.length > INTEGRATIONS_MAX) {
      throw unprocessable(`A contract covers at most ${INTEGRATIONS_MAX} integrations.`);
    }
    const ids = integrations.map(({ latestRevisionId }) => latestRevisionId);
    const revisions = await findContents(call.database, 'Revision', { projectId, ids });
    const contracts = await revisionContracts(call, projectId, revisions);
    return cachedContract(
      contracts.map(({ hash }) => hash),
      () => projectContractOf(contracts),
    );
  },
);
