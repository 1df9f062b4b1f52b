/**
 * Leases on rows: whoever works on a row holds it for a time that the database's clock tells, and may renew it.
 * The token names the process and the claim. A process that has ended holds nothing any more, whatever time its
 * leases have left; a result that comes with the token of an older claim is refused.
 */
import { randomUUID } from 'node:crypto';

/**
 * A process that others miss for this long has ended. One that only lost its connection has reconnected by then.
 */
export const MISSED_MS = 2_000;

/** Another process has taken the work over, or the work has ended: results of this claim no longer count. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/** Throws LeaseLost if a statement that names the claim found no row. */
export function requireLease(rows: number): void {
  if (rows === 0) throw new LeaseLost();
}

const SEPARATOR = ':';

/** The fencing token of a new claim. */
export function newLeaseToken(processId: string): string {
  return `${processId}${SEPARATOR}${randomUUID()}`;
}

/** The token of the same claim, which also lasts to its end if the process ends before. */
export function lastingToken(token: string): string {
  return token.slice(token.indexOf(SEPARATOR) + 1);
}

export interface LeaseColumns {
  token: string;
  expireTime: string;
}

/** Of a table whose rows are held for one kind of work. */
export const LEASE = { token: 'leaseToken', expireTime: 'leaseExpireTime' } as const;

/** What these columns hold when a claim is given back. */
export const GIVEN_BACK = { leaseToken: null, leaseExpireTime: null } as const;

/** SQL: the ids of the processes that have ended. */
export const MISSED_PROCESSES = `array(select "id" from "ServerProcess"
      where "missedTime" <= clock_timestamp() - interval '${MISSED_MS} milliseconds')`;

/** SQL: true if no claim holds the row. */
export function isFreeSql({ token, expireTime }: LeaseColumns = LEASE): string {
  return `("${expireTime}" is null or "${expireTime}" <= clock_timestamp()
    or split_part("${token}", '${SEPARATOR}', 1) = any(${MISSED_PROCESSES}))`;
}

/** SQL: the end of a lease that begins, or is renewed, now. */
export function leaseEndSql(leaseMs: number): string {
  return `clock_timestamp() + interval '${leaseMs} milliseconds'`;
}

/** Often enough that a lease outlasts a renewal that fails. */
const RENEWALS_PER_LEASE = 3;

/** Renews a lease until it is disposed of. A renewal that fails is tried again; a lost lease shows at the next change. */
export function keepLease(
  leaseMs: number,
  renew: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
): Disposable {
  const timer = setInterval(() => void renew().catch(onFailure), leaseMs / RENEWALS_PER_LEASE);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
