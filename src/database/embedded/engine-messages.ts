/** What the thread of the embedded database and the others tell each other. */
import type { MessagePort } from 'node:worker_threads';
import { StartRefused } from '../../errors.ts';

/** The order to copy the database's files into a folder that is not there yet. */
export interface CopyOrder {
  copyTo: string;
}
/** A connection, or an order. */
export type ToEngine = MessagePort | CopyOrder | 'close';

/** A copy is there, or why it isn't. */
export interface CopyEnd {
  copiedTo: string;
  failure: string | null;
}

export interface EngineEnd {
  /** What PostgreSQL said last, if it ended by itself. */
  lastWords: string;
  message: string;
  /** An operator can do something about it, and is told what. */
  isRefused: boolean;
}
/** Of its life; ends of copies come beside it. */
export type FromEngine = 'open' | 'closed' | EngineEnd;

const NO_ROOM = /No space left on device|Disk quota exceeded/;
/** SQLSTATE: disk full. */
const DISK_FULL = '53100';

/** Why a thread has ended, which told this last, or has thrown an error. */
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
