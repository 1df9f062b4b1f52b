/**
 * The deliveries that this process has claimed, in a queue for each destination. Destinations take turns. Each has few
 * messages in flight, and failing destinations share a part of the capacity, so that one that hangs does not delay
 * others.
 */
import { LRUCache } from 'lru-cache';
import type { Job } from './claim.ts';
import type { DeliveryLimits } from './limits.ts';

/** The part of the capacity that failing destinations may use. */
const FAILING_PART = 1 / 4;

/** The number of quick destinations that are remembered: as many as can be in flight at the same time. */
const QUICK_MAX = 64;

/**
 * The part of the capacity left by other projects that one project may use. The value is a choice, not a measured
 * optimum. Any value below 1 lets the next project claim and send, even if destinations of other projects do not
 * respond.
 */
const PROJECT_PART = 3 / 4;

/** The deliveries that a claim may take for a project. */
export interface ProjectCapacity {
  rows: number;
  bytes: number;
  /** The part of `rows` for failing destinations. */
  failing: number;
}

/** The deliveries of a project that this process holds. */
interface HeldCounts {
  rows: number;
  bytes: number;
  /** Rows for failing destinations. */
  failing: number;
  inFlight: number;
  inFlightFailing: number;
}

const NOTHING_HELD: HeldCounts = {
  rows: 0,
  bytes: 0,
  failing: 0,
  inFlight: 0,
  inFlightFailing: 0,
};

interface DestinationQueue {
  projectId: string;
  isFailing: boolean;
  waiting: Job[];
  inFlight: number;
  /** The number of deliveries that wait, are in flight, or were sent and are not recorded yet. */
  held: number;
}

export class Backlog {
  readonly #limits: DeliveryLimits;
  /** Destinations with claimed messages. The one that had its turn last is at the end. */
  readonly #queues = new Map<string, DestinationQueue>();
  readonly #quick = new LRUCache<string, true>({ max: QUICK_MAX });
  #stale: Job[] = [];
  readonly #all: HeldCounts = { ...NOTHING_HELD };
  readonly #projects = new Map<string, HeldCounts>();

  constructor(limits: DeliveryLimits) {
    this.#limits = limits;
  }

  get held(): number {
    return this.#all.rows;
  }

  get heldBytes(): number {
    return this.#all.bytes;
  }

  /** The free capacity of each project with held deliveries, and that of any other project. */
  capacities(): { byProject: Map<string, ProjectCapacity>; other: ProjectCapacity } {
    const byProject = new Map(
      [...this.#projects].map(([id, held]) => [id, this.#capacityOf(held)]),
    );
    return { byProject, other: this.#capacityOf(NOTHING_HELD) };
  }

  /** The number of additional deliveries that each destination may hold. Destinations without an entry hold none. */
  free(): Map<string, number> {
    const destinationIds = new Set([...this.#queues.keys(), ...this.#quick.keys()]);
    return new Map([...destinationIds].map((id) => [id, this.#freeCapacity(id)]));
  }

  add(jobs: readonly Job[]): void {
    for (const job of jobs) {
      const { destinationId } = job.row;
      const queue = this.#queues.get(destinationId) ?? createDestinationQueue(job.row);
      this.#queues.set(destinationId, queue);
      queue.waiting.push(job);
      queue.held += 1;
      this.#count(queue, { rows: 1, bytes: job.bodyBytes, failing: queue.isFailing ? 1 : 0 });
    }
  }

  /** Returns the next delivery to send, and counts it as in flight. Undefined if all must wait. */
  next(nowMs: number): Job | undefined {
    if (this.#all.inFlight >= this.#limits.inFlight) return undefined;
    for (const [destinationId, queue] of this.#queues) {
      while ((queue.waiting[0]?.startByMs ?? nowMs) < nowMs)
        this.#stale.push(...queue.waiting.splice(0, 1));
      if (!this.#mayStart(queue)) continue;
      const [job] = queue.waiting.splice(0, 1);
      this.#countInFlight(queue, 1);
      this.#queues.delete(destinationId);
      this.#queues.set(destinationId, queue);
      return job;
    }
    return undefined;
  }

  /** Counts the end of an attempt. Its result decides how the destination's waiting deliveries are treated. */
  endAttempt(
    { row: { destinationId } }: Job,
    { isSuccess, durationMs }: { isSuccess: boolean; durationMs: number },
  ): void {
    const queue = this.#getQueue(destinationId);
    this.#countInFlight(queue, -1);
    this.#setFailing(queue, !isSuccess);
    if (isSuccess && durationMs <= this.#limits.quickMs) this.#quick.set(destinationId, true);
    else this.#quick.delete(destinationId);
  }

  /** Removes deliveries that were recorded or released. */
  drop(jobs: readonly Job[]): void {
    for (const {
      row: { destinationId },
      bodyBytes,
    } of jobs) {
      const queue = this.#getQueue(destinationId);
      queue.held -= 1;
      this.#count(queue, { rows: -1, bytes: -bodyBytes, failing: queue.isFailing ? -1 : 0 });
      if (queue.held === 0) this.#queues.delete(destinationId);
    }
  }

  /** Removes the deliveries that were not started in time and returns them, to be released. */
  takeStale(): Job[] {
    const stale = this.#stale;
    this.#stale = [];
    return stale;
  }

  /** Removes and returns the waiting deliveries: of one destination, or all. */
  takeWaiting(destinationId?: string): Job[] {
    const queues =
      destinationId === undefined ? [...this.#queues.values()] : [this.#queues.get(destinationId)];
    return queues.flatMap((queue) => queue?.waiting.splice(0) ?? []);
  }

  #freeCapacity(destinationId: string): number {
    const mayHold = this.#quick.has(destinationId)
      ? this.#limits.heldPerQuickDestination
      : this.#limits.inFlightPerDestination;
    return Math.max(0, mayHold - (this.#queues.get(destinationId)?.held ?? 0));
  }

  #mayStart({ projectId, waiting, inFlight, isFailing }: DestinationQueue): boolean {
    if (waiting.length === 0 || inFlight >= this.#limits.inFlightPerDestination) return false;
    const held = this.#heldCounts(projectId);
    if (this.#free('inFlight', held) <= 0) return false;
    return !isFailing || this.#free('inFlightFailing', held) > 0;
  }

  #countInFlight(queue: DestinationQueue, change: 1 | -1): void {
    queue.inFlight += change;
    this.#count(queue, { inFlight: change, inFlightFailing: queue.isFailing ? change : 0 });
  }

  #count({ projectId }: DestinationQueue, changes: Partial<HeldCounts>): void {
    const held = this.#heldCounts(projectId);
    if (held === NOTHING_HELD) this.#projects.set(projectId, { ...NOTHING_HELD });
    for (const counts of [this.#all, this.#heldCounts(projectId)]) {
      for (const [name, change] of Object.entries(changes)) {
        counts[name as keyof HeldCounts] += change;
      }
    }
    if (this.#heldCounts(projectId).rows === 0) this.#projects.delete(projectId);
  }

  #heldCounts(projectId: string): HeldCounts {
    return this.#projects.get(projectId) ?? NOTHING_HELD;
  }

  #capacityOf(held: HeldCounts): ProjectCapacity {
    const [rows, bytes] = [this.#free('rows', held), this.#free('bytes', held)];
    return { rows: bytes > 0 ? rows : 0, bytes, failing: this.#free('failing', held) };
  }

  /** The additional amount that a project may hold. Rounded up, so that projects take turns at a limit of 1. */
  #free(resource: keyof HeldCounts, held: HeldCounts): number {
    const others = this.#all[resource] - held[resource];
    const free = this.#maximum(resource) - others;
    return Math.max(0, Math.ceil(free * PROJECT_PART) - held[resource]);
  }

  #maximum(resource: keyof HeldCounts): number {
    const { heldRows, heldBytes, inFlight, inFlightFailing } = this.#limits;
    const failing = heldRows * FAILING_PART;
    return { rows: heldRows, bytes: heldBytes, failing, inFlight, inFlightFailing }[resource];
  }

  #setFailing(queue: DestinationQueue, isFailing: boolean): void {
    if (queue.isFailing === isFailing) return;
    queue.isFailing = isFailing;
    const sign = isFailing ? 1 : -1;
    this.#count(queue, { failing: sign * queue.held, inFlightFailing: sign * queue.inFlight });
  }

  #getQueue(destinationId: string): DestinationQueue {
    const queue = this.#queues.get(destinationId);
    if (!queue) throw new Error(`Bug: no deliveries are held for ${destinationId}.`);
    return queue;
  }
}

function createDestinationQueue({ projectId, isFailing }: Job['row']): DestinationQueue {
  return { projectId, isFailing, waiting: [], inFlight: 0, held: 0 };
}
