/**
 * Refreshes access tokens, one process at a time for each connection. Concurrent requests in this process share one
 * refresh, and wait while another process has the lease (docs/decisions/006-refresh-tokens.md).
 */

import { measure } from '../../../../kernel/meters.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import { MINUTE_MS } from '../../../../work/durations.ts';
import type {
  CoreServices,
  ProjectServices,
  ProviderServices,
  RowServices,
} from '../../../access/call.ts';
import { inProject, toProviderLabel } from '../../../access/catalog.ts';
import { requireForProvider } from '../../provider/credential-targets.ts';
import { recordBadCredentials } from '../connection-status.ts';
import type { ConnectionKey, UnsealedCredentials } from '../credentials.ts';
import { areCredentialsEqual, readCredentials } from '../session/stored-credentials.ts';
import {
  canRefresh,
  findStoredToken,
  type RefreshableCredentials,
  replaceTokens,
  type TokenCredentials,
} from './token.ts';
import {
  commitRenewal,
  type Renewal,
  removeFromJournal,
  replayEntry,
  writeJournal,
} from './token-commit.ts';
import {
  findRejection,
  requestTokens,
  type TokenRequest,
  type TokenResponse,
} from './token-endpoint.ts';
import { type RefreshLease, waitForRefreshLease } from './token-lease.ts';
import { createRefreshRequest } from './token-request.ts';

/** A rejection that must repeat is final this long after the first one. */
const REPETITION_MS = 10 * MINUTE_MS;

export interface RefreshRequest {
  /** True if the stored credentials must be replaced. */
  isStale: (credentials: TokenCredentials) => boolean;
  /** True if a caller requested the refresh. The first token then counts as a refresh too. */
  isRequested?: boolean;
}

/**
 * Returns credentials with a token that is not stale, or unchanged credentials that can't be refreshed. Throws
 * AUTH_INVALIDATED and sets BAD_CREDENTIALS if the provider rejects them permanently. Throws other kinds of ProviderError
 * if the refresh fails.
 */
export async function getFreshCredentials(
  services: ProviderServices,
  connection: ConnectionKey,
  request: RefreshRequest,
): Promise<UnsealedCredentials> {
  const { refreshes } = services.providerAccess;
  const runningRefresh = refreshes.get(connection.id);
  if (runningRefresh) {
    const credentials = await runningRefresh;
    if (!needsRefresh(credentials, request)) return credentials;
  }
  const laterRefresh = refreshes.get(connection.id);
  if (laterRefresh) return laterRefresh;
  const newRefresh = refresh(services, connection, request).finally(() =>
    refreshes.delete(connection.id),
  );
  refreshes.set(connection.id, newRefresh);
  return newRefresh;
}

function needsRefresh({ credentials }: UnsealedCredentials, { isStale }: RefreshRequest): boolean {
  return canRefresh(credentials) && isStale(credentials);
}

async function refresh(
  services: ProviderServices,
  connection: ConnectionKey,
  request: RefreshRequest,
): Promise<UnsealedCredentials> {
  const lease = await waitForRefreshLease(services, connection, async () =>
    needsRefresh(await readCredentials(services, connection), request),
  );
  if (!lease) return readCredentials(services, connection);
  try {
    return await refreshWithLease(services, lease, request);
  } finally {
    // If the release fails, the lease expires.
    await lease.release().catch(() => {});
  }
}

/** Does what `getFreshCredentials` does, for a caller that holds the lease. The caller releases it. */
export async function refreshWithLease(
  services: ProviderServices,
  lease: RefreshLease,
  { isStale, isRequested = false }: RefreshRequest,
): Promise<UnsealedCredentials> {
  await replayEntry(services, lease.connection.id);
  const storedCredentials = await readCredentials(services, lease.connection);
  const { credentials } = storedCredentials;
  if (!canRefresh(credentials) || !isStale(credentials)) return storedCredentials;
  const projectServices = await inProject(services, lease.connection.projectId);
  const provider = projectServices.catalog.find(lease.connection.provider);
  if (provider) requireForProvider(provider, storedCredentials);
  return renewToken(projectServices, { lease, before: credentials, isRequested });
}

interface RenewalRequest {
  lease: RefreshLease;
  before: RefreshableCredentials;
  isRequested: boolean;
}

async function renewToken(
  services: ProjectServices,
  { lease, before, isRequested }: RenewalRequest,
): Promise<UnsealedCredentials> {
  const { connection } = lease;
  const request = await createRefreshRequest(services, connection, before);
  if ('refreshToken' in before) await lease.outlastProcess();
  lease.requireTime();
  let after: TokenCredentials;
  try {
    after = replaceTokens(
      before,
      await requestMeasuredTokens(services, { ...request, connection }),
    );
  } catch (error) {
    return recordRejection(services, { connection, before, error });
  }
  const renewal = { connection, before, after };
  const isJournaled = isRotated(before, after) && tryToJournal(services, renewal);
  const isRefresh = isRequested || findStoredToken(before) !== undefined;
  const newCredentials = await commitRenewal(services, { ...renewal, isRefresh }).catch(
    (error: unknown) => {
      if (isJournaled && !(error instanceof ProviderError)) {
        // The outage of the database lasts longer than callers wait. The lease keeps other processes from using the old
        // token until the new one is stored.
        lease.preventRelease();
        services.providerAccess.unstoredTokens.add(connection.id, () =>
          replayEntry(services, connection.id),
        );
      }
      throw error;
    },
  );
  if (isJournaled) removeFromJournal(services, connection);
  if (newCredentials) lease.preventRelease();
  return newCredentials ?? readCredentials(services, connection);
}

function requestMeasuredTokens(
  services: ProviderServices,
  request: TokenRequest,
): Promise<TokenResponse> {
  return measure(
    services.meters,
    () => requestTokens(services, request),
    ({ outcome }) => {
      const provider = toProviderLabel(request.provider);
      services.meters.tokenRefreshed({ provider, outcome });
    },
  );
}

/** True if the response replaced the refresh token. The new token must not be lost, because the old one is invalid. */
function isRotated(before: TokenCredentials, after: TokenCredentials): boolean {
  return findRefreshToken(before) !== findRefreshToken(after);
}

function findRefreshToken(credentials: TokenCredentials): string | undefined {
  return 'refreshToken' in credentials ? credentials.refreshToken?.token : undefined;
}

function tryToJournal(services: CoreServices, renewal: Renewal): boolean {
  try {
    writeJournal(services, renewal);
    return true;
  } catch (error) {
    // Without an entry, only a crash before the commit loses the token. An error here would always lose it.
    const fields = { connectionId: renewal.connection.id, error: String(error) };
    services.log.error(fields, 'token_journal.not_written');
    return false;
  }
}

/**
 * Returns the current credentials if the rejected ones were replaced in the meantime. If not, records a final rejection and
 * throws AUTH_INVALIDATED. A rejection that is final only if it repeats becomes RETRYABLE until then. Rethrows other errors.
 */
async function recordRejection(
  services: CoreServices,
  {
    connection,
    before,
    error,
  }: { connection: ConnectionKey; before: TokenCredentials; error: unknown },
): Promise<UnsealedCredentials> {
  const rejection = findRejection(error);
  if (!(error instanceof ProviderError) || rejection === null) throw error;
  const currentCredentials = await readCredentials(services, connection);
  if (!areCredentialsEqual(currentCredentials.credentials, before)) return currentCredentials;
  const { sealed } = currentCredentials;
  const isRepeated = await recordRejectedRefresh(services, connection, sealed);
  if (rejection === 'IF_REPEATED' && !isRepeated) {
    throw new ProviderError('RETRYABLE', error.message, { cause: error });
  }
  const errors = [error.message];
  await recordBadCredentials(services, { connection, sealed, cause: 'REFRESH', errors });
  throw new ProviderError('AUTH_INVALIDATED', error.message, { cause: error });
}

/**
 * Records the time of the first rejection since the last refresh. Returns true if it was long enough ago that this one
 * counts as repeated.
 */
async function recordRejectedRefresh(
  { database, now }: RowServices,
  { id, projectId }: ConnectionKey,
  credentialsSealed: string | null,
): Promise<boolean> {
  const { connection } = database.prisma;
  const where = { id, projectId, credentialsSealed };
  await connection.updateMany({
    where: { ...where, refreshRejectedTime: null },
    data: { refreshRejectedTime: now() },
  });
  const refreshRejectedTime = { lte: new Date(now().getTime() - REPETITION_MS) };
  return (await connection.count({ where: { ...where, refreshRejectedTime } })) > 0;
}
