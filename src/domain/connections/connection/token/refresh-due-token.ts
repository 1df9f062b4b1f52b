/**
 * Refreshes tokens that expire soon, without a request. Unused connections are included, because unused refresh tokens may
 * expire.
 */

import { LeaseLost } from '../../../../database/leases/lease.ts';
import type { Row } from '../../../../database/statements/tables.ts';
import { leasedWork } from '../../../../jobs/leased-work.ts';
import { ServiceUnavailable } from '../../../../kernel/errors.ts';
import { MINUTE_MS } from '../../../../work/durations.ts';
import type { ProviderServices, RowServices } from '../../../access/call.ts';
import { logWorkFailure } from '../../provider/work-failure.ts';
import type { Credentials, UnsealedCredentials } from '../credentials.ts';
import { canRefresh, findRefreshDueTime } from './token.ts';
import { REFRESH_COLUMNS, REFRESH_LEASES, type RefreshClaim, RefreshLease } from './token-lease.ts';
import { refreshWithLease } from './token-refresh.ts';

/** The delay before a worker retries a failed refresh. A request that needs the token retries it earlier. */
const RETRY_MS = 5 * MINUTE_MS;

/** Connections whose token expires soon. */
export const tokenRefreshes = leasedWork({
  kind: 'token_refresh',
  leases: REFRESH_LEASES,
  columns: [...REFRESH_COLUMNS, 'refreshDueTime'],
  perProcess: 32,
  // The token endpoint of one app may hang.
  shareColumn: 'providerAppId',
  perShare: 8,
  run: refreshDueToken,
});

type DueRefresh = RefreshClaim & Pick<Row<'Connection'>, 'refreshDueTime'>;

/** A refresh that has begun is completed even if the process stops, because its refresh token may be used only once. */
async function refreshDueToken(
  services: ProviderServices,
  claim: DueRefresh,
  signal: AbortSignal,
): Promise<void> {
  const lease = new RefreshLease(services.database, claim, performance.now());
  if (signal.aborted) return lease.release();
  try {
    const isStale = (stored: Credentials) => isDueBy(stored, claim.refreshDueTime);
    await schedule(services, lease, await refreshWithLease(services, lease, { isStale }));
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    // Otherwise, the database is not available, and the loop retries the row.
    if (error instanceof ServiceUnavailable && lease.isReleasable) throw error;
    logWorkFailure(services.log, error, {
      fields: { connectionId: claim.id },
      retryEvent: 'token.refresh_delayed',
      defectEvent: 'token.refresh_failed',
    });
    const refreshDueTime = new Date(services.now().getTime() + RETRY_MS);
    // A permanent rejection has set the due time to null.
    await lease.release({ refreshDueTime }, { refreshDueTime: { not: null } });
  }
  await lease.release();
}

/** True if the row became due for this token. False for a token that was stored after the row was scheduled. */
function isDueBy(credentials: Credentials, dueTime: Date | null): boolean {
  const refreshDueTime = findRefreshDueTime(credentials);
  return refreshDueTime !== null && dueTime !== null && refreshDueTime <= dueTime;
}

/** Stores when the token is refreshed next, unless the refresh has stored it. */
async function schedule(
  { database, now }: RowServices,
  lease: RefreshLease,
  { sealed, credentials }: UnsealedCredentials,
): Promise<void> {
  const condition = { credentialsSealed: sealed };
  if (canRefresh(credentials)) {
    return lease.release({ refreshDueTime: findRefreshDueTime(credentials) }, condition);
  }
  const { id, projectId } = lease.connection;
  // Imported credentials lack this time.
  await database.prisma.connection.updateMany({
    where: { ...condition, id, projectId, unrefreshableSince: null },
    data: { unrefreshableSince: now() },
  });
  // Comes last, because a worker finds the connection by its due time after a crash.
  await lease.release({ tokenExpireTime: null, refreshDueTime: null }, condition);
}
