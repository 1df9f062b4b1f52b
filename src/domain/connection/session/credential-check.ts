/** Whether a provider takes a key or a password that was just given, where it can be asked cheaply. */
import type { Row } from '../../../database/rows.ts';
import type { Tables } from '../../../database/tables.ts';
import { DomainError } from '../../../errors.ts';
import type { AuthScheme, Provider, ProviderRequest } from '../../../providers/contract.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { withDeadline } from '../../../work/deadline.ts';
import type { Services } from '../../call.ts';
import { type Waiter, waitingForProvider } from '../../provider/provider-wait.ts';
import { recordBadCredentials } from '../connection-status.ts';
import { fillAddress, fillHeaders } from './account-address.ts';
import { attachedCredentials } from './attached-credentials.ts';
import { heldCredentials, readCredentials } from './held-credentials.ts';
import { requestUrl, sendRequest } from './provider-request.ts';

type Connection = Row<'Connection'>;

/** A connection, with its credentials as they are stored if they are known. */
export type MadeConnection = Connection & Partial<Pick<Tables['Connection'], 'credentialsSealed'>>;

/** A provider that is slower says it at the first call, and keeps nobody waiting now. */
const CHECK_MS = 3_000;
const UNAUTHORIZED = 401;
/** What people type in; tokens come from the provider itself. */
const CHECKED: readonly AuthScheme[] = ['API_KEY', 'BASIC'];

/**
 * The connection, which is BAD_CREDENTIALS if the provider refuses it now, with the event that says so. A provider
 * that doesn't answer, or answers something else, refuses nothing.
 */
export async function withCheckedCredentials(
  services: Waiter,
  { credentialsSealed, ...connection }: MadeConnection,
): Promise<Connection> {
  const provider = services.catalogue.find(connection.provider);
  if (!provider?.healthCheck || !CHECKED.includes(connection.authScheme)) return connection;
  const { id: connectionId, projectId } = connection;
  const check = waitingForProvider(services, { projectId, connectionId }, () =>
    withDeadline(
      isRefused(services, { connection, credentialsSealed, provider }),
      CHECK_MS,
      () => false,
    ),
  );
  const isBad = await check.catch((error: unknown) => {
    // The credentials are stored already: if too many requests wait for providers, they stay unchecked.
    const isExpected = error instanceof ProviderError || error instanceof DomainError;
    if (!isExpected) services.log.warn({ err: error, connectionId }, 'connection.check_failed');
    return false;
  });
  return isBad ? { ...connection, status: 'BAD_CREDENTIALS', tokenExpireTime: null } : connection;
}

async function isRefused(
  services: Services,
  about: { connection: Connection; provider: Provider } & Pick<MadeConnection, 'credentialsSealed'>,
): Promise<boolean> {
  const { connection, credentialsSealed, provider } = about;
  const { limits, outbound } = services.providerAccess;
  const held =
    credentialsSealed === undefined
      ? await readCredentials(services, connection)
      : heldCredentials(services, { ...connection, credentialsSealed });
  const request: ProviderRequest = { method: 'GET', path: provider.healthCheck ?? '' };
  const baseUrl = fillAddress(provider, provider.baseUrl, connection);
  const url = requestUrl({ baseUrl }, request);
  const { headers, query } = attachedCredentials(provider, held.credentials);
  const own = fillHeaders(provider.headers ?? {}, connection);
  const hurried = { ...provider, limits: { ...provider.limits, timeoutMs: CHECK_MS } };
  const { id: connectionId, projectId } = connection;
  const { status } = await limits.run({ connectionId, projectId, provider }, () =>
    sendRequest(outbound, {
      provider: hurried,
      url,
      request,
      attached: { headers: { ...own, ...headers }, query },
    }),
  );
  if (status !== UNAUTHORIZED) return false;
  const errors = [`${provider.displayName} refused the credentials when they were given (401).`];
  await recordBadCredentials(services, { connection, sealed: held.sealed, errors });
  return true;
}
