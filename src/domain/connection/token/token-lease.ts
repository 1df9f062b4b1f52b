/**
 * One process at a time refreshes a connection's token: a lease on the row, told by the database's clock.
 * Work under it ends before it does, even if the process was frozen in between.
 */
import { Prisma } from '../../../database/generated/client.ts';
import type { Row } from '../../../database/rows.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { MINUTE_MS } from '../../../work/durations.ts';
import {
  isFreeSql,
  lastingToken,
  leaseEndSql,
  newLeaseToken,
  requireLease,
} from '../../../work/lease.ts';
import type { Services } from '../../call.ts';
import type { ConnectionKey } from '../session/held-credentials.ts';

/** Long enough for a process that crashed with a token in its journal to be started again. */
const LEASE_MS = MINUTE_MS;
const LEASE_END = Prisma.raw(leaseEndSql(LEASE_MS));
const IS_FREE = Prisma.raw(
  isFreeSql({ token: 'refreshLeaseToken', expireTime: 'refreshLeaseExpireTime' }),
);
/** The longest that the request for a token and the commit of its answer take. */
const WORK_MS = 40_000;

/** What refreshing needs of the connection, as it is under the lease. */
export type LeasedConnection = Pick<
  Row<'Connection'>,
  'id' | 'projectId' | 'provider' | 'providerAppId' | 'providerWorkspaceRef' | 'providerMetadata'
>;

export interface Lease {
  connection: LeasedConnection;
  /** Throws RETRYABLE if too little of it is left. */
  requireTime(): void;
  /**
   * Call it before a refresh token is used: what the provider gives in its place may be in this process's
   * journal, so that nobody else uses the old one before this process could be started again. Throws LeaseLost.
   */
  outlastProcess(): Promise<void>;
  release(): Promise<void>;
}

/** Null if another process has it, or the connection is gone. */
export async function claimLease(
  { database: { kind, prisma, processes } }: Pick<Services, 'database'>,
  { id, projectId }: ConnectionKey,
): Promise<Lease | null> {
  const claimedAtMs = performance.now();
  let token = newLeaseToken(processes.id);
  const [connection] = await prisma.$queryRaw<LeasedConnection[]>`
    update "Connection" set
      "refreshLeaseToken" = ${token},
      "refreshLeaseExpireTime" = ${LEASE_END}
    where "projectId" = ${projectId} and "id" = ${id} and ${IS_FREE}
    returning "id", "projectId", "provider", "providerAppId", "providerWorkspaceRef",
      "providerMetadata"`;
  if (!connection) return null;
  return {
    connection,
    requireTime() {
      if (performance.now() - claimedAtMs <= LEASE_MS - WORK_MS) return;
      throw new ProviderError('RETRYABLE', 'The token could not be refreshed in time.');
    },
    async outlastProcess() {
      // The one process of an embedded database stores its journal before anything else.
      if (kind === 'embedded') return;
      const where = { id, projectId, refreshLeaseToken: token };
      token = lastingToken(token);
      const data = { refreshLeaseToken: token };
      const { count } = await prisma.connection.updateMany({ where, data });
      requireLease(count);
    },
    async release() {
      await prisma.connection.updateMany({
        where: { id, projectId, refreshLeaseToken: token },
        data: NO_LEASE,
      });
    },
  };
}

/** The columns of a lease that is over. */
export const NO_LEASE = { refreshLeaseToken: null, refreshLeaseExpireTime: null } as const;
