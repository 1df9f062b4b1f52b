/** Claims due deliveries of the outbox and prepares them for sending. */
import { newLeaseToken } from '../database/leases/lease.ts';
import type { Database } from '../database/open/database.ts';
import type { Log } from '../kernel/log.ts';
import type { Vault } from '../kernel/secrets.ts';
import { createMask } from '../work/secret-mask.ts';
import type { Backlog } from './backlog.ts';
import type { DeliveryLimits } from './limits.ts';
import {
  type ClaimedDelivery,
  type ClaimedRow,
  claimDueDeliveries,
  type DeliveryTarget,
  type DestinationKey,
  listProjectsWithDueDeliveries,
  type ProjectIds,
} from './outbox.ts';
import { createSigningKey } from './sign.ts';
import { openSigningSecrets } from './signing-secret.ts';
import { listTargetSecrets, openTarget } from './target-secrets.ts';

export interface DeliveryClaim {
  deliveries: ClaimedDelivery[];
  /** True if no due deliveries are left. */
  isComplete: boolean;
  /** True if the next claim concerns other projects. */
  hasNextTurn: boolean;
  /** True if due deliveries were skipped because a limit of their project or destination, or of memory, is reached. */
  isSaturated: boolean;
}

interface ClaimerServices {
  database: Pick<Database, 'run' | 'processes' | 'shardGroup'>;
  vault: Vault;
  log: Log;
  now: () => Date;
  limits: DeliveryLimits;
}

const EMPTY_CLAIM: DeliveryClaim = {
  deliveries: [],
  isComplete: true,
  hasNextTurn: false,
  isSaturated: false,
};

interface ClaimTurn {
  projectIds: ProjectIds;
  /** Projects up to this id have had their turn. */
  afterProjectId: string;
}

/**
 * Claims deliveries of the projects in rotation, and of the destinations of each project in rotation. A claim continues
 * after the last project of the previous claim. A project whose due deliveries were not all claimed continues after its
 * last destination. In a shard group, a query first finds the projects with due deliveries, and each claim takes
 * projects that one statement may change together.
 */
export class Claimer {
  readonly #deps: ClaimerServices;
  #turns: ClaimTurn[] = [];
  /** The last destination that had its turn, for projects that did not get all of their due deliveries. */
  readonly #lastDestinationByProject = new Map<string, string>();

  constructor(deps: ClaimerServices) {
    this.#deps = deps;
  }

  async claim(backlog: Backlog): Promise<DeliveryClaim> {
    const { database, limits, now } = this.#deps;
    const rows = Math.min(limits.claimRows, limits.heldRows - backlog.heldRows);
    const bytes = limits.heldBytes - backlog.heldBytes;
    if (rows <= 0 || bytes <= 0) return { ...EMPTY_CLAIM, isSaturated: true };
    if (this.#turns.length === 0) this.#turns = await this.#createTurns();
    const [turn] = this.#turns;
    if (!turn) return EMPTY_CLAIM;

    const freeRowsByDestination = backlog.getFreeRowsByDestination();
    const capacities = backlog.getProjectCapacities();
    const requestedMs = performance.now();
    const claimedRows = await claimDueDeliveries(database.run, {
      ...turn,
      lastDestinationByProject: this.#lastDestinationByProject,
      freeRowsByDestination,
      freeRowsDefault: limits.inFlightPerDestination,
      capacities,
      rows,
      bytes,
      leaseToken: newLeaseToken(database.processes.id),
      leaseMs: limits.leaseMs,
      now: now(),
    });
    const isFull = claimedRows.length === rows || countBytes(claimedRows) >= bytes;
    const { isExhausted, hasMore } = this.#recordTurns(turn, claimedRows, { capacities, isFull });
    this.#turns.shift();
    if (isFull) this.#turns.push({ ...turn, afterProjectId: getLastId(claimedRows, 'projectId') });
    else if (turn.afterProjectId !== '' || hasMore) {
      this.#turns.push({ ...turn, afterProjectId: '' });
    }
    const [nextTurn] = this.#turns;
    return {
      deliveries: this.#createDeliveries(claimedRows, requestedMs),
      isComplete: !nextTurn,
      hasNextTurn: nextTurn !== undefined && nextTurn.projectIds !== turn.projectIds,
      isSaturated: isExhausted || isSaturated(claimedRows, freeRowsByDestination, limits),
    };
  }

  /**
   * Stores where each project continues. `isExhausted` is true if a project has exhausted its capacity. `hasMore` is
   * true if another claim for these projects may find more deliveries. This is the case if this claim started after a
   * certain destination, or if failing destinations exhausted their capacity.
   */
  #recordTurns(
    { projectIds, afterProjectId }: ClaimTurn,
    claimedRows: readonly ClaimedRow[],
    {
      capacities,
      isFull,
    }: { capacities: ReturnType<Backlog['getProjectCapacities']>; isFull: boolean },
  ): { isExhausted: boolean; hasMore: boolean } {
    const rowsByProject = Map.groupBy(claimedRows, ({ projectId }) => projectId);
    const lastProjectId = isFull ? getLastId(claimedRows, 'projectId') : null;
    const getCapacity = (projectId: string) =>
      capacities.byProject.get(projectId) ?? capacities.other;
    let isExhausted = [capacities.other, ...capacities.byProject.values()].some(
      ({ rows, failing }) => rows <= 0 || failing <= 0,
    );
    let hasMore = false;
    for (const projectId of [...this.#lastDestinationByProject.keys()]) {
      const isInTurn = projectIds === null || projectIds.includes(projectId);
      const hadTurn =
        projectId > afterProjectId && (lastProjectId === null || projectId <= lastProjectId);
      if (!isInTurn || !hadTurn || getCapacity(projectId).rows <= 0) continue;
      this.#lastDestinationByProject.delete(projectId);
      hasMore = true;
    }
    for (const [projectId, rows] of rowsByProject) {
      const capacity = getCapacity(projectId);
      const hasUsedUp = rows.length >= capacity.rows || countBytes(rows) >= capacity.bytes;
      if (hasUsedUp || projectId === lastProjectId) {
        this.#lastDestinationByProject.set(projectId, getLastId(rows, 'destinationId'));
      }
      const failingCount = rows.filter(({ isFailing }) => isFailing).length;
      const isFailingExhausted = failingCount > 0 && failingCount >= capacity.failing;
      isExhausted ||= hasUsedUp || isFailingExhausted;
      hasMore ||= isFailingExhausted;
    }
    return { isExhausted, hasMore };
  }

  async #createTurns(): Promise<ClaimTurn[]> {
    const { database, now } = this.#deps;
    const { run, shardGroup } = database;
    const projectIds = shardGroup.projectIds();
    if (projectIds === null) return [{ projectIds, afterProjectId: '' }];
    const dueProjectIds = await listProjectsWithDueDeliveries(run, projectIds, now());
    return shardGroup
      .splitIntoParts(dueProjectIds)
      .map((part) => ({ projectIds: part, afterProjectId: '' }));
  }

  #createDeliveries(claimedRows: ClaimedRow[], requestedMs: number): ClaimedDelivery[] {
    const { limits } = this.#deps;
    const nowMs = performance.now();
    const targets = new Map<string, DeliveryTarget | null>();
    for (const row of claimedRows) {
      if (!targets.has(row.destinationId)) targets.set(row.destinationId, this.#openTarget(row));
    }
    return claimedRows.map((row) => ({
      row,
      bodyBytes: Buffer.byteLength(row.body),
      target: targets.get(row.destinationId) ?? null,
      startByMs: requestedMs + limits.leaseMs - limits.attemptMs,
      clockOffsetMs: row.claimedMs - nowMs,
    }));
  }

  #openTarget(row: ClaimedRow): DeliveryTarget | null {
    const { vault, log, now } = this.#deps;
    try {
      const sealed = { ...row, id: row.destinationId };
      const signingSecrets = openSigningSecrets(vault, sealed, now());
      const { url, headers } = openTarget(vault, sealed);
      const mask = createMask([...signingSecrets, ...listTargetSecrets(url, headers)]);
      return { keys: signingSecrets.map(createSigningKey), url, headers: headers ?? {}, mask };
    } catch (error) {
      log.error({ destinationId: row.destinationId, err: error }, 'signing_secret.unreadable');
      return null;
    }
  }
}

/**
 * Returns the last id in the order of the claim, which compares bytes. JavaScript's order is the same for ASCII ids.
 */
function getLastId(rows: readonly DestinationKey[], column: keyof DestinationKey): string {
  return rows.reduce((lastId, { [column]: id }) => (id > lastId ? id : lastId), '');
}

function countBytes(rows: readonly ClaimedRow[]): number {
  return rows.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
}

function isSaturated(
  claimedRows: ClaimedRow[],
  freeRowsByDestination: ReadonlyMap<string, number>,
  limits: DeliveryLimits,
): boolean {
  if ([...freeRowsByDestination.values()].includes(0)) return true;
  const rowsByDestination = Map.groupBy(claimedRows, ({ destinationId }) => destinationId);
  return [...rowsByDestination].some(
    ([id, rows]) => rows.length >= (freeRowsByDestination.get(id) ?? limits.inFlightPerDestination),
  );
}
