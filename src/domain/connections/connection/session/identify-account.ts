/** Identifies the account of a new connection by a request to its provider. */

import { isDeepStrictEqual } from 'node:util';
import type { ConnectionWithCredentials } from '../../../../database/statements/hot/write-target.ts';
import type { AccountIdentity } from '../../../../providers/contract.ts';
import { withDeadline } from '../../../../work/deadline.ts';
import type { ProviderServices } from '../../../access/call.ts';
import { findProviderOf } from '../../../access/catalog.ts';
import { openProviderSession } from '../connection-session.ts';
import { findStoredToken } from '../token/token.ts';
import { unsealCredentials } from './stored-credentials.ts';

/** The time limit is short, because a person waits for the result in a browser. */
const IDENTIFY_TIMEOUT_MS = 5_000;
/** Equals the limit for a workspace in an input. */
const REF_LENGTH_MAX = 1_024;

type Refs = Pick<ConnectionWithCredentials, 'providerWorkspaceRef' | 'providerConsumerRef'>;

/**
 * Stores and returns the refs that the provider reports, which replace the refs of the input. Changes nothing if the
 * provider fails. Stores nothing if the connection no longer has the credentials of the row.
 */
export async function identifyAccount(
  services: ProviderServices,
  connection: ConnectionWithCredentials,
): Promise<Refs> {
  const { id, projectId, credentialsSealed, providerWorkspaceRef, providerConsumerRef } =
    connection;
  const storedRefs = { providerWorkspaceRef, providerConsumerRef };
  const identity = await getIdentity(services, connection);
  const refs = {
    providerWorkspaceRef: identity.providerWorkspaceRef ?? providerWorkspaceRef,
    providerConsumerRef: identity.providerConsumerRef ?? providerConsumerRef,
  };
  if (!isDeepStrictEqual(refs, storedRefs)) {
    const where = { id, projectId, credentialsSealed };
    // Other refs of the row may be older than its credentials.
    const data = {
      ...(identity.providerWorkspaceRef !== null && {
        providerWorkspaceRef: identity.providerWorkspaceRef,
        isWorkspaceFromToken: true,
      }),
      providerConsumerRef: identity.providerConsumerRef ?? undefined,
    };
    await services.database.prisma.connection.updateMany({ where, data });
  }
  return refs;
}

/**
 * Requests the account of the token in the row. The members are null if the provider does not name them or fails. Stored
 * credentials never replace those of the row, because they may be of another account.
 */
export async function getIdentity(
  services: ProviderServices,
  connection: ConnectionWithCredentials,
): Promise<Refs> {
  const identity = await withDeadline(
    fetchIdentity(services, connection),
    IDENTIFY_TIMEOUT_MS,
    () => null,
  ).catch((error: unknown) => {
    services.log.warn(
      { connectionId: connection.id, error: String(error) },
      'account.not_identified',
    );
    return null;
  });
  return {
    providerWorkspaceRef: dropIfTooLong(identity?.workspaceRef),
    providerConsumerRef: dropIfTooLong(identity?.consumerRef),
  };
}

async function fetchIdentity(
  services: ProviderServices,
  connection: ConnectionWithCredentials,
): Promise<AccountIdentity | null> {
  const provider = await findProviderOf(services, connection);
  const identify = provider?.capabilities.identify;
  if (!identify) return null;
  const { credentials } = unsealCredentials(services, connection);
  const token = findStoredToken(credentials)?.token;
  return token === undefined
    ? null
    : identify(openProviderSession(services, connection, provider, { isStored: false }), token);
}

/** Returns the ref, or null if it exceeds the limit for a ref in an input. */
export function dropIfTooLong(ref: string | null | undefined): string | null {
  return ref != null && ref.length <= REF_LENGTH_MAX ? ref : null;
}
