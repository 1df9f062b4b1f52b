/** The contract between a feed and the logs that it reads. The entries of a log are in commit order. */
import { DomainError } from '../kernel/errors.ts';
import type { ResultStreamItem } from './result-stream-item.ts';

export interface FollowedLog {
  projectId: string;
  /** The id by which notifications name the log. */
  logId: string;
}

export interface LogEntry {
  position: bigint;
}

/** An entry with its cursor in its list, as followers receive it. */
export type LogItem<E> = ResultStreamItem<E, string>;

export interface LogRange {
  /** The exclusive lower bound. */
  above: bigint;
  /** The inclusive upper bound. Default: the end of the log. */
  upTo?: bigint;
  limit: number;
}

export interface LogRead<E> {
  entries: E[];
  /**
   * The position up to which the range was read, if more entries may follow. The entry at this position may have been
   * removed in the meantime. Null if the whole range was read.
   */
  readTo: bigint | null;
}

export interface FeedSource<E extends LogEntry, F> {
  /** Reads entries in their order. Throws LogLost if some were removed before they were read. */
  read(log: FollowedLog, range: LogRange, filter?: F): Promise<LogRead<E>>;
  /** Returns the last position of each log, by its id. A log without entries may be absent. */
  readLastPositions(logs: readonly FollowedLog[]): Promise<Map<string, bigint>>;
  /** Returns a predicate: does this entry match this filter, which is one of `filters`? */
  createMatcher(
    log: FollowedLog,
    entries: readonly E[],
    filters: readonly F[],
  ): Promise<(entry: E, filter: F) => boolean>;
  /** Returns the cursor with which a client resumes after an entry. */
  encodeCursor(entry: E): string;
  /** Returns the bytes of memory that an entry uses while it waits for a subscriber. 0 for small entries. */
  countBytes(entry: E): number;
}

/** Ends a follower's stream, because entries that it has not read were removed. */
export class LogLost extends DomainError {
  /** The position of the last removed entry. Null if the whole log was removed. */
  readonly upTo: bigint | null;

  constructor({ code, message, issues }: DomainError, upTo: bigint | null) {
    super(code, message, issues && { issues });
    this.upTo = upTo;
  }
}
