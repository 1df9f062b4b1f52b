/** Takes down what is at a provider for a subscription that nobody wants. */
import type { Row } from '../../database/rows.ts';
import type { Services } from '../call.ts';
import { openSession } from '../connection/connection-session.ts';
import type { ObjectSubscription } from './object-subscription.ts';

type AtProvider = Pick<
  ObjectSubscription,
  'projectId' | 'provider' | 'connectionId' | 'providerRef'
>;

/** Does nothing if nothing is there, or the connection is gone: its credentials went with it. Throws ProviderError. */
export async function takeDownAtProvider(
  services: Services,
  { projectId, provider, connectionId: id, providerRef }: AtProvider,
): Promise<void> {
  const calls = services.catalogue.find(provider)?.capabilities.subscribe?.calls;
  if (providerRef === null || !calls) return;
  const connection = await services.database.prisma.connection.findUnique({
    where: { projectId_id: { projectId, id } },
    omit: { credentialsSealed: true },
  });
  if (!connection) return;
  await calls.takeDown(openSession(services, connection as Row<'Connection'>), providerRef);
}
