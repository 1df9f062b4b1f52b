/**
 * Gets new access tokens, one process at a time for each connection: requests that come meanwhile share one
 * exchange in this process, and wait for the lease of another (docs/decisions/006-refresh-tokens.md).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { timed } from '../../../meters.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { Services } from '../../call.ts';
import { recordBadCredentials } from '../connection-status.ts';
import {
  areSame,
  type ConnectionKey,
  readCredentials,
  type UnsealedCredentials,
} from '../session/stored-credentials.ts';
import {
  canRefresh,
  heldToken,
  isTokenCredentials,
  type TokenCredentials,
  withTokens,
} from './token.ts';
import { commitRenewal, replayEntry } from './token-commit.ts';
import { requestTokens } from './token-endpoint.ts';
import { type Renewal, removeFromJournal, writeJournal } from './token-journal.ts';
import { claimLease, type Lease } from './token-lease.ts';
import { refreshRequest } from './token-request.ts';

/** Another process's request for a token is over by then, or it is dead. */
const LEASE_WAIT_MS = 20_000;
const LEASE_POLL_MS = 100;

export interface RefreshRequest {
  /** Whether the credentials that are stored by then must be replaced. */
  isStale: (credentials: TokenCredentials) => boolean;
  /** A caller requested it: the first token then counts as a refresh too. */
  isRequested?: boolean;
}

/** Refreshes that are under way in this process, by connection. */
export type Refreshes = Map<string, Promise<UnsealedCredentials>>;

/**
 * The credentials with a token that is not stale, or as they are if none can be had. Throws
 * AUTH_INVALIDATED if the provider refuses them (the connection is then BAD_CREDENTIALS), and other
 * kinds of ProviderError if it fails; nothing of the call that needs the token has been sent.
 */
export async function freshCredentials(
  services: Services,
  connection: ConnectionKey,
  wanted: RefreshRequest,
): Promise<UnsealedCredentials> {
  const { refreshes } = services.providerAccess;
  const running = refreshes.get(connection.id);
  if (running) {
    const held = await running;
    if (!needsRefresh(held, wanted)) return held;
  }
  const known = refreshes.get(connection.id);
  if (known) return known;
  const started = refresh(services, connection, wanted).finally(() =>
    refreshes.delete(connection.id),
  );
  refreshes.set(connection.id, started);
  return started;
}

function needsRefresh({ credentials }: UnsealedCredentials, { isStale }: RefreshRequest): boolean {
  return isTokenCredentials(credentials) && canRefresh(credentials) && isStale(credentials);
}

async function refresh(
  services: Services,
  connection: ConnectionKey,
  wanted: RefreshRequest,
): Promise<UnsealedCredentials> {
  const deadline = performance.now() + LEASE_WAIT_MS;
  for (;;) {
    const held = await readCredentials(services, connection);
    if (!needsRefresh(held, wanted)) return held;
    const lease = await claimLease(services, connection);
    if (lease) return refreshUnder(services, lease, wanted);
    if (performance.now() > deadline) {
      throw new ProviderError('RETRYABLE', 'Another process is still refreshing the token.');
    }
    await delay(LEASE_POLL_MS);
  }
}

async function refreshUnder(
  services: Services,
  lease: Lease,
  wanted: RefreshRequest,
): Promise<UnsealedCredentials> {
  try {
    await replayEntry(services, lease.connection.id);
    const held = await readCredentials(services, lease.connection);
    if (!isTokenCredentials(held.credentials) || !needsRefresh(held, wanted)) return held;
    return await renew(services, { lease, before: held.credentials, wanted });
  } finally {
    // If this fails, it ends by itself.
    await lease.release().catch(() => {});
  }
}

interface Renewing {
  lease: Lease;
  before: TokenCredentials;
  wanted: RefreshRequest;
}

async function renew(
  services: Services,
  { lease, before, wanted }: Renewing,
): Promise<UnsealedCredentials> {
  const { connection } = lease;
  const request = await refreshRequest(services, connection, before);
  if ('refreshToken' in before) await lease.outlastProcess();
  lease.requireTime();
  const told = ({ outcome }: { outcome: string }) =>
    services.meters.tokenRefreshed({ provider: request.provider.name, outcome });
  let after: TokenCredentials;
  try {
    const tokens = await timed(services.meters, () => requestTokens(services, request), told);
    after = withTokens(before, tokens);
  } catch (error) {
    return afterFailure(services, { connection, before, error });
  }
  const isJournaled = isRotated(before, after) && journal(services, { connection, before, after });
  const isRefresh = wanted.isRequested === true || heldToken(before) !== undefined;
  const stored = await commitRenewal(services, { connection, before, after, isRefresh }).catch(
    (error: unknown) => {
      if (isJournaled && !(error instanceof ProviderError)) {
        // The database is away for longer than a caller waits. Until it has the new token, nobody uses the old one.
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

/** Whether the used refresh token is invalid now: then the new one must not be lost. */
function isRotated(before: TokenCredentials, after: TokenCredentials): boolean {
  const [old, now] = [before, after].map((credentials) =>
    'refreshToken' in credentials ? credentials.refreshToken?.token : undefined,
  );
  return old !== now;
}

function journal(services: Services, renewal: Renewal): boolean {
  try {
    writeJournal(services, renewal);
    return true;
  } catch (error) {
    // Without it a crash within the next moments loses the token; giving up now would lose it for sure.
    const about = { connectionId: renewal.connection.id, error: String(error) };
    services.log.error(about, 'token_journal.not_written');
    return false;
  }
}

/** A refusal is about the credentials that were sent, which may have been replaced meanwhile. */
async function afterFailure(
  services: Services,
  {
    connection,
    before,
    error,
  }: { connection: ConnectionKey; before: TokenCredentials; error: unknown },
): Promise<UnsealedCredentials> {
  if (!(error instanceof ProviderError) || error.kind !== 'AUTH_INVALIDATED') throw error;
  const held = await readCredentials(services, connection);
  if (!areSame(held.credentials, before)) return held;
  const { sealed } = held;
  await recordBadCredentials(services, { connection, sealed, errors: [error.message] });
  throw error;
}
