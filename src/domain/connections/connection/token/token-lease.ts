/**
 * A lease on the row of a connection, so that one process at a time refreshes its token. The lease expires by the
 * database's clock. The work finishes before the lease expires, even if the process was frozen.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { Prisma } from '../../../../database/generated/client.ts';
import { LeasedRows } from '../../../../database/leases/leased-rows.ts';
import type { Database } from '../../../../database/open/database.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import { MINUTE_MS } from '../../../../work/durations.ts';
import type { Services } from '../../../access/call.ts';
import type { ConnectionKey } from '../credentials.ts';

/** Enough time to restart a process that crashed with a token in its journal. */
const LEASE_MS = MINUTE_MS;
/** The maximum duration of the token request and the commit of its response together. */
const WORK_MS = 40_000;

/** How long to wait. A refresh or a consent takes less, unless its process ends or the database is down. */
const LEASE_WAIT_MS = 20_000;
const LEASE_POLL_MS = 100;

/** The lease of a process that refreshes the token of a connection, or stores a consent. */
export const REFRESH_LEASES = new LeasedRows({
  table: 'Connection',
  key: ['projectId', 'id'],
  leaseMs: LEASE_MS,
  columns: { token: 'refreshLeaseToken', expireTime: 'refreshLeaseExpireTime' },
  dueColumn: 'refreshDueTime',
});

/** The columns that a refresh needs, as of the claim. */
export const REFRESH_COLUMNS = [
  'id',
  'projectId',
  'provider',
  'providerAppId',
  'providerWorkspaceRef',
  'providerMetadata',
  'refreshLeaseToken',
] as const;

export type RefreshClaim = Pick<Row<'Connection'>, (typeof REFRESH_COLUMNS)[number]>;

/** The columns of a connection that a token request needs. */
export type LeasedConnection = Omit<RefreshClaim, 'refreshLeaseToken'>;

/**
 * Claims the lease, and waits while another process has it. Null if `isNeeded`, which runs before each attempt, returns
 * false. Throws RETRYABLE if the other process keeps the lease.
 */
export async function waitForRefreshLease(
  services: Pick<Services, 'database'>,
  connection: ConnectionKey,
  isNeeded: () => Promise<boolean>,
): Promise<RefreshLease | null> {
  const deadlineMs = performance.now() + LEASE_WAIT_MS;
  for (;;) {
    if (!(await isNeeded())) return null;
    const lease = await claimRefreshLease(services, connection);
    if (lease) return lease;
    if (performance.now() > deadlineMs) {
      throw new ProviderError('RETRYABLE', 'Another process is still refreshing the token.');
    }
    await delay(LEASE_POLL_MS);
  }
}

/** Claims the lease. Returns null if another process has it, or if the connection was deleted. */
async function claimRefreshLease(
  { database }: Pick<Services, 'database'>,
  { id, projectId }: ConnectionKey,
): Promise<RefreshLease | null> {
  const claimedAtMs = performance.now();
  const key = { id, projectId };
  const claim = await REFRESH_LEASES.claimOne(database, key, { columns: REFRESH_COLUMNS });
  return claim && new RefreshLease(database, claim, claimedAtMs);
}

export class RefreshLease {
  readonly #database: Database;
  readonly #claim: RefreshClaim;
  #renewedAtMs: number;
  #isReleasable = true;

  /** `claimedAtMs` is when the lease began or later, by performance.now(). */
  constructor(database: Database, claim: RefreshClaim, claimedAtMs: number) {
    this.#database = database;
    this.#claim = claim;
    this.#renewedAtMs = claimedAtMs;
  }

  get connection(): LeasedConnection {
    return this.#claim;
  }

  /** Throws RETRYABLE if the lease expires too soon for a refresh. */
  requireTime(): void {
    if (performance.now() - this.#renewedAtMs <= LEASE_MS - WORK_MS) return;
    throw new ProviderError('RETRYABLE', 'The token could not be refreshed in time.');
  }

  /**
   * Lets the lease outlast this process. Must run before a refresh token is used: the new refresh token may exist only in
   * this process's journal. The lease keeps other processes from using the old token until this process can restart.
   * Also extends the lease. Throws LeaseLost if the claim was lost.
   */
  async outlastProcess(): Promise<void> {
    const { kind, prisma } = this.#database;
    // An embedded database has one process, which stores its journal before any other work.
    if (kind === 'embedded') return;
    const startMs = performance.now();
    await REFRESH_LEASES.detach(prisma, this.#claim);
    this.#renewedAtMs = startMs;
  }

  /**
   * Makes `release` do nothing, because the commit of the new token has released the lease, or because the lease must last
   * until it expires.
   */
  preventRelease(): void {
    this.#isReleasable = false;
  }

  get isReleasable(): boolean {
    return this.#isReleasable;
  }

  /** Changes and releases the row, if it is held and meets the condition. */
  async release(
    change: Prisma.ConnectionUpdateManyMutationInput = {},
    condition: Prisma.ConnectionWhereInput = {},
  ): Promise<void> {
    if (!this.#isReleasable) return;
    const where = { ...condition, ...REFRESH_LEASES.getClaimFilter(this.#claim) };
    const data = { ...change, refreshLeaseToken: null, refreshLeaseExpireTime: null };
    const { count } = await this.#database.prisma.connection.updateMany({ where, data });
    this.#isReleasable = count === 0;
  }
}
