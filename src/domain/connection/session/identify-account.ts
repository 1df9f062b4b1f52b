/** Identifies the account of a new connection by a request to its provider. */
import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../../../database/rows.ts';
import type { AccountIdentity } from '../../../providers/contract.ts';
import { withDeadline } from '../../../work/deadline.ts';
import type { Services } from '../../call.ts';
import { openSession } from '../connection-session.ts';
import { findStoredToken } from '../token/token.ts';
import { readCredentials } from './stored-credentials.ts';

/** The time limit is short, because a person waits for the result in a browser. */
const IDENTIFY_TIMEOUT_MS = 5_000;
/** Equals the limit for a workspace in an input. */
const REF_LENGTH_MAX = 1_024;

type Refs = Pick<Row<'Connection'>, 'providerWorkspaceRef' | 'providerConsumerRef'>;

/**
 * Stores and returns the refs that the provider reports, which replace the refs of the input. Changes nothing if the
 * provider fails.
 */
export async function identifyAccount(
  services: Services,
  connection: Row<'Connection'>,
): Promise<Refs> {
  const { id, projectId, providerWorkspaceRef, providerConsumerRef } = connection;
  const storedRefs = { providerWorkspaceRef, providerConsumerRef };
  const identity = await withDeadline(
    fetchIdentity(services, connection),
    IDENTIFY_TIMEOUT_MS,
    () => null,
  ).catch((error: unknown) => {
    services.log.warn({ connectionId: id, error: String(error) }, 'account.not_identified');
    return null;
  });
  const refs = {
    providerWorkspaceRef: dropIfTooLong(identity?.workspaceRef) ?? providerWorkspaceRef,
    providerConsumerRef: dropIfTooLong(identity?.consumerRef) ?? providerConsumerRef,
  };
  if (!isDeepStrictEqual(refs, storedRefs)) {
    await services.database.prisma.connection.updateMany({ where: { id, projectId }, data: refs });
  }
  return refs;
}

async function fetchIdentity(
  services: Services,
  connection: Row<'Connection'>,
): Promise<AccountIdentity | null> {
  const identify = services.catalog.find(connection.provider)?.capabilities.identify;
  if (!identify) return null;
  const { credentials } = await readCredentials(services, connection);
  const token = findStoredToken(credentials)?.token;
  return token === undefined ? null : identify(openSession(services, connection), token);
}

/** Returns the ref, or null if it exceeds the limit for a ref in an input. */
export function dropIfTooLong(ref: string | null | undefined): string | null {
  return ref != null && ref.length <= REF_LENGTH_MAX ? ref : null;
}
