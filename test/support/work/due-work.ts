/** Claims and runs due rows of background work without its workers. */
import type { Services } from '../../../src/domain/access/call.ts';
import type { LeasedWork } from '../../../src/jobs/leased-work.ts';
import { limitToShardGroup } from '../../../src/jobs/run-work.ts';

/** Claims rows that are due, of one project or of all projects. */
export function claimDueRows<R extends object>(
  services: Services,
  work: LeasedWork<R, Services>,
  projectId?: string,
): Promise<R[]> {
  const capacity = { free: work.perProcess, freeByShare: new Map<string, number>() };
  if (projectId === undefined) return work.claim(services, capacity);
  const projectIds = () => [projectId];
  const shardGroup = { name: projectId, projectIds, splitIntoParts: () => [[projectId]] };
  return work.claim(limitToShardGroup(services, shardGroup), capacity);
}

/** Claims the row that is due in the project. Throws an error if there is none. */
export async function claimDueRow<R extends object>(
  services: Services,
  work: LeasedWork<R, Services>,
  projectId: string,
): Promise<R> {
  const [row] = await claimDueRows(services, work, projectId);
  if (!row) throw new Error(`No row of the kind ${work.kind} is due.`);
  return row;
}

/** Claims rows that are due, and runs each once. Returns the results. */
export async function runDueRows<R extends object>(
  services: Services,
  work: LeasedWork<R, Services>,
  {
    projectId,
    signal = new AbortController().signal,
  }: { projectId?: string; signal?: AbortSignal } = {},
): Promise<unknown[]> {
  const rows = await claimDueRows(services, work, projectId);
  return Promise.all(
    rows.map(async (row) => {
      using _lease = work.hold(services, row, () => {});
      return await work.run(services, row, signal);
    }),
  );
}

/** Runs due rows until none is left. */
export async function runAllDueRows<R extends object>(
  services: Services,
  work: LeasedWork<R, Services>,
): Promise<void> {
  while ((await runDueRows(services, work)).length > 0);
}
