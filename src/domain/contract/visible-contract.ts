/** The contract behind a project's typed API, cached in the process. */
import { LRUCache } from 'lru-cache';
import type { Row } from '../../database/rows.ts';
import type { Call } from '../call.ts';
import { followStreamMessages } from '../event/stream/stream-subscription.ts';
import { listInstallationRecords } from '../operation/record-search.ts';
import { writeRecords } from '../operation/write-records.ts';
import { getProject, visibleWhere } from '../scope.ts';
import { authorize, meets, type Need } from '../viewer/needs.ts';
import type { Contract } from './object-contract.ts';
import { contractOfIntegrations, INTEGRATIONS_MAX, tooManyIntegrations } from './read-contract.ts';

/** The number of projects whose contract is known without the contents of their revisions. */
const PROJECTS_MAX = 10_000;
/** The time after which types that accounts have taught the gateway in the meantime appear in a typed API. */
const LEARNED_MS = 10_000;

const CONTRACTS = new LRUCache<string, Contract>({ max: PROJECTS_MAX, ttl: LEARNED_MS });

interface VisibleContract {
  project: Readonly<Row<'Project'>>;
  contract: Contract;
}

/** Callers with one of these needs see the schema: those of the contract and of the functions that fields call. */
const NEEDS: readonly Need[] = [
  'read',
  listInstallationRecords.needs,
  writeRecords.needs,
  followStreamMessages.needs,
];

/**
 * The project, and the contract of those of its integrations that the caller may use. A new revision is in force for the
 * next call. Throws FORBIDDEN if the caller may call no function of a typed API, NOT_FOUND if it may not see the project,
 * and UNPROCESSABLE if the project has too many integrations.
 */
export async function getVisibleContract(
  call: Call,
  projectIdOrName: string,
): Promise<VisibleContract> {
  const { viewer } = call;
  if (!NEEDS.some((need) => meets(viewer, need))) authorize(viewer, listInstallationRecords.needs);
  const project = await getProject(call, projectIdOrName);
  const integrations = await listVisibleIntegrations(call, project.id);
  if (integrations.length > INTEGRATIONS_MAX) throw tooManyIntegrations();
  const key = integrations.map(({ latestRevisionId }) => latestRevisionId).join();
  const cached = CONTRACTS.get(key);
  if (cached) return { project, contract: cached };
  const contract = await contractOfIntegrations(call, integrations);
  CONTRACTS.set(key, contract);
  return { project, contract };
}

/** The project's integrations that the caller may see, in the order of their ids. One more than INTEGRATIONS_MAX at most. */
export async function listVisibleIntegrations(
  { viewer, database }: Call,
  projectId: string,
): Promise<Row<'Integration'>[]> {
  const where = visibleWhere(viewer, 'Integration', { projectId });
  const range = { column: 'id', direction: 'asc', limit: INTEGRATIONS_MAX + 1 } as const;
  return where ? database.rows.page('Integration', where, range) : [];
}
