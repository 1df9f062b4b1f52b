/**
 * What this process has claimed, by destination, and whose turn it is. Destinations take turns; each has
 * a few messages in flight at most, and those that fail share a part of all places, so that one that
 * hangs does not delay the others.
 */
import { LRUCache } from 'lru-cache';
import type { Job } from './claim.ts';
import type { DeliveryLimits } from './limits.ts';

/** As many as can be in flight at once. */
const QUICK_KNOWN = 64;

/**
 * A project has at most so many times as many messages in flight as are free for others: three quarters if it is alone.
 * However many projects send to destinations that hang, the next one can therefore begin.
 */
const PROJECT_FACTOR = 3;

interface Lane {
  projectId: string;
  isFailing: boolean;
  waiting: Job[];
  inFlight: number;
  /** Waiting, in flight, and sent but not yet recorded. */
  held: number;
}

export class Backlog {
  readonly #limits: DeliveryLimits;
  /** Destinations with claimed messages; the one that has just had its turn is last. */
  readonly #lanes = new Map<string, Lane>();
  readonly #quick = new LRUCache<string, true>({ max: QUICK_KNOWN });
  #stale: Job[] = [];
  #held = 0;
  #heldBytes = 0;
  #inFlight = 0;
  #inFlightFailing = 0;
  readonly #inFlightOf = new Map<string, number>();

  constructor(limits: DeliveryLimits) {
    this.#limits = limits;
  }

  get held(): number {
    return this.#held;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get heldFailing(): number {
    let sum = 0;
    for (const { isFailing, held } of this.#lanes.values()) if (isFailing) sum += held;
    return sum;
  }

  /** How many more a destination may have; one that is not named has none so far. */
  free(): Map<string, number> {
    const known = new Set([...this.#lanes.keys(), ...this.#quick.keys()]);
    return new Map([...known].map((id) => [id, this.#freeOf(id)]));
  }

  add(jobs: readonly Job[]): void {
    for (const job of jobs) {
      const { destinationId } = job.row;
      const lane = this.#lanes.get(destinationId) ?? newLane(job.row);
      this.#lanes.set(destinationId, lane);
      lane.waiting.push(job);
      lane.held += 1;
      this.#held += 1;
      this.#heldBytes += job.bodyBytes;
    }
  }

  /** The next one to send, which then is in flight; undefined if all must wait. */
  next(nowMs: number): Job | undefined {
    if (this.#inFlight >= this.#limits.inFlight) return undefined;
    for (const [destinationId, lane] of this.#lanes) {
      while ((lane.waiting[0]?.startByMs ?? nowMs) < nowMs)
        this.#stale.push(...lane.waiting.splice(0, 1));
      if (!this.#mayStart(lane)) continue;
      const [job] = lane.waiting.splice(0, 1);
      this.#countInFlight(lane, 1);
      this.#lanes.delete(destinationId);
      this.#lanes.set(destinationId, lane);
      return job;
    }
    return undefined;
  }

  /** No longer in flight; what is known of its destination now counts for what is still waiting. */
  sent(
    { row: { destinationId } }: Job,
    { isSuccess, durationMs }: { isSuccess: boolean; durationMs: number },
  ): void {
    const lane = this.#laneOf(destinationId);
    this.#countInFlight(lane, -1);
    this.#setFailing(lane, !isSuccess);
    if (isSuccess && durationMs <= this.#limits.quickMs) this.#quick.set(destinationId, true);
    else this.#quick.delete(destinationId);
  }

  /** Recorded or given back. */
  drop(jobs: readonly Job[]): void {
    for (const {
      row: { destinationId },
      bodyBytes,
    } of jobs) {
      const lane = this.#laneOf(destinationId);
      lane.held -= 1;
      this.#held -= 1;
      this.#heldBytes -= bodyBytes;
      if (lane.held === 0) this.#lanes.delete(destinationId);
    }
  }

  /** Takes out what was not begun in time, to be given back. */
  takeStale(): Job[] {
    const stale = this.#stale;
    this.#stale = [];
    return stale;
  }

  /** Takes out what waits: of one destination, or all of it. */
  takeWaiting(destinationId?: string): Job[] {
    const lanes =
      destinationId === undefined ? [...this.#lanes.values()] : [this.#lanes.get(destinationId)];
    return lanes.flatMap((lane) => lane?.waiting.splice(0) ?? []);
  }

  #freeOf(destinationId: string): number {
    const mayHold = this.#quick.has(destinationId)
      ? this.#limits.heldPerQuickDestination
      : this.#limits.inFlightPerDestination;
    return Math.max(0, mayHold - (this.#lanes.get(destinationId)?.held ?? 0));
  }

  #mayStart({ projectId, waiting, inFlight, isFailing }: Lane): boolean {
    const { inFlightPerDestination, inFlightFailing, inFlight: most } = this.#limits;
    if (waiting.length === 0 || inFlight >= inFlightPerDestination) return false;
    const ofProject = this.#inFlightOf.get(projectId) ?? 0;
    if (ofProject >= PROJECT_FACTOR * (most - this.#inFlight)) return false;
    return !isFailing || this.#inFlightFailing < inFlightFailing;
  }

  #countInFlight(lane: Lane, change: 1 | -1): void {
    const { projectId } = lane;
    lane.inFlight += change;
    this.#inFlight += change;
    const ofProject = (this.#inFlightOf.get(projectId) ?? 0) + change;
    if (ofProject > 0) this.#inFlightOf.set(projectId, ofProject);
    else this.#inFlightOf.delete(projectId);
    if (lane.isFailing) this.#inFlightFailing += change;
  }

  #setFailing(lane: Lane, isFailing: boolean): void {
    if (lane.isFailing === isFailing) return;
    lane.isFailing = isFailing;
    this.#inFlightFailing += isFailing ? lane.inFlight : -lane.inFlight;
  }

  #laneOf(destinationId: string): Lane {
    const lane = this.#lanes.get(destinationId);
    if (!lane) throw new Error(`Nothing is held for ${destinationId}.`);
    return lane;
  }
}

function newLane({ projectId, isFailing }: Job['row']): Lane {
  return { projectId, isFailing, waiting: [], inFlight: 0, held: 0 };
}
