/**
 * One process at a time refreshes a connection's token: a lease on the row, told by the database's clock.
 * What is done under it ends before it does, also where the process was frozen in between.
 */
import { randomUUID } from 'node:crypto';
import type { Row } from '../../database/rows.ts';
import { ProviderError } from '../../providers/provider.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import type { Services } from '../call.ts';
import type { ConnectionKey } from '../connection/session/held-credentials.ts';

/** Long enough for a process that crashed with a token in its journal to be started again. */
const LEASE_MS = MINUTE_MS;
/** The request for a token and the commit of its answer, at their longest. */
const WORK_MS = 40_000;

/** What refreshing needs of the connection, as it is under the lease. */
export type LeasedConnection = Pick<
  Row<'Connection'>,
  'id' | 'projectId' | 'provider' | 'providerAppId' | 'providerWorkspaceRef' | 'providerMetadata'
>;

export interface Lease {
  connection: LeasedConnection;
  /** Throws RETRYABLE where there is not enough of it left. */
  requireTime(): void;
  release(): Promise<void>;
}

/** Null where another process has it, or the connection is gone. */
export async function claimLease(
  { database: { prisma } }: Pick<Services, 'database'>,
  { id, projectId }: ConnectionKey,
): Promise<Lease | null> {
  const claimedAtMs = performance.now();
  const token = randomUUID();
  const [connection] = await prisma.$queryRaw<LeasedConnection[]>`
    update "Connection" set
      "refreshLeaseToken" = ${token},
      "refreshLeaseExpireTime" = clock_timestamp() + ${`${LEASE_MS} milliseconds`}::interval
    where "projectId" = ${projectId} and "id" = ${id}
      and ("refreshLeaseExpireTime" is null or "refreshLeaseExpireTime" < clock_timestamp())
    returning "id", "projectId", "provider", "providerAppId", "providerWorkspaceRef",
      "providerMetadata"`;
  if (!connection) return null;
  return {
    connection,
    requireTime() {
      if (performance.now() - claimedAtMs <= LEASE_MS - WORK_MS) return;
      throw new ProviderError('RETRYABLE', 'The token could not be refreshed in time.');
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
