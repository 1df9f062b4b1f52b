/** Distinguishes failures of the database from wrong statements. */

export type FailureKind =
  /** Unreachable, restarting, or refusing the gateway's login. */
  | 'UNREACHABLE'
  /** No connection is free, in the pool or in the server. */
  | 'BUSY'
  /** The database did not respond within the limit. */
  | 'SLOW'
  /** Out of disk, memory or another resource. */
  | 'FULL'
  /** A standby, after a failover. */
  | 'READ_ONLY';

/** SQLSTATE codes of PostgreSQL's errors, by prefix. */
const STATES: readonly [string, FailureKind][] = [
  ['08', 'UNREACHABLE'],
  ['28', 'UNREACHABLE'],
  ['3D000', 'UNREACHABLE'],
  ['57P', 'UNREACHABLE'],
  ['53300', 'BUSY'],
  ['53', 'FULL'],
  ['58', 'UNREACHABLE'],
  ['25006', 'READ_ONLY'],
  ['25P03', 'SLOW'],
  ['55P03', 'SLOW'],
  ['57014', 'SLOW'],
];
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** The message for a connection that was destroyed because no response arrived. */
export const HUNG_MESSAGE = 'No response arrived in time';

/** Errors of pg itself have no code. */
const MESSAGES: readonly [string, FailureKind][] = [
  ['timeout exceeded when trying to connect', 'BUSY'],
  [HUNG_MESSAGE, 'SLOW'],
  ['Connection terminated', 'UNREACHABLE'],
  ['timeout expired', 'UNREACHABLE'],
  ['Client has encountered a connection error', 'UNREACHABLE'],
  ['Client was closed', 'UNREACHABLE'],
  ['Cannot use a pool after calling end', 'UNREACHABLE'],
];

/** An error of Prisma itself: a transaction could not begin in time, or exceeded its time limit. */
const TRANSACTION_TIMEOUT = 'P2028';

/** Returns the kind of failure. Null if the error is not a failure of the database. */
export function findFailureKind(error: unknown): FailureKind | null {
  if (error instanceof AggregateError) return findFailureKind(error.errors[0]);
  if (!(error instanceof Error)) return null;
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === TRANSACTION_TIMEOUT) return 'SLOW';
  if (syscall !== undefined) return 'UNREACHABLE';
  const match = SQLSTATE.test(code ?? '')
    ? STATES.find(([prefix]) => code?.startsWith(prefix))
    : MESSAGES.find(([prefix]) => message.startsWith(prefix));
  return match?.[1] ?? null;
}
