/** The messages between the thread of the embedded database and other threads. */
import type { MessagePort } from 'node:worker_threads';
import { StartRefused } from '../../errors.ts';

/** Requests a copy of the database's files in a folder that does not exist yet. */
export interface CopyOrder {
  copyTo: string;
}
/** A new connection or a request. */
export type ToEngine = MessagePort | CopyOrder | 'close';

/** The result of a copy. */
export interface CopyEnd {
  copiedTo: string;
  failure: string | null;
}

export interface EngineEnd {
  /** The last error that PostgreSQL logged before it aborted. */
  lastWords: string;
  message: string;
  /** True if an operator can resolve the cause, which the message names. */
  isRefused: boolean;
}
/** The state of the engine. Results of copies are sent in addition. */
export type FromEngine = 'open' | 'closed' | EngineEnd;

const NO_ROOM = /No space left on device|Disk quota exceeded/;
/** SQLSTATE: disk full. */
const DISK_FULL = '53100';

/** Returns the reason why a thread has ended, from its last message or its uncaught error. */
export function failureOf(last: FromEngine | undefined, thrown: unknown): Error {
  if (thrown) return new Error('The thread of the database failed.', { cause: thrown });
  if (typeof last !== 'object') return new Error('The thread of the database has ended.');
  const { lastWords, message, isRefused } = last;
  const isFull = NO_ROOM.test(lastWords) || NO_ROOM.test(message);
  if (isFull) return Object.assign(new Error(lastWords || message), { code: DISK_FULL });
  if (isRefused) return new StartRefused(message);
  return new Error(`PostgreSQL ended: ${lastWords || message}`);
}

export function isDiskFull(failure: Error): boolean {
  return (failure as NodeJS.ErrnoException).code === DISK_FULL;
}
