/** Reads the contract of a project's typed API, which each process caches. */
import { LRUCache } from 'lru-cache';
import type { Row } from '../../../database/statements/tables.ts';
import type { Call, RowCall } from '../../access/call.ts';
import { getProject, narrowToVisible } from '../../access/scope.ts';
import { authorize, meetsNeed, type Need } from '../../access/viewer/needs.ts';
import { followStreamMessages } from '../../events/stream/stream-subscription.ts';
import { listInstallationRecords } from '../operation/record-search.ts';
import { writeRecords } from '../operation/write-records.ts';
import type { Contract } from './contract-resource.ts';
import {
  createTooManyIntegrationsError,
  INTEGRATIONS_MAX,
  readIntegrationsContract,
} from './read-contract.ts';

/** The maximum number of cached contracts. For a cached contract, the contents of revisions are not read. */
const CONTRACTS_MAX = 10_000;
/** How long a contract is cached. Newly learned types appear in a typed API after this time. */
const CACHE_MS = 10_000;

const CONTRACTS = new LRUCache<string, Contract>({ max: CONTRACTS_MAX, ttl: CACHE_MS });

interface VisibleContract {
  project: Readonly<Row<'Project'>>;
  contract: Contract;
}

/** The schema is visible to callers who may read contracts, or use an operation of the typed API. */
const NEEDS: readonly Need[] = [
  'read',
  listInstallationRecords.needs,
  writeRecords.needs,
  followStreamMessages.needs,
];

/**
 * Returns the project, and the contract of its integrations that the viewer may use. A new revision is used immediately.
 * Throws FORBIDDEN if the viewer may not use a typed API, NOT_FOUND if it may not see the project, and UNPROCESSABLE if
 * the project has too many integrations.
 */
export async function getVisibleContract(
  call: Call,
  projectIdOrName: string,
): Promise<VisibleContract> {
  const { viewer } = call;
  if (!NEEDS.some((need) => meetsNeed(viewer, need)))
    authorize(viewer, listInstallationRecords.needs);
  const project = await getProject(call, projectIdOrName);
  const integrations = await listVisibleIntegrations(call, project.id);
  const key = integrations.map(({ latestRevisionId }) => latestRevisionId).join();
  const cachedContract = CONTRACTS.get(key);
  if (cachedContract) return { project, contract: cachedContract };
  const contract = await readIntegrationsContract(call, integrations);
  CONTRACTS.set(key, contract);
  return { project, contract };
}

/**
 * Lists all integrations of the project that the viewer may see, in the order of their ids. Throws UNPROCESSABLE if there
 * are too many for a contract.
 */
export async function listVisibleIntegrations(
  { viewer, database }: RowCall,
  projectId: string,
): Promise<Row<'Integration'>[]> {
  const where = narrowToVisible(viewer, 'Integration', { projectId });
  const range = { column: 'id', direction: 'asc', limit: INTEGRATIONS_MAX + 1 } as const;
  if (!where) return [];
  const integrations = await database.reads.page('Integration', where, range);
  if (integrations.length > INTEGRATIONS_MAX) throw createTooManyIntegrationsError();
  return integrations;
}
