/** Which errors say that the database fails, and not that a statement is wrong. */

export type FailureKind =
  /** Gone, restarting, or refusing this gateway's login. */
  | 'UNREACHABLE'
  /** No connection is free, here or in the server. */
  | 'BUSY'
  /** It runs, and did not answer within its limit. */
  | 'SLOW'
  /** Out of disk, memory or another resource. */
  | 'FULL'
  /** A standby, after a failover. */
  | 'READ_ONLY';

/** SQLSTATE: the codes of PostgreSQL's errors, by their beginning. */
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
const IS_STATE = /^[0-9A-Z]{5}$/;

/** Of a connection that was cut since nothing came. */
export const HUNG = 'No answer came in time';

/** pg's own errors have no code. */
const MESSAGES: readonly [string, FailureKind][] = [
  ['timeout exceeded when trying to connect', 'BUSY'],
  [HUNG, 'SLOW'],
  ['Connection terminated', 'UNREACHABLE'],
  ['timeout expired', 'UNREACHABLE'],
  ['Client has encountered a connection error', 'UNREACHABLE'],
  ['Client was closed', 'UNREACHABLE'],
  ['Cannot use a pool after calling end', 'UNREACHABLE'],
];

/** Prisma's own: a transaction could not begin in time, or has outlived its time. */
const TRANSACTION_TIMEOUT = 'P2028';

/** Null for every other error. */
export function failureKindOf(error: unknown): FailureKind | null {
  if (error instanceof AggregateError) return failureKindOf(error.errors[0]);
  if (!(error instanceof Error)) return null;
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === TRANSACTION_TIMEOUT) return 'SLOW';
  if (syscall !== undefined) return 'UNREACHABLE';
  const known = IS_STATE.test(code ?? '')
    ? STATES.find(([beginning]) => code?.startsWith(beginning))
    : MESSAGES.find(([beginning]) => message.startsWith(beginning));
  return known?.[1] ?? null;
}
