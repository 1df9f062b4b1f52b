/** Refreshes access tokens: the token of one connection on request, and in the background all tokens that expire soon. */
import { acrossProjects, sweep } from '../../../database/projects/all-projects.ts';
import type { Row } from '../../../database/rows.ts';
import { ServiceUnavailable, unprocessable } from '../../../kernel/errors.ts';
import { CONSENT_SCHEMES } from '../../../providers/contract.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { LeaseLost } from '../../../work/lease.ts';
import type { Call, Services } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { getProjectRow } from '../../access/scope.ts';
import { withDomainErrors } from '../provider/provider-domain-errors.ts';
import { waitForProvider } from '../provider/provider-wait.ts';
import { refreshConnectionInput } from './connection-input.ts';
import type { ConnectionKey, Credentials } from './credentials.ts';
import { readCredentials } from './session/stored-credentials.ts';
import {
  AWAITS_CONSENT,
  awaitsConsent,
  canRefresh,
  expiresWithin,
  findStoredToken,
  isRefreshDue,
} from './token/token.ts';
import { getFreshCredentials, type RefreshRequest } from './token/token-refresh.ts';

/** How long before its expiry a token is refreshed: two intervals of the upkeep that calls refreshDueTokens. */
const AHEAD_MS = 120_000;
/** The maximum number of connections that one call of `refreshDueTokens` refreshes. */
const BATCH_SIZE = 50;
/** How many connections of a batch are refreshed concurrently. */
const CONCURRENCY = 5;
/** The delay before a failed refresh is retried, unless a call needs the token earlier. */
const RETRY_MS = 5 * 60_000;

/** If another caller completes a refresh during this call, the token is not refreshed again. */
export const refreshConnection = projectMutation({
  description: 'Refreshes the access token immediately, even if it has not expired.',
  needs: 'connections:write',
  input: refreshConnectionInput,
  run: (call, { connectionId }, { id: projectId }) =>
    requestRefresh(call, { projectId, id: connectionId }, (connection, credentials) => {
      if (!canRefresh(credentials)) {
        if (awaitsConsent(credentials)) throw unprocessable(AWAITS_CONSENT);
        throw createNotRefreshableError(connection);
      }
      const oldToken = findStoredToken(credentials)?.token;
      return (stored) => findStoredToken(stored)?.token === oldToken;
    }),
});

export const refreshConnectionIfDue = projectMutation({
  description: 'Refreshes the token if it is about to expire or if none has been fetched yet.',
  needs: 'connections:write',
  input: refreshConnectionInput,
  run: (call, { connectionId }, { id: projectId }) =>
    requestRefresh(
      call,
      { projectId, id: connectionId },
      () => (stored) => isRefreshDue(findStoredToken(stored), call.now()),
    ),
});

/** Refreshes the token if the condition that `createIsStale` returns is true for the stored credentials. */
async function requestRefresh(
  call: Call,
  key: ConnectionKey,
  createIsStale: (
    connection: Row<'Connection'>,
    credentials: Credentials,
  ) => RefreshRequest['isStale'],
): Promise<Row<'Connection'>> {
  const lookup = { ...key, noun: 'Connection' };
  const connection = await getProjectRow(call, 'Connection', lookup);
  const { projectId, id: connectionId } = key;
  await waitForProvider(call, { projectId, connectionId }, () =>
    withDomainErrors(async () => {
      const { credentials } = await readCredentials(call, connection);
      const isStale = createIsStale(connection, credentials);
      await getFreshCredentials(call, connection, { isStale, isRequested: true });
    }),
  );
  return getProjectRow(call, 'Connection', lookup);
}

function createNotRefreshableError({ authScheme }: Row<'Connection'>) {
  return unprocessable(
    authScheme.startsWith('OAUTH2_')
      ? 'The connection has no refresh token. Connect the account again with startOAuthConnect.'
      : `A connection with the scheme ${authScheme} has no token to refresh.`,
  );
}

const EXPIRING_SOON = acrossProjects(
  'tokens that expire soon',
  (inProjects) => `select "id", "projectId" from "Connection"
   where ${inProjects('"projectId"')} and "tokenExpireTime" <= $1 and "authScheme" = any($2::"AuthScheme"[])
     and ("refreshRetryTime" is null or "refreshRetryTime" <= $3)
   order by "tokenExpireTime" limit ${BATCH_SIZE}`,
);

/**
 * Refreshes a batch of tokens that expire soon. Unused connections are refreshed too, because unused refresh tokens may
 * expire. A failed refresh is postponed and does not stop other refreshes. Returns the number of connections in the batch.
 * If the batch is full, more tokens may be due. Throws ServiceUnavailable.
 */
export async function refreshDueTokens(services: Services): Promise<number> {
  const now = services.now();
  const expireLimit = new Date(now.getTime() + AHEAD_MS);
  const values = [expireLimit, [...CONSENT_SCHEMES], now];
  const dueConnections = await sweep<ConnectionKey>(services.database, EXPIRING_SOON, values);
  const queue = dueConnections.values();
  const worker = async () => {
    for (const connection of queue) await refreshOrPostpone(services, connection);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return dueConnections.length;
}

async function refreshOrPostpone(services: Services, connection: ConnectionKey): Promise<void> {
  try {
    await refreshDueToken(services, connection);
  } catch (error) {
    // The database is unavailable, so every connection of the batch would fail.
    if (error instanceof ServiceUnavailable) throw error;
    logFailure(services, connection, error);
    await postpone(services, connection, RETRY_MS);
  }
}

function logFailure({ log }: Services, { id: connectionId }: ConnectionKey, error: unknown): void {
  // Another process is refreshing the connection.
  if (error instanceof LeaseLost) return;
  if (error instanceof ProviderError) {
    log.warn({ connectionId, error: error.message }, 'token.refresh_failed');
  } else {
    log.error({ connectionId, err: error }, 'token.not_refreshed');
  }
}

async function refreshDueToken(services: Services, connection: ConnectionKey): Promise<void> {
  const { sealed, credentials } = await readCredentials(services, connection);
  if (!canRefresh(credentials)) {
    const { prisma } = services.database;
    const where = { ...connection, credentialsSealed: sealed };
    // Imported credentials, and those that an earlier version of the gateway stored, lack this time.
    await prisma.connection.updateMany({
      where: { ...where, unrefreshableSince: null },
      data: { unrefreshableSince: services.now() },
    });
    // Comes last, because the upkeep finds the connection by this time after a crash.
    await prisma.connection.updateMany({ where, data: { tokenExpireTime: null } });
    return;
  }
  const isStale = (stored: Credentials) => {
    const token = findStoredToken(stored);
    return !token || expiresWithin(token, AHEAD_MS, services.now());
  };
  const { credentials: newCredentials } = await getFreshCredentials(services, connection, {
    isStale,
  });
  // Without the delay, a token with a very short lifetime would be in every batch.
  if (canRefresh(newCredentials) && isStale(newCredentials)) {
    await postpone(services, connection, AHEAD_MS / 2);
  }
}

async function postpone(
  services: Pick<Services, 'database' | 'now'>,
  key: ConnectionKey,
  delayMs: number,
): Promise<void> {
  const refreshRetryTime = new Date(services.now().getTime() + delayMs);
  await services.database.prisma.connection.updateMany({ where: key, data: { refreshRetryTime } });
}
