/** The parties of a subscription: the account that sends events, and the app whose address receives them. */

import type { Row } from '../../../database/statements/tables.ts';
import { unprocessable } from '../../../kernel/errors.ts';
import type { SubscribeCapability } from '../../../providers/subscribing.ts';
import type { ProviderServices } from '../../access/call.ts';
import { findProviderOf } from '../../access/catalog.ts';
import {
  type AccountProviderSession,
  openProviderSessionOf,
} from '../../connections/connection/connection-session.ts';
import { findVariable } from '../../connections/connection/session/account-address.ts';
import { identifyAccount } from '../../connections/connection/session/identify-account.ts';
import { findStoredToken, isRefreshDue } from '../../connections/connection/token/token.ts';
import { getFreshCredentials } from '../../connections/connection/token/token-refresh.ts';
import { requireAppForProvider } from '../../connections/provider/credential-targets.ts';
import type { ObjectSubscription } from './object-subscription.ts';
import type { SealedApp } from './webhook-secret.ts';

type SubscribedConnection = Pick<ObjectSubscription, 'projectId' | 'connectionId' | 'provider'>;

export interface SubscriptionParties {
  session: AccountProviderSession;
  app: SealedApp;
  account: string;
}

/** Throws UNPROCESSABLE with the reason if the connection, the app or the account can't be found. */
export async function getSubscriptionParties(
  services: ProviderServices,
  { projectId, connectionId, provider }: SubscribedConnection,
  capability: Pick<SubscribeCapability, 'findAccount'>,
): Promise<SubscriptionParties> {
  const { prisma } = services.database;
  const connection = await prisma.connection.findUnique({
    where: { projectId_id: { projectId, id: connectionId } },
    omit: { credentialsSealed: true },
  });
  if (!connection) throw unprocessable('The connection was deleted.');
  const id = connection.providerAppId ?? undefined;
  const app = await prisma.providerApp.findFirst({
    where: { projectId, provider, ...(id && { id }) },
    orderBy: { id: 'desc' },
  });
  if (!app) {
    throw unprocessable(
      `The project has no provider app for ${provider}. Create one: the provider sends the events to its address.`,
    );
  }
  // The provider may receive the secret of the app, to sign its events.
  requireAppForProvider(await findProviderOf(services, { projectId, provider }), app);
  const findConnectionVariable = (name: string) => findVariable(name, connection);
  const account =
    capability.findAccount(connection, findConnectionVariable) ??
    capability.findAccount(
      { ...connection, ...(await identifyStoredAccount(services, connection)) },
      findConnectionVariable,
    );
  if (account === null) {
    throw unprocessable(
      "The workspace of the connection is unknown. Set it with updateConnection, because the provider's events identify the account by it.",
    );
  }
  return { session: await openProviderSessionOf(services, connection), app, account };
}

/** Identifies the account of the stored credentials, and refreshes a token that is about to expire. */
async function identifyStoredAccount(services: ProviderServices, connection: Row<'Connection'>) {
  const { sealed: credentialsSealed } = await getFreshCredentials(services, connection, {
    isStale: (stored) => isRefreshDue(findStoredToken(stored), services.now()),
  });
  return identifyAccount(services, { ...connection, credentialsSealed });
}
