/**
 * One process at a time refreshes a connection's token: a lease on the row, told by the database's clock.
 * Work under it ends before it does, even if the process was frozen in between.
 */
import type { Database } from '../../../database/database.ts';
import { LeasedRows } from '../../../database/leased-rows.ts';
import type { Row } from '../../../database/rows.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { MINUTE_MS } from '../../../work/durations.ts';
import { lastingToken } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import type { ConnectionKey } from '../session/stored-credentials.ts';

/** Long enough for a process that crashed with a token in its journal to be started again. */
const LEASE_MS = MINUTE_MS;
/** The longest that the request for a token and the commit of its answer take. */
const WORK_MS = 40_000;

const REFRESHES = new LeasedRows({
  table: 'Connection',
  key: ['projectId', 'id'],
  leaseMs: LEASE_MS,
  columns: { token: 'refreshLeaseToken', expireTime: 'refreshLeaseExpireTime' },
});

const NEEDED = [
  'id',
  'projectId',
  'provider',
  'providerAppId',
  'providerWorkspaceRef',
  'providerMetadata',
] as const;

/** What refreshing needs of the connection, as it is under the lease. */
export type LeasedConnection = Pick<Row<'Connection'>, (typeof NEEDED)[number]>;

type Claim = LeasedConnection & Pick<Row<'Connection'>, 'refreshLeaseToken'>;

/** Null if another process has it, or the connection is gone. */
export async function claimLease(
  { database }: Pick<Services, 'database'>,
  { id, projectId }: ConnectionKey,
): Promise<Lease | null> {
  const claimedAtMs = performance.now();
  const columns = [...NEEDED, 'refreshLeaseToken'] as const;
  const claim = await REFRESHES.claimOne(database, { id, projectId }, { columns });
  return claim && new Lease(database, claim, claimedAtMs);
}

export class Lease {
  readonly #database: Database;
  readonly #claimedAtMs: number;
  #hasEnded = false;
  #claim: Claim;

  constructor(database: Database, claim: Claim, claimedAtMs: number) {
    this.#database = database;
    this.#claim = claim;
    this.#claimedAtMs = claimedAtMs;
  }

  get connection(): LeasedConnection {
    return this.#claim;
  }

  /** Throws RETRYABLE if too little of it is left. */
  requireTime(): void {
    if (performance.now() - this.#claimedAtMs <= LEASE_MS - WORK_MS) return;
    throw new ProviderError('RETRYABLE', 'The token could not be refreshed in time.');
  }

  /**
   * Call it before a refresh token is used: what the provider gives in its place may be in this process's
   * journal, so that nobody else uses the old one before this process could be started again. Throws LeaseLost.
   */
  async outlastProcess(): Promise<void> {
    const { kind, prisma } = this.#database;
    // The one process of an embedded database stores its journal before anything else.
    if (kind === 'embedded') return;
    const { refreshLeaseToken: token } = this.#claim;
    const lasting = { refreshLeaseToken: token && lastingToken(token) };
    await REFRESHES.change(prisma.connection, this.#claim, lasting);
    this.#claim = { ...this.#claim, ...lasting };
  }

  /** It is not to be released: what stored the new token has given it back, or others have to wait for it to end. */
  end(): void {
    this.#hasEnded = true;
  }

  async release(): Promise<void> {
    if (this.#hasEnded) return;
    const where = REFRESHES.heldBy(this.#claim);
    const data = { refreshLeaseToken: null, refreshLeaseExpireTime: null };
    await this.#database.prisma.connection.updateMany({ where, data });
  }
}
