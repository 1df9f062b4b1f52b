/** The messages between the thread of the embedded database and other threads. */
import type { MessagePort } from 'node:worker_threads';
import { StartRefused } from '../../../kernel/errors.ts';

/** Requests a copy of the database's files in a folder that does not exist yet. */
export interface CopyRequest {
  copyTo: string;
}
/** A new connection or a request. */
export type ToEngine = MessagePort | CopyRequest | 'close';

export interface CopyResult {
  copiedTo: string;
  failure: string | null;
}

interface EngineFailure {
  /** The last error that PostgreSQL logged before it aborted. */
  lastLogLine: string;
  message: string;
  /** True if an operator can resolve the cause, which the message names. */
  isRefused: boolean;
}
/** The state of the engine. Results of copies are sent in addition. */
export type FromEngine = 'open' | 'closed' | EngineFailure;

const DISK_FULL_MESSAGE = /No space left on device|Disk quota exceeded/;
/** SQLSTATE: disk full. */
const DISK_FULL = '53100';

/** Creates the error for a thread that ended, from its last message or its uncaught error. */
export function createEngineFailure(lastMessage: FromEngine | undefined, error: unknown): Error {
  if (error) return new Error('The thread of the database failed.', { cause: error });
  if (typeof lastMessage !== 'object') return new Error('The thread of the database has ended.');
  const { lastLogLine, message, isRefused } = lastMessage;
  const isFull = DISK_FULL_MESSAGE.test(lastLogLine) || DISK_FULL_MESSAGE.test(message);
  if (isFull) return Object.assign(new Error(lastLogLine || message), { code: DISK_FULL });
  if (isRefused) return new StartRefused(message);
  return new Error(`PostgreSQL ended: ${lastLogLine || message}`);
}

export function isDiskFull(failure: Error): boolean {
  return (failure as NodeJS.ErrnoException).code === DISK_FULL;
}
