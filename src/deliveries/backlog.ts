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
interface ProjectHeld {
  rows: number;
  bytes: number;
  /** Rows for failing destinations. */
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

  /** The free capacity of each project with held deliveries, and that of any other project. */
  capacities(): { of: Map<string, ProjectCapacity>; other: ProjectCapacity } {
    const of = new Map([...this.#projects].map(([id, held]) => [id, this.#capacityOf(held)]));
    return { of, other: this.#capacityOf(NOTHING_HELD) };
  }

  /** The number of additional deliveries that each destination may hold. Destinations without an entry hold none. */
  free(): Map<string, number> {
    const destinationIds = new Set([...this.#queues.keys(), ...this.#quick.keys()]);
    return new Map([...destinationIds].map((id) => [id, this.#freeOf(id)]));
  }

  add(jobs: readonly Job[]): void {
    for (const job of jobs) {
      const { destinationId } = job.row;
      const queue = this.#queues.get(destinationId) ?? newQueue(job.row);
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
  sent(
    { row: { destinationId } }: Job,
    { isSuccess, durationMs }: { isSuccess: boolean; durationMs: number },
  ): void {
    const queue = this.#queueOf(destinationId);
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
      const queue = this.#queueOf(destinationId);
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

  #freeOf(destinationId: string): number {
    const mayHold = this.#quick.has(destinationId)
      ? this.#limits.heldPerQuickDestination
      : this.#limits.inFlightPerDestination;
    return Math.max(0, mayHold - (this.#queues.get(destinationId)?.held ?? 0));
  }

  #mayStart({ projectId, waiting, inFlight, isFailing }: DestinationQueue): boolean {
    if (waiting.length === 0 || inFlight >= this.#limits.inFlightPerDestination) return false;
    const held = this.#heldOf(projectId);
    if (this.#free('inFlight', held) <= 0) return false;
    return !isFailing || this.#free('inFlightFailing', held) > 0;
  }

  #countInFlight(queue: DestinationQueue, change: 1 | -1): void {
    queue.inFlight += change;
    this.#count(queue, { inFlight: change, inFlightFailing: queue.isFailing ? change : 0 });
  }

  #count({ projectId }: DestinationQueue, changes: Partial<ProjectHeld>): void {
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

  #capacityOf(held: ProjectHeld): ProjectCapacity {
    const [rows, bytes] = [this.#free('rows', held), this.#free('bytes', held)];
    return { rows: bytes > 0 ? rows : 0, bytes, failing: this.#free('failing', held) };
  }

  /** The additional amount that a project may hold. Rounded up, so that projects take turns at a limit of 1. */
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

  #setFailing(queue: DestinationQueue, isFailing: boolean): void {
    if (queue.isFailing === isFailing) return;
    queue.isFailing = isFailing;
    const sign = isFailing ? 1 : -1;
    this.#count(queue, { failing: sign * queue.held, inFlightFailing: sign * queue.inFlight });
  }

  #queueOf(destinationId: string): DestinationQueue {
    const queue = this.#queues.get(destinationId);
    if (!queue) throw new Error(`Bug: no deliveries are held for ${destinationId}.`);
    return queue;
  }
}

function newQueue({ projectId, isFailing }: Job['row']): DestinationQueue {
  return { projectId, isFailing, waiting: [], inFlight: 0, held: 0 };
}
