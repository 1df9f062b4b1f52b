/** Follows the end of a log, and reads new entries once for all followers. */
import {
  type FeedSource,
  type FollowedLog,
  type LogEntry,
  type LogItem,
  LogLost,
  type LogRange,
  type LogRead,
} from './feed-source.ts';
import type { Follower } from './follower.ts';
import { ResultStreamItem } from './result-stream-item.ts';

/** The maximum number of entries in one read. */
const TAIL_BATCH = 128;

export class Tail<E extends LogEntry, F> {
  readonly log: FollowedLog;
  readonly source: FeedSource<E, F>;
  readonly followers = new Set<Follower<E, F>>();
  /** Every entry up to this position was passed to the live followers. */
  position: bigint;
  #isReading = false;
  #hasMore = false;

  /** `position` is the position of the log's last entry. */
  constructor(source: FeedSource<E, F>, log: FollowedLog, position: bigint) {
    this.source = source;
    this.log = log;
    this.position = position;
  }

  async read(range: LogRange, filter?: F): Promise<LogRead<LogItem<E>>> {
    const { entries, readTo } = await this.source.read(this.log, range, filter);
    const toItem = (entry: E) => new ResultStreamItem(entry, this.source.encodeCursor(entry));
    return { entries: entries.map(toItem), readTo };
  }

  /** Reads to the end of the log. Throws if the database is unavailable. Simultaneous calls share one read. */
  async advance(): Promise<void> {
    this.#hasMore = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#hasMore && this.followers.size > 0) {
        this.#hasMore = false;
        await this.#readBatch();
      }
    } catch (error) {
      if (!(error instanceof LogLost)) throw error;
      await this.#reportLoss(error);
    } finally {
      this.#isReading = false;
    }
  }

  async #readBatch(): Promise<void> {
    const { entries: items, readTo } = await this.read({
      above: this.position,
      limit: TAIL_BATCH,
    });
    if (readTo !== null) this.#hasMore = true;
    const position = readTo ?? items.at(-1)?.node.position;
    if (position === undefined) return;
    const filters = [...this.followers].map(({ filter }) => filter);
    const entries = items.map(({ node }) => node);
    const matches = await this.source.createMatcher(this.log, entries, filters);
    for (const follower of this.followers) {
      follower.offer(items, (entry) => matches(entry, follower.filter));
    }
    this.position = position;
  }

  /** Reports lost entries to the live followers, and continues at the end of the log. */
  async #reportLoss(lost: LogLost): Promise<void> {
    for (const follower of this.followers) follower.reportLoss(lost);
    const lastPositions = await this.source.readLastPositions([this.log]);
    this.position = lastPositions.get(this.log.logId) ?? this.position;
  }
}
