/**
 * Leases on rows. A process that works on a row holds it until a time of the database's clock, and may renew the lease.
 * The token identifies the process and the claim. If a process ends, its leases are released within seconds. A result
 * with the token of an older claim is refused.
 */
import { randomUUID } from 'node:crypto';

/**
 * A process that has been missing for this long is considered ended. A process that only lost its connection reconnects
 * within this time.
 */
const MISSED_MS = 2_000;

/** Thrown if another process has taken over the work, or the work has ended. The claim can store no more results. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/** Throws LeaseLost if a statement that names the claim found no row. */
export function requireLease(rows: number): void {
  if (rows === 0) throw new LeaseLost();
}

const SEPARATOR = ':';

/** Returns the fencing token of a new claim. */
export function newLeaseToken(processId: string): string {
  return `${processId}${SEPARATOR}${randomUUID()}`;
}

/**
 * Returns a token of the same claim without its process. The lease then lasts until its end time, even if the process
 * ends before.
 */
export function detachFromProcess(token: string): string {
  return token.slice(token.indexOf(SEPARATOR) + 1);
}

export interface LeaseColumns {
  token: string;
  expireTime: string;
}

/** The lease columns of a table whose rows are held for one kind of work. */
export const LEASE = { token: 'leaseToken', expireTime: 'leaseExpireTime' } as const;

/** Values of the lease columns when a claim is released. */
export const RELEASED_LEASE = { leaseToken: null, leaseExpireTime: null } as const;

/** SQL for the ids of the processes that have ended. */
export const MISSED_PROCESSES = `array(select "id" from "ServerProcess"
      where "lockMissingSince" <= clock_timestamp() - interval '${MISSED_MS} milliseconds')`;

/** Returns an SQL condition: no claim holds the row. */
export function isFreeSql({ token, expireTime }: LeaseColumns = LEASE): string {
  return `("${expireTime}" is null or "${expireTime}" <= clock_timestamp()
    or split_part("${token}", '${SEPARATOR}', 1) = any(${MISSED_PROCESSES}))`;
}

/** Returns SQL for the end of a lease that begins or is renewed now. */
export function leaseEndSql(leaseMs: number): string {
  return `clock_timestamp() + interval '${leaseMs} milliseconds'`;
}

/** The number of renewals during a lease. It is above 1, so that a lease outlasts a failed renewal. */
const RENEWALS_PER_LEASE = 3;

/**
 * Renews a lease until it is disposed of. A failed renewal is retried. The next change of the row detects a lost lease.
 */
export function keepLease(
  leaseMs: number,
  renew: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
): Disposable {
  const timer = setInterval(() => void renew().catch(onFailure), leaseMs / RENEWALS_PER_LEASE);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
