/** Forwards requests to the provider's own API, with the credentials of an installation's connection. */
import type { Row } from '../../database/rows.ts';
import { DomainError, notFound, unprocessable } from '../../errors.ts';
import type { StreamedResponse } from '../../outbound/client.ts';
import type { Provider } from '../../providers/contract.ts';
import { findProxyProvider } from '../../providers/modules.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import type { Call } from '../call.ts';
import { openSession } from '../connection/connection-session.ts';
import type { ForwardedRequest } from '../connection/session/forwarded-request.ts';
import { projectRead, read } from '../declared-read.ts';
import { listCapabilities } from '../provider/provider.ts';
import { toDomainError } from '../provider/provider-domain-errors.ts';
import { waitForProviderBeyond } from '../provider/provider-wait.ts';
import { byId, getProjectRow } from '../scope.ts';
import { getConnectionAndContent } from './installation.ts';
import { readConfigContent } from './installation-config.ts';

export type { ForwardedRequest, StreamedResponse };

export interface InstallationKey {
  projectIdOrName?: string | null | undefined;
  installationId: string;
}

/**
 * Resolves as soon as the provider's response begins, whatever its status. The caller needs both `read` and
 * `records:write`, because only the provider knows the effect of a request. Throws UNPROCESSABLE if the integration
 * does not forward requests, and PROVIDER_ERROR or RATE_LIMITED if there is no response.
 */
export const forwardRequest = read(
  'records:write',
  "Forwards a request to the account's provider.",
  async (
    call: Call,
    key: InstallationKey,
    request: ForwardedRequest,
  ): Promise<StreamedResponse> => {
    const { connection, provider } = await getForwarding(call, key);
    return sendForwarding(call, connection, {
      send: () => openSession(call, connection, provider).forward(request),
      waitForEnd: ({ closed }) => closed,
    });
  },
);

interface Forwarding {
  connection: Row<'Connection'>;
  /** The provider or its module, with the address for requests. */
  provider: Provider;
}

/** Throws UNPROCESSABLE if the integration, the config or the provider does not allow forwarded requests. */
export const getForwarding = projectRead(
  'read',
  'Gets the connection and the provider to which an installation forwards requests.',
  async (call, { installationId: id }: InstallationKey, { id: projectId }): Promise<Forwarding> => {
    const noun = 'Installation';
    const installation = await getProjectRow(call, 'Installation', { projectId, id, noun });
    const { connection, content } = await getConnectionAndContent(call, installation);
    const [config] = await byId('InstallationConfig')(call, [installation.configId]);
    if (!config) throw notFound(noun, id);
    const { proxy, name, module } = content;
    if (!proxy?.enabled) throw unprocessable(`The integration ${name} does not forward requests.`);
    if (readConfigContent(config).proxy?.enabled === false) {
      throw unprocessable("The installation's config does not allow forwarded requests.");
    }
    const listedProvider = call.catalog.find(connection.provider);
    const provider =
      listedProvider && findProxyProvider(listedProvider, { module, useModule: proxy.useModule });
    if (!provider) {
      throw unprocessable(`Requests to ${connection.provider} are no longer forwarded.`);
    }
    if (!listCapabilities(provider).includes('PROXY')) {
      throw unprocessable(`Requests to ${provider.displayName} are not forwarded.`);
    }
    return { connection, provider };
  },
);

/** Sends a request to the provider. It counts as waiting for the provider until `waitForEnd(response)` settles. */
export async function sendForwarding<R>(
  call: Call,
  { projectId, id: connectionId }: Row<'Connection'>,
  { send, waitForEnd }: { send: () => Promise<R>; waitForEnd: (response: R) => Promise<unknown> },
): Promise<R> {
  try {
    return await waitForProviderBeyond(call, { projectId, connectionId }, send, waitForEnd);
  } catch (error) {
    throw error instanceof ProviderError ? toForwardingError(error) : error;
  }
}

/** Creates the error for a request that was not forwarded. */
function toForwardingError(error: ProviderError): DomainError {
  const { code, message, extra } = toDomainError(error);
  switch (error.kind) {
    case 'RATE_LIMITED':
      return new DomainError('RATE_LIMITED', message, extra);
    case 'TIMEOUT':
      return new DomainError(code, message, { ...extra, status: 504 });
    default:
      return new DomainError(code, message, extra);
  }
}
