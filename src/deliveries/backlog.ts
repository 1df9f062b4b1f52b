/**
 * Queues the deliveries that this process has claimed, by destination. Destinations take turns. Each has few messages in
 * flight, and failing destinations share a part of the capacity, so that a destination that hangs does not delay others.
 * A destination is quick if its last attempt succeeded within `quickMs`. It may hold more deliveries than others.
 */
import { LRUCache } from 'lru-cache';
import type { DeliveryLimits } from './limits.ts';
import type { ClaimedDelivery, ProjectCapacity } from './outbox.ts';

/** The share of the capacity that failing destinations may use. */
const FAILING_SHARE = 1 / 4;

/** The maximum number of quick destinations in memory: as many as attempts can be in flight. */
const QUICK_MAX = 64;

/**
 * The part that one project may use of the capacity that other projects leave free. Any value below 1 lets another project
 * claim and send, even if the destinations of this one do not respond. The value was chosen, not measured.
 */
const PROJECT_SHARE = 3 / 4;

/** The deliveries of a project that this process holds. */
interface HeldCounts {
  rows: number;
  bytes: number;
  /** Rows for failing destinations. */
  failing: number;
  inFlight: number;
  inFlightFailing: number;
}

const ZERO_COUNTS: HeldCounts = {
  rows: 0,
  bytes: 0,
  failing: 0,
  inFlight: 0,
  inFlightFailing: 0,
};

interface DestinationQueue {
  projectId: string;
  isFailing: boolean;
  waiting: ClaimedDelivery[];
  inFlight: number;
  /** The number of deliveries that wait, are in flight, or were sent and are not recorded yet. */
  held: number;
}

export class Backlog {
  readonly #limits: DeliveryLimits;
  /** Destinations with claimed messages, by their last turn: the most recent is at the end. */
  readonly #queues = new Map<string, DestinationQueue>();
  readonly #quickDestinations = new LRUCache<string, true>({ max: QUICK_MAX });
  #staleDeliveries: ClaimedDelivery[] = [];
  readonly #totalCounts: HeldCounts = { ...ZERO_COUNTS };
  readonly #countsByProject = new Map<string, HeldCounts>();

  constructor(limits: DeliveryLimits) {
    this.#limits = limits;
  }

  get heldRows(): number {
    return this.#totalCounts.rows;
  }

  get heldBytes(): number {
    return this.#totalCounts.bytes;
  }

  /** Returns the free capacity of each project with held deliveries, and the free capacity of any other project. */
  getProjectCapacities(): { byProject: Map<string, ProjectCapacity>; other: ProjectCapacity } {
    const byProject = new Map(
      [...this.#countsByProject].map(([id, held]) => [id, this.#getCapacity(held)]),
    );
    return { byProject, other: this.#getCapacity(ZERO_COUNTS) };
  }

  /** Returns how many more deliveries each destination may hold. Destinations without an entry hold none. */
  getFreeRowsByDestination(): Map<string, number> {
    const destinationIds = new Set([...this.#queues.keys(), ...this.#quickDestinations.keys()]);
    return new Map([...destinationIds].map((id) => [id, this.#countFreeRows(id)]));
  }

  add(deliveries: readonly ClaimedDelivery[]): void {
    for (const delivery of deliveries) {
      const { destinationId } = delivery.row;
      const queue = this.#queues.get(destinationId) ?? createDestinationQueue(delivery.row);
      this.#queues.set(destinationId, queue);
      queue.waiting.push(delivery);
      queue.held += 1;
      this.#addCounts(queue, {
        rows: 1,
        bytes: delivery.bodyBytes,
        failing: queue.isFailing ? 1 : 0,
      });
    }
  }

  /** Returns the next delivery to send, and counts it as in flight. Undefined if all must wait. */
  takeNext(nowMs: number): ClaimedDelivery | undefined {
    if (this.#totalCounts.inFlight >= this.#limits.inFlight) return undefined;
    for (const [destinationId, queue] of this.#queues) {
      while ((queue.waiting[0]?.startByMs ?? nowMs) < nowMs)
        this.#staleDeliveries.push(...queue.waiting.splice(0, 1));
      if (!this.#canStart(queue)) continue;
      const delivery = queue.waiting.shift();
      this.#countInFlight(queue, 1);
      this.#queues.delete(destinationId);
      this.#queues.set(destinationId, queue);
      return delivery;
    }
    return undefined;
  }

  /** Counts the end of an attempt. Its result determines whether the destination is failing, quick or neither. */
  endAttempt(
    { row: { destinationId } }: ClaimedDelivery,
    { isSuccess, durationMs }: { isSuccess: boolean; durationMs: number },
  ): void {
    const queue = this.#getQueue(destinationId);
    this.#countInFlight(queue, -1);
    this.#setFailing(queue, !isSuccess);
    if (isSuccess && durationMs <= this.#limits.quickMs)
      this.#quickDestinations.set(destinationId, true);
    else this.#quickDestinations.delete(destinationId);
  }

  /** Removes deliveries that were recorded or released. */
  drop(deliveries: readonly ClaimedDelivery[]): void {
    for (const { row, bodyBytes } of deliveries) {
      const { destinationId } = row;
      const queue = this.#getQueue(destinationId);
      queue.held -= 1;
      this.#addCounts(queue, { rows: -1, bytes: -bodyBytes, failing: queue.isFailing ? -1 : 0 });
      if (queue.held === 0) this.#queues.delete(destinationId);
    }
  }

  /** Removes and returns the deliveries that were not started in time. The caller releases them. */
  takeStale(): ClaimedDelivery[] {
    const stale = this.#staleDeliveries;
    this.#staleDeliveries = [];
    return stale;
  }

  /** Removes and returns the waiting deliveries of one destination, or of all destinations. */
  takeWaiting(destinationId?: string): ClaimedDelivery[] {
    const queues =
      destinationId === undefined ? [...this.#queues.values()] : [this.#queues.get(destinationId)];
    return queues.flatMap((queue) => queue?.waiting.splice(0) ?? []);
  }

  #countFreeRows(destinationId: string): number {
    const heldMax = this.#quickDestinations.has(destinationId)
      ? this.#limits.heldPerQuickDestination
      : this.#limits.inFlightPerDestination;
    return Math.max(0, heldMax - (this.#queues.get(destinationId)?.held ?? 0));
  }

  #canStart({ projectId, waiting, inFlight, isFailing }: DestinationQueue): boolean {
    if (waiting.length === 0 || inFlight >= this.#limits.inFlightPerDestination) return false;
    const projectCounts = this.#getCounts(projectId);
    if (this.#countFree('inFlight', projectCounts) <= 0) return false;
    return !isFailing || this.#countFree('inFlightFailing', projectCounts) > 0;
  }

  #countInFlight(queue: DestinationQueue, change: 1 | -1): void {
    queue.inFlight += change;
    this.#addCounts(queue, { inFlight: change, inFlightFailing: queue.isFailing ? change : 0 });
  }

  #addCounts({ projectId }: DestinationQueue, changes: Partial<HeldCounts>): void {
    const projectCounts = this.#getCounts(projectId);
    if (projectCounts === ZERO_COUNTS) this.#countsByProject.set(projectId, { ...ZERO_COUNTS });
    for (const counts of [this.#totalCounts, this.#getCounts(projectId)]) {
      counts.rows += changes.rows ?? 0;
      counts.bytes += changes.bytes ?? 0;
      counts.failing += changes.failing ?? 0;
      counts.inFlight += changes.inFlight ?? 0;
      counts.inFlightFailing += changes.inFlightFailing ?? 0;
    }
    if (this.#getCounts(projectId).rows === 0) this.#countsByProject.delete(projectId);
  }

  #getCounts(projectId: string): HeldCounts {
    return this.#countsByProject.get(projectId) ?? ZERO_COUNTS;
  }

  #getCapacity(held: HeldCounts): ProjectCapacity {
    const bytes = this.#countFree('bytes', held);
    const rows = bytes > 0 ? this.#countFree('rows', held) : 0;
    return { rows, bytes, failing: this.#countFree('failing', held) };
  }

  /**
   * Returns how much more a project may hold. Rounds up: at a limit of 1, rounding down would leave every project 0.
   */
  #countFree(resource: keyof HeldCounts, held: HeldCounts): number {
    const others = this.#totalCounts[resource] - held[resource];
    const free = this.#getMaximum(resource) - others;
    return Math.max(0, Math.ceil(free * PROJECT_SHARE) - held[resource]);
  }

  #getMaximum(resource: keyof HeldCounts): number {
    const { heldRows, heldBytes, inFlight, inFlightFailing } = this.#limits;
    const failing = heldRows * FAILING_SHARE;
    return { rows: heldRows, bytes: heldBytes, failing, inFlight, inFlightFailing }[resource];
  }

  #setFailing(queue: DestinationQueue, isFailing: boolean): void {
    if (queue.isFailing === isFailing) return;
    queue.isFailing = isFailing;
    const sign = isFailing ? 1 : -1;
    this.#addCounts(queue, { failing: sign * queue.held, inFlightFailing: sign * queue.inFlight });
  }

  #getQueue(destinationId: string): DestinationQueue {
    const queue = this.#queues.get(destinationId);
    if (!queue) throw new Error(`Bug: no deliveries are held for ${destinationId}.`);
    return queue;
  }
}

function createDestinationQueue({
  projectId,
  isFailing,
}: ClaimedDelivery['row']): DestinationQueue {
  return { projectId, isFailing, waiting: [], inFlight: 0, held: 0 };
}
