/** Takes deliveries from the outbox, ready to be sent. */
import type { KeyObject } from 'node:crypto';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Vault } from '../secrets.ts';
import { newLeaseToken } from '../work/lease.ts';
import type { Backlog } from './backlog.ts';
import type { DeliveryLimits } from './limits.ts';
import {
  type ClaimedRow,
  claimDue,
  type DestinationKey,
  findOwed,
  type ProjectIds,
} from './outbox.ts';
import { signingKey } from './sign.ts';
import { openSigningSecrets } from './signing-secret.ts';
import { openTarget, type TargetHeaders } from './target-secrets.ts';

/** Destinations that fail get no more once they fill so much of the memory: a claim may double it. */
const FAILING_SHARE = 1 / 4;

/** Where messages of a destination are sent, with the values that its row holds sealed. */
export interface Target {
  keys: readonly KeyObject[];
  url: string;
  headers: TargetHeaders;
}

/** A claimed delivery. */
export interface Job {
  row: ClaimedRow;
  bodyBytes: number;
  /** Null if the destination's secrets can't be opened: the attempt fails without being sent. */
  target: Target | null;
  /** By performance.now(): an attempt that begins later could outlast its lease. */
  startByMs: number;
  /** The database's clock minus performance.now(). */
  clockOffsetMs: number;
}

export interface Claim {
  jobs: Job[];
  /** All due deliveries were seen: there are no more now. */
  isComplete: boolean;
  /** The next claim is of other projects. */
  goesOn: boolean;
  /** Due deliveries were left because their destination's share, or the memory, is full. */
  isSaturated: boolean;
}

interface ClaimDeps {
  database: Pick<Database, 'rows' | 'processes' | 'group'>;
  vault: Vault;
  log: Log;
  now: () => Date;
  limits: DeliveryLimits;
}

const FIRST: DestinationKey = { projectId: '', destinationId: '' };
const NOTHING: Claim = { jobs: [], isComplete: true, goesOn: false, isSaturated: false };

/** Whose deliveries a claim takes. */
interface Turn {
  projectIds: ProjectIds;
  /** Destinations up to this one have had their turn. */
  after: DestinationKey;
}

/**
 * Each claim continues with the destinations after those of the claim before. In a group of projects, those that are
 * owed something are asked for first, and claims are of as many of them as one statement may change together.
 */
export class Claimer {
  readonly #deps: ClaimDeps;
  #turns: Turn[] = [];

  constructor(deps: ClaimDeps) {
    this.#deps = deps;
  }

  async claim(backlog: Backlog): Promise<Claim> {
    const { database, limits, now } = this.#deps;
    const rows = Math.min(limits.claimRows, limits.heldRows - backlog.held);
    const bytes = limits.heldBytes - backlog.heldBytes;
    if (rows <= 0 || bytes <= 0) return { ...NOTHING, isSaturated: true };
    if (this.#turns.length === 0) this.#turns = await this.#newTurns();
    const [turn] = this.#turns;
    if (!turn) return NOTHING;

    const free = backlog.free();
    const takesFailing = backlog.heldFailing < limits.heldRows * FAILING_SHARE;
    const requestedMs = performance.now();
    const claimed = await claimDue(database.rows.query, {
      ...turn,
      free,
      freeByDefault: limits.inFlightPerDestination,
      takesFailing,
      rows,
      bytes,
      leaseToken: newLeaseToken(database.processes.id),
      leaseMs: limits.leaseMs,
      now: now(),
    });
    const isFull = claimed.length === rows;
    this.#turns.shift();
    if (isFull) this.#turns.push({ ...turn, after: last(claimed) });
    else if (turn.after !== FIRST) this.#turns.push({ ...turn, after: FIRST });
    const [next] = this.#turns;
    return {
      jobs: this.#ready(claimed, requestedMs),
      isComplete: !next,
      goesOn: next !== undefined && next.projectIds !== turn.projectIds,
      isSaturated: !takesFailing || bytesOf(claimed) >= bytes || isSaturated(claimed, free, limits),
    };
  }

  async #newTurns(): Promise<Turn[]> {
    const { database, now } = this.#deps;
    const { rows, group } = database;
    const projectIds = group.projectIds();
    if (projectIds === null) return [{ projectIds, after: FIRST }];
    const owed = await findOwed(rows.query, projectIds, now());
    return group.together(owed).map((together) => ({ projectIds: together, after: FIRST }));
  }

  #ready(claimed: ClaimedRow[], requestedMs: number): Job[] {
    const { limits } = this.#deps;
    const nowMs = performance.now();
    const targets = new Map<string, Target | null>();
    for (const row of claimed) {
      if (!targets.has(row.destinationId)) targets.set(row.destinationId, this.#targetOf(row));
    }
    return claimed.map((row) => ({
      row,
      bodyBytes: Buffer.byteLength(row.body),
      target: targets.get(row.destinationId) ?? null,
      startByMs: requestedMs + limits.leaseMs - limits.attemptMs,
      clockOffsetMs: row.claimedMs - nowMs,
    }));
  }

  #targetOf(row: ClaimedRow): Target | null {
    const { vault, log, now } = this.#deps;
    try {
      const sealed = { ...row, id: row.destinationId };
      const keys = openSigningSecrets(vault, sealed, now()).map(signingKey);
      const { url, headers } = openTarget(vault, sealed);
      return { keys, url: url ?? '', headers: headers ?? {} };
    } catch (error) {
      log.error({ destinationId: row.destinationId, err: error }, 'signing_secret.unreadable');
      return null;
    }
  }
}

/** Ids sort as the claim walks: byte by byte, and they are ASCII. */
function last(claimed: readonly DestinationKey[]): DestinationKey {
  const isAfter = (a: DestinationKey, b: DestinationKey) =>
    a.projectId === b.projectId ? a.destinationId > b.destinationId : a.projectId > b.projectId;
  const { projectId, destinationId } = claimed.reduce<DestinationKey>(
    (latest, key) => (isAfter(key, latest) ? key : latest),
    FIRST,
  );
  return { projectId, destinationId };
}

function bytesOf(claimed: ClaimedRow[]): number {
  return claimed.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
}

function isSaturated(
  claimed: ClaimedRow[],
  free: ReadonlyMap<string, number>,
  limits: DeliveryLimits,
): boolean {
  if ([...free.values()].includes(0)) return true;
  const taken = Map.groupBy(claimed, ({ destinationId }) => destinationId);
  return [...taken].some(
    ([id, rows]) => rows.length >= (free.get(id) ?? limits.inFlightPerDestination),
  );
}
