/**
 * Gets new access tokens, one process at a time for each connection. Concurrent requests in this process share one
 * exchange, and wait for the lease of another process (docs/decisions/006-refresh-tokens.md).
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
  isTokenCredentials,
  type TokenCredentials,
  withTokens,
} from './token.ts';
import { commitRenewal, replayEntry } from './token-commit.ts';
import { requestTokens, type TokenRequest, type TokenResponse } from './token-endpoint.ts';
import { type Renewal, removeFromJournal, writeJournal } from './token-journal.ts';
import { claimLease, type Lease } from './token-lease.ts';
import { createRefreshRequest } from './token-request.ts';

/** After this time, the token request of another process has ended, or that process has. */
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
 * Returns the credentials with a token that is not stale, or unchanged if they can't be refreshed. Throws
 * AUTH_INVALIDATED and sets BAD_CREDENTIALS if the provider rejects them. Throws other kinds of ProviderError if the
 * refresh fails: the request that needs the token has not been sent.
 */
export async function getFreshCredentials(
  services: Services,
  connection: ConnectionKey,
  options: RefreshRequest,
): Promise<UnsealedCredentials> {
  const { refreshes } = services.providerAccess;
  const running = refreshes.get(connection.id);
  if (running) {
    const credentials = await running;
    if (!needsRefresh(credentials, options)) return credentials;
  }
  const newer = refreshes.get(connection.id);
  if (newer) return newer;
  const refreshing = refresh(services, connection, options).finally(() =>
    refreshes.delete(connection.id),
  );
  refreshes.set(connection.id, refreshing);
  return refreshing;
}

function needsRefresh({ credentials }: UnsealedCredentials, { isStale }: RefreshRequest): boolean {
  return isTokenCredentials(credentials) && canRefresh(credentials) && isStale(credentials);
}

async function refresh(
  services: Services,
  connection: ConnectionKey,
  options: RefreshRequest,
): Promise<UnsealedCredentials> {
  const deadline = performance.now() + LEASE_WAIT_MS;
  for (;;) {
    const credentials = await readCredentials(services, connection);
    if (!needsRefresh(credentials, options)) return credentials;
    const lease = await claimLease(services, connection);
    if (lease) return refreshWithLease(services, lease, options);
    if (performance.now() > deadline) {
      throw new ProviderError('RETRYABLE', 'Another process is still refreshing the token.');
    }
    await delay(LEASE_POLL_MS);
  }
}

async function refreshWithLease(
  services: Services,
  lease: Lease,
  options: RefreshRequest,
): Promise<UnsealedCredentials> {
  try {
    await replayEntry(services, lease.connection.id);
    const credentials = await readCredentials(services, lease.connection);
    if (!isTokenCredentials(credentials.credentials) || !needsRefresh(credentials, options))
      return credentials;
    return await renew(services, { lease, before: credentials.credentials, options });
  } finally {
    // If the release fails, the lease expires.
    await lease.release().catch(() => {});
  }
}

interface RenewalContext {
  lease: Lease;
  before: TokenCredentials;
  options: RefreshRequest;
}

async function renew(
  services: Services,
  { lease, before, options }: RenewalContext,
): Promise<UnsealedCredentials> {
  const { connection } = lease;
  const request = await createRefreshRequest(services, connection, before);
  if ('refreshToken' in before) await lease.outlastProcess();
  lease.requireTime();
  let after: TokenCredentials;
  try {
    after = withTokens(before, await requestMeasured(services, { ...request, connection }));
  } catch (error) {
    return recordRejection(services, { connection, before, error });
  }
  const isJournaled =
    isRotated(before, after) && tryToJournal(services, { connection, before, after });
  const isRefresh = options.isRequested === true || findStoredToken(before) !== undefined;
  const stored = await commitRenewal(services, { connection, before, after, isRefresh }).catch(
    (error: unknown) => {
      if (isJournaled && !(error instanceof ProviderError)) {
        // The outage of the database exceeds the time that callers wait. The lease keeps the old token unused until the
        // database has the new one.
        lease.end();
        services.providerAccess.unstored.add(connection.id, () =>
          replayEntry(services, connection.id),
        );
      }
      throw error;
    },
  );
  if (isJournaled) removeFromJournal(services, connection);
  if (stored) lease.end();
  return stored ?? readCredentials(services, connection);
}

function requestMeasured(services: Services, request: TokenRequest): Promise<TokenResponse> {
  return measure(
    services.meters,
    () => requestTokens(services, request),
    ({ outcome }) => services.meters.tokenRefreshed({ provider: request.provider.name, outcome }),
  );
}

/** True if the used refresh token is now invalid. The new one must then not be lost. */
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
    // Without an entry, a crash before the commit loses the token. Failing here would lose it in any case.
    const fields = { connectionId: renewal.connection.id, error: String(error) };
    services.log.error(fields, 'token_journal.not_written');
    return false;
  }
}

/**
 * Records that the endpoint rejected the credentials, and throws all errors. If the credentials were replaced in the
 * meantime, returns the current ones.
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
  const current = await readCredentials(services, connection);
  if (!areCredentialsEqual(current.credentials, before)) return current;
  const { sealed } = current;
  await recordBadCredentials(services, { connection, sealed, errors: [error.message] });
  throw error;
}
