/** What a feed follows: logs of one kind, whose entries lie in the order in which they were committed. */
import { DomainError } from '../errors.ts';
import type { StreamItem } from './stream-item.ts';

export interface FollowedLog {
  projectId: string;
  /** Hints name the log by it. */
  logId: string;
}

export interface LogEntry {
  position: bigint;
}

/** An entry with its cursor in its list, as followers get it. */
export type LogItem<E> = StreamItem<E, string>;

export interface LogRange {
  /** Exclusive. */
  above: bigint;
  /** Inclusive. Default: the log's end. */
  upTo?: bigint;
  limit: number;
}

/** Entries of a range, and how far it was read. */
export interface LogPart<E> {
  entries: E[];
  /** Up to here, where more may follow in the range: an entry there may have been removed meanwhile. Null: the whole range. */
  readTo: bigint | null;
}

export interface FeedSource<E extends LogEntry, F> {
  /** In their order. Throws LogLost if some of them were removed before they were read. */
  read(log: FollowedLog, range: LogRange, filter?: F): Promise<LogPart<E>>;
  /** The last position of each log, by its id; one without entries may be left out. */
  readEnds(logs: readonly FollowedLog[]): Promise<Map<string, bigint>>;
  /** Tells of these entries which a follower wants, by its filter: one of `filters`. */
  choose(
    log: FollowedLog,
    entries: readonly E[],
    filters: readonly F[],
  ): Promise<(entry: E, filter: F) => boolean>;
  /** The cursor by which a client resumes after an entry. */
  cursorOf(entry: E): string;
  /** What an entry holds while it waits for a subscriber, if that may be much. */
  bytesOf(entry: E): number;
}

/** What a follower has not read yet is gone: its stream ends with this. */
export class LogLost extends DomainError {
  /** Who has all up to here has missed nothing; null if the whole log is gone. */
  readonly upTo: bigint | null;

  constructor({ code, message, issues }: DomainError, upTo: bigint | null) {
    super(code, message, issues && { issues });
    this.upTo = upTo;
  }
}
