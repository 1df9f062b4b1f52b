/**
 * A subscriber with its position in the stored log. A live subscriber gets new entries from the tail. If it lags, the
 * tail drops it, and it reads the log on its own from its position until it has caught up. A stalled subscriber
 * therefore costs a bounded buffer and misses no entry.
 */
import { Signal } from '../work/signal.ts';
import {
  type FeedSource,
  type LogEntry,
  type LogItem,
  LogLost,
  type LogRange,
  type LogRead,
} from './feed-source.ts';

/**
 * The maximum number of entries that wait for a live subscriber. Subscribers share the entries, so each costs only a
 * reference.
 */
export const WAITING_MAX = 512;
/** The maximum size of the entries that wait for a subscriber. Stalled subscribers share them too. */
export const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/** The entries that a lagging subscriber reads in one batch. They are not shared. */
export const CATCH_UP_BATCH = 100;

const DONE = { done: true, value: undefined } as const;

/** The end of a log, which passes new entries to its followers. */
interface FollowedTail<E extends LogEntry, F> {
  readonly source: Pick<FeedSource<E, F>, 'countBytes'>;
  readonly followers: Set<Follower<E, F>>;
  /** Every entry up to this position was passed to the followers. */
  readonly position: bigint;
  read(range: LogRange, filter?: F): Promise<LogRead<LogItem<E>>>;
}

export class Follower<E extends LogEntry, F> implements AsyncIterableIterator<LogItem<E>> {
  readonly filter: F;
  readonly #tail: FollowedTail<E, F>;
  readonly #signal = new Signal();
  /** Every matching entry up to this position was returned, or is in `#readItems`. */
  #coveredPosition: bigint;
  /** Entries that the subscriber read on its own. */
  #readItems: LogItem<E>[] = [];
  /** Entries after `#joinedPosition` that the tail has passed on, and their bytes. */
  #waitingItems: LogItem<E>[] = [];
  #waitingBytes = 0;
  #joinedPosition = 0n;
  #isLive = false;
  #hasFailed = false;
  #hasEnded = false;
  #loss: LogLost | null = null;

  constructor(tail: FollowedTail<E, F>, { after, filter }: { after: bigint; filter: F }) {
    this.#tail = tail;
    this.#coveredPosition = after;
    this.filter = filter;
    tail.followers.add(this);
  }

  /** True if the subscriber has started and is behind the entries that the tail passes on. */
  get isLagging(): boolean {
    return (
      this.#joinedPosition > 0n && (!this.#isLive || this.#coveredPosition < this.#joinedPosition)
    );
  }

  /** Returns the next entry. Throws LogLost if it was removed. */
  async next(): Promise<IteratorResult<LogItem<E>>> {
    while (!this.#hasEnded) {
      const item = this.#takeNext();
      if (item) return { done: false, value: item };
      if (this.#loss) await this.#endWith(this.#loss);
      if (!this.#isLive) this.#join();
      if (this.#coveredPosition < this.#joinedPosition) await this.#readMissing();
      else await this.#signal.wait();
    }
    return DONE;
  }

  /** Ends the stream. A `next()` that waits for an entry returns immediately. */
  async return(): Promise<IteratorResult<LogItem<E>>> {
    this.#hasEnded = true;
    this.#readItems = [];
    this.#clearWaiting();
    this.#tail.followers.delete(this);
    this.#signal.raise();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Receives the tail's next entries and keeps those that match the subscriber's filter. */
  offer(items: readonly LogItem<E>[], matches: (entry: E) => boolean): void {
    if (!this.#isLive) return;
    const matchingItems = items.filter(
      ({ node }) => node.position > this.#coveredPosition && matches(node),
    );
    if (matchingItems.length === 0) return;
    this.#waitingItems.push(...matchingItems);
    for (const { node } of matchingItems) this.#waitingBytes += this.#tail.source.countBytes(node);
    if (this.#waitingItems.length > WAITING_MAX || this.#waitingBytes > WAITING_BYTES_MAX) {
      this.#isLive = false;
      this.#clearWaiting();
    }
    this.#signal.raise();
  }

  /** Reports that the tail could not read the entries after its position. */
  reportLoss(lost: LogLost): void {
    if (!this.#isLive || (lost.upTo !== null && this.#coveredPosition >= lost.upTo)) return;
    this.#loss = lost;
    this.#signal.raise();
  }

  /** Retries a read that failed. */
  retry(): void {
    if (this.#hasFailed) this.#signal.raise();
  }

  /** Joins the tail, which passes on new entries from now on. The subscriber reads earlier entries on its own. */
  #join(): void {
    this.#joinedPosition = this.#tail.position;
    this.#isLive = true;
  }

  #takeNext(): LogItem<E> | undefined {
    if (this.#readItems.length > 0) return this.#readItems.shift();
    if (this.#coveredPosition < this.#joinedPosition) return undefined;
    const item = this.#waitingItems.shift();
    if (!item) return undefined;
    this.#waitingBytes -= this.#tail.source.countBytes(item.node);
    this.#coveredPosition = item.node.position;
    return item;
  }

  #clearWaiting(): void {
    this.#waitingItems = [];
    this.#waitingBytes = 0;
  }

  async #readMissing(): Promise<void> {
    const range = {
      above: this.#coveredPosition,
      upTo: this.#joinedPosition,
      limit: CATCH_UP_BATCH,
    };
    try {
      this.#hasFailed = false;
      const { entries, readTo } = await this.#tail.read(range, this.filter);
      this.#readItems = entries;
      this.#coveredPosition = readTo ?? this.#joinedPosition;
    } catch (error) {
      if (error instanceof LogLost) await this.#endWith(error);
      // The feed logs the failure once for all subscribers. Its next poll also wakes this subscriber.
      this.#hasFailed = true;
      await this.#signal.wait();
    }
  }

  async #endWith(lost: LogLost): Promise<never> {
    await this.return();
    throw lost;
  }
}
