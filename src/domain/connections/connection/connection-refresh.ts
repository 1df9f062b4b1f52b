/** Refreshes the access token of one connection on request. */

import type { Row } from '../../../database/statements/tables.ts';
import { unprocessable } from '../../../kernel/errors.ts';
import { text } from '../../../kernel/text.ts';
import type { Call } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { getProjectRow } from '../../access/scope.ts';
import { nameScheme } from '../provider/provider.ts';
import { withDomainErrors } from '../provider/provider-domain-errors.ts';
import { waitForProvider } from '../provider/provider-wait.ts';
import { refreshConnectionInput } from './connection-input.ts';
import type { ConnectionKey, Credentials } from './credentials.ts';
import { readCredentials } from './session/stored-credentials.ts';
import {
  AWAITS_CONSENT,
  awaitsConsent,
  canRefresh,
  findStoredToken,
  isRefreshDue,
} from './token/token.ts';
import { getFreshCredentials, type RefreshRequest } from './token/token-refresh.ts';

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
      : text`A connection with the scheme ${nameScheme(authScheme)} has no token to refresh.`,
  );
}
