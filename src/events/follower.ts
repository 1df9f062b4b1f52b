/**
 * One subscriber: a cursor on the stored log. It is live while it keeps up with the tail, which hands it
 * new entries; one that lags is dropped from the tail and reads the log by itself, from its own cursor,
 * until it has caught up. So a stalled subscriber costs a bounded buffer, and misses nothing.
 */
import { Signal } from '../work/signal.ts';
import { type LogEntry, type LogItem, LogLost } from './feed-source.ts';
import type { Tail } from './tail.ts';

/** Entries that wait for a live subscriber: shared with the others, so this costs only references. */
export const WAITING_MAX = 512;
/** Bytes of the entries that wait for a subscriber. Subscribers that stall share them. */
export const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/** Entries that a lagging subscriber reads at once: these are its own. */
export const OWN_BATCH = 100;

const DONE = { done: true, value: undefined } as const;

export class Follower<E extends LogEntry, F> implements AsyncIterableIterator<LogItem<E>> {
  readonly filter: F;
  readonly #tail: Tail<E, F>;
  readonly #signal = new Signal();
  /** Everything that it wants up to here was handed out, or is in `#read`. */
  #covered: bigint;
  /** Entries that it read by itself. */
  #read: LogItem<E>[] = [];
  /** Entries after `#joinedAt` that the tail handed over, and their bytes. */
  #waiting: LogItem<E>[] = [];
  #waitingBytes = 0;
  #joinedAt = 0n;
  #isLive = false;
  #hasFailed = false;
  #hasEnded = false;
  #lost: LogLost | null = null;

  constructor(tail: Tail<E, F>, { after, filter }: { after: bigint; filter: F }) {
    this.#tail = tail;
    this.#covered = after;
    this.filter = filter;
    tail.add(this);
  }

  /** It has begun, and is behind what the tail hands over. */
  get isLagging(): boolean {
    return this.#joinedAt > 0n && (!this.#isLive || this.#covered < this.#joinedAt);
  }

  /** Throws LogLost if what comes next is gone. */
  async next(): Promise<IteratorResult<LogItem<E>>> {
    while (!this.#hasEnded) {
      const item = this.#takeNext();
      if (item) return { done: false, value: item };
      if (this.#lost) await this.#endWith(this.#lost);
      if (!this.#isLive) this.#join();
      if (this.#covered < this.#joinedAt) await this.#readOn();
      else await this.#signal.wait();
    }
    return DONE;
  }

  /** Ends a waiting next() at once. */
  async return(): Promise<IteratorResult<LogItem<E>>> {
    this.#hasEnded = true;
    this.#read = [];
    this.#forgetWaiting();
    this.#tail.remove(this);
    this.#signal.raise();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The tail's next entries, of which this one takes what it wants. */
  offer(items: readonly LogItem<E>[], wants: (entry: E) => boolean): void {
    if (!this.#isLive) return;
    const wanted = items.filter(({ node }) => node.position > this.#covered && wants(node));
    if (wanted.length === 0) return;
    this.#waiting.push(...wanted);
    for (const { node } of wanted) this.#waitingBytes += this.#tail.source.bytesOf(node);
    if (this.#waiting.length > WAITING_MAX || this.#waitingBytes > WAITING_BYTES_MAX) {
      this.#isLive = false;
      this.#forgetWaiting();
    }
    this.#signal.raise();
  }

  /** The tail could not read what comes after what it has handed over. */
  lose(lost: LogLost): void {
    if (!this.#isLive || (lost.upTo !== null && this.#covered >= lost.upTo)) return;
    this.#lost = lost;
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

  #takeNext(): LogItem<E> | undefined {
    if (this.#read.length > 0) return this.#read.shift();
    if (this.#covered < this.#joinedAt) return undefined;
    const item = this.#waiting.shift();
    if (!item) return undefined;
    this.#waitingBytes -= this.#tail.source.bytesOf(item.node);
    this.#covered = item.node.position;
    return item;
  }

  #forgetWaiting(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  async #readOn(): Promise<void> {
    const range = { above: this.#covered, upTo: this.#joinedAt, limit: OWN_BATCH };
    try {
      this.#hasFailed = false;
      const { entries, readTo } = await this.#tail.read(range, this.filter);
      this.#read = entries;
      this.#covered = readTo ?? this.#joinedAt;
    } catch (error) {
      if (error instanceof LogLost) await this.#endWith(error);
      // The feed logs the failure once for all; its next poll wakes this follower too.
      this.#hasFailed = true;
      await this.#signal.wait();
    }
  }

  async #endWith(lost: LogLost): Promise<never> {
    await this.return();
    throw lost;
  }
}
