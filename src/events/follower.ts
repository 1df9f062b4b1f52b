/**
 * One subscriber: a cursor on the stored log. It is live while it keeps up with the tail, which hands it
 * new events; one that lags is dropped from the tail and reads the log by itself, from its own cursor,
 * until it has caught up. So a stalled subscriber costs a bounded buffer, and misses nothing.
 */
import { Signal } from '../work/signal.ts';
import type { EventFilter, LoggedEvent, LoggedItem } from './event-log.ts';
import type { Tail } from './tail.ts';

/** Events that wait for a live subscriber: shared with the others, so this costs only references. */
export const WAITING_MAX = 512;
/** Events that a lagging subscriber reads at once: these are its own. */
export const OWN_BATCH = 100;

const DONE = { done: true, value: undefined } as const;

export class Follower implements AsyncIterableIterator<LoggedItem> {
  readonly filter: EventFilter;
  readonly #tail: Tail;
  readonly #signal = new Signal();
  /** Everything that it wants up to here was handed out, or is in `#read`. */
  #covered: bigint;
  /** Events that it read by itself. */
  #read: LoggedItem[] = [];
  /** Events after `#joinedAt` that the tail handed over. */
  #waiting: LoggedItem[] = [];
  #joinedAt = 0n;
  #isLive = false;
  #hasFailed = false;
  #hasEnded = false;

  constructor(tail: Tail, { after, filter }: { after: bigint; filter: EventFilter }) {
    this.#tail = tail;
    this.#covered = after;
    this.filter = filter;
    tail.add(this);
  }

  /** It has begun, and is behind what the tail hands over. */
  get isLagging(): boolean {
    return this.#joinedAt > 0n && (!this.#isLive || this.#covered < this.#joinedAt);
  }

  async next(): Promise<IteratorResult<LoggedItem>> {
    while (!this.#hasEnded) {
      const item = this.#takeNext();
      if (item) return { done: false, value: item };
      if (!this.#isLive) this.#join();
      if (this.#covered < this.#joinedAt) await this.#readOn();
      else await this.#signal.wait();
    }
    return DONE;
  }

  /** Ends a waiting next() at once. */
  async return(): Promise<IteratorResult<LoggedItem>> {
    this.#hasEnded = true;
    this.#read = [];
    this.#waiting = [];
    this.#tail.remove(this);
    this.#signal.raise();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The tail's next events, of which this one takes what it wants. */
  offer(items: readonly LoggedItem[], wants: (event: LoggedEvent) => boolean): void {
    if (!this.#isLive) return;
    const wanted = items.filter(({ node }) => node.position > this.#covered && wants(node));
    if (wanted.length === 0) return;
    if (this.#waiting.length + wanted.length > WAITING_MAX) {
      this.#isLive = false;
      this.#waiting = [];
    } else {
      this.#waiting.push(...wanted);
    }
    this.#signal.raise();
  }

  /** Retries a read that failed. */
  retry(): void {
    if (this.#hasFailed) this.#signal.raise();
  }

  /** From here on the tail hands over what comes; what came before it joined, it reads by itself. */
  #join(): void {
    this.#joinedAt = this.#tail.position;
    this.#isLive = true;
  }

  #takeNext(): LoggedItem | undefined {
    if (this.#read.length > 0) return this.#read.shift();
    if (this.#covered < this.#joinedAt) return undefined;
    const item = this.#waiting.shift();
    if (item) this.#covered = item.node.position;
    return item;
  }

  async #readOn(): Promise<void> {
    const range = { above: this.#covered, upTo: this.#joinedAt, limit: OWN_BATCH };
    try {
      this.#hasFailed = false;
      this.#read = await this.#tail.read(range, this.filter);
    } catch {
      // The feed logs the failure once for all; its next poll wakes this follower too.
      this.#hasFailed = true;
      await this.#signal.wait();
      return;
    }
    const last = this.#read.at(-1)?.node;
    this.#covered = last && this.#read.length === OWN_BATCH ? last.position : this.#joinedAt;
  }
}
