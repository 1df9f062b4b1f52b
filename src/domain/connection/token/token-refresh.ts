/**
 * Refreshes access tokens, one process at a time for each connection. Concurrent requests in this process share one
 * refresh, and wait while another process has the lease (docs/decisions/006-refresh-tokens.md).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { measure } from '../../../meters.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { Services } from '../../call.ts';
import { recordBadCredentials } from '../connection-status.ts';
import {
  areCredentialsEqual,
  type ConnectionKey,
  readCredentials,
  type UnsealedCredentials,
} from '../session/stored-credentials.ts';
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
import { requestTokens, type TokenRequest, type TokenResponse } from './token-endpoint.ts';
import { claimLease, type Lease } from './token-lease.ts';
import { createRefreshRequest } from './token-request.ts';

/** How long to wait for another process. Its token request takes less, unless the process ends. */
const LEASE_WAIT_MS = 20_000;
const LEASE_POLL_MS = 100;

export interface RefreshRequest {
  /** True if the stored credentials must be replaced. */
  isStale: (credentials: TokenCredentials) => boolean;
  /** True if a caller requested the refresh. The first token then counts as a refresh too. */
  isRequested?: boolean;
}

/** The running refreshes of this process, by connection id. */
export type Refreshes = Map<string, Promise<UnsealedCredentials>>;

/**
 * Returns credentials with a token that is not stale, or unchanged credentials that can't be refreshed. Throws
 * AUTH_INVALIDATED and sets BAD_CREDENTIALS if the provider rejects them. Throws other kinds of ProviderError if the
 * refresh fails.
 */
export async function getFreshCredentials(
  services: Services,
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
  services: Services,
  connection: ConnectionKey,
  request: RefreshRequest,
): Promise<UnsealedCredentials> {
  const deadlineMs = performance.now() + LEASE_WAIT_MS;
  for (;;) {
    const credentials = await readCredentials(services, connection);
    if (!needsRefresh(credentials, request)) return credentials;
    const lease = await claimLease(services, connection);
    if (lease) return refreshWithLease(services, lease, request);
    if (performance.now() > deadlineMs) {
      throw new ProviderError('RETRYABLE', 'Another process is still refreshing the token.');
    }
    await delay(LEASE_POLL_MS);
  }
}

async function refreshWithLease(
  services: Services,
  lease: Lease,
  { isStale, isRequested = false }: RefreshRequest,
): Promise<UnsealedCredentials> {
  try {
    await replayEntry(services, lease.connection.id);
    const storedCredentials = await readCredentials(services, lease.connection);
    const { credentials } = storedCredentials;
    if (!canRefresh(credentials) || !isStale(credentials)) return storedCredentials;
    return await renewToken(services, { lease, before: credentials, isRequested });
  } finally {
    // If the release fails, the lease expires.
    await lease.release().catch(() => {});
  }
}

interface RenewalRequest {
  lease: Lease;
  before: RefreshableCredentials;
  isRequested: boolean;
}

async function renewToken(
  services: Services,
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

function requestMeasuredTokens(services: Services, request: TokenRequest): Promise<TokenResponse> {
  return measure(
    services.meters,
    () => requestTokens(services, request),
    ({ outcome }) => services.meters.tokenRefreshed({ provider: request.provider.name, outcome }),
  );
}

/** True if the response replaced the refresh token. The new token must not be lost, because the old one is invalid. */
function isRotated(before: TokenCredentials, after: TokenCredentials): boolean {
  return findRefreshToken(before) !== findRefreshToken(after);
}

function findRefreshToken(credentials: TokenCredentials): string | undefined {
  return 'refreshToken' in credentials ? credentials.refreshToken?.token : undefined;
}

function tryToJournal(services: Services, renewal: Renewal): boolean {
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
 * Returns the current credentials if the rejected ones were replaced in the meantime. If not, records the rejection and
 * rethrows the error. Rethrows other errors.
 */
async function recordRejection(
  services: Services,
  {
    connection,
    before,
    error,
  }: { connection: ConnectionKey; before: TokenCredentials; error: unknown },
): Promise<UnsealedCredentials> {
  if (!(error instanceof ProviderError) || error.kind !== 'AUTH_INVALIDATED') throw error;
  const currentCredentials = await readCredentials(services, connection);
  if (!areCredentialsEqual(currentCredentials.credentials, before)) return currentCredentials;
  const { sealed } = currentCredentials;
  await recordBadCredentials(services, { connection, sealed, errors: [error.message] });
  throw error;
}
