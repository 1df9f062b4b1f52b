/**
 * What this process has claimed, by destination, and whose turn it is. Destinations take turns; each has
 * a few messages in flight at most, and those that fail share a part of all places, so that one that
 * hangs does not delay the others.
 */
import { LRUCache } from 'lru-cache';
import type { Job } from './claim.ts';
import type { DeliveryLimits } from './limits.ts';

/** The part of the memory that destinations that fail may fill. */
const FAILING_PART = 1 / 4;

/** As many as can be in flight at once. */
const QUICK_KNOWN = 64;

/**
 * The part of what other projects leave free that one project may take. However many projects send to destinations that
 * hang, the next one can therefore claim and send.
 */
const PROJECT_PART = 3 / 4;

/** What may be claimed for a project. */
export interface ProjectRoom {
  rows: number;
  bytes: number;
  /** Rows of these for destinations that fail. */
  failing: number;
}

/** What is held of a project. */
interface ProjectHeld {
  rows: number;
  bytes: number;
  /** Rows for destinations that fail. */
  failing: number;
  inFlight: number;
  inFlightFailing: number;
}

const NOTHING_HELD: ProjectHeld = {
  rows: 0,
  bytes: 0,
  failing: 0,
  inFlight: 0,
  inFlightFailing: 0,
};

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
  readonly #all: ProjectHeld = { ...NOTHING_HELD };
  readonly #projects = new Map<string, ProjectHeld>();

  constructor(limits: DeliveryLimits) {
    this.#limits = limits;
  }

  get held(): number {
    return this.#all.rows;
  }

  get heldBytes(): number {
    return this.#all.bytes;
  }

  /** What may be claimed for each project of which something is held, and for any other project. */
  rooms(): { of: Map<string, ProjectRoom>; other: ProjectRoom } {
    const of = new Map([...this.#projects].map(([id, held]) => [id, this.#roomOf(held)]));
    return { of, other: this.#roomOf(NOTHING_HELD) };
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
      this.#count(lane, { rows: 1, bytes: job.bodyBytes, failing: lane.isFailing ? 1 : 0 });
    }
  }

  /** The next one to send, which then is in flight; undefined if all must wait. */
  next(nowMs: number): Job | undefined {
    if (this.#all.inFlight >= this.#limits.inFlight) return undefined;
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
      this.#count(lane, { rows: -1, bytes: -bodyBytes, failing: lane.isFailing ? -1 : 0 });
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
    if (waiting.length === 0 || inFlight >= this.#limits.inFlightPerDestination) return false;
    const held = this.#heldOf(projectId);
    if (this.#free('inFlight', held) <= 0) return false;
    return !isFailing || this.#free('inFlightFailing', held) > 0;
  }

  #countInFlight(lane: Lane, change: 1 | -1): void {
    lane.inFlight += change;
    this.#count(lane, { inFlight: change, inFlightFailing: lane.isFailing ? change : 0 });
  }

  #count({ projectId }: Lane, changes: Partial<ProjectHeld>): void {
    const held = this.#heldOf(projectId);
    if (held === NOTHING_HELD) this.#projects.set(projectId, { ...NOTHING_HELD });
    for (const counted of [this.#all, this.#heldOf(projectId)]) {
      for (const [name, change] of Object.entries(changes)) {
        counted[name as keyof ProjectHeld] += change;
      }
    }
    if (this.#heldOf(projectId).rows === 0) this.#projects.delete(projectId);
  }

  #heldOf(projectId: string): ProjectHeld {
    return this.#projects.get(projectId) ?? NOTHING_HELD;
  }

  #roomOf(held: ProjectHeld): ProjectRoom {
    const [rows, bytes] = [this.#free('rows', held), this.#free('bytes', held)];
    return { rows: bytes > 0 ? rows : 0, bytes, failing: this.#free('failing', held) };
  }

  /** How much more a project may have, rounded up: a limit of 1 is one for each project in turn. */
  #free(what: keyof ProjectHeld, held: ProjectHeld): number {
    const others = this.#all[what] - held[what];
    const free = this.#maxOf(what) - others;
    return Math.max(0, Math.ceil(free * PROJECT_PART) - held[what]);
  }

  #maxOf(what: keyof ProjectHeld): number {
    const { heldRows, heldBytes, inFlight, inFlightFailing } = this.#limits;
    const failing = heldRows * FAILING_PART;
    return { rows: heldRows, bytes: heldBytes, failing, inFlight, inFlightFailing }[what];
  }

  #setFailing(lane: Lane, isFailing: boolean): void {
    if (lane.isFailing === isFailing) return;
    lane.isFailing = isFailing;
    const sign = isFailing ? 1 : -1;
    this.#count(lane, { failing: sign * lane.held, inFlightFailing: sign * lane.inFlight });
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
