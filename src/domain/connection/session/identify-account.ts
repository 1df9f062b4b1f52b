/** Whose account a connection is to, as its provider tells once there are tokens. */
import type { Row } from '../../../database/rows.ts';
import type { AccountIdentity } from '../../../providers/contract.ts';
import { withDeadline } from '../../../work/deadline.ts';
import type { Services } from '../../call.ts';
import { openSession } from '../connection-session.ts';
import { heldToken, isTokenCredentials } from '../token/token.ts';
import { readCredentials } from './stored-credentials.ts';

/** A person waits for it in a browser. */
const IDENTIFY_MS = 5_000;
/** The same limit as for a workspace that a caller gives. */
const REF_LENGTH_MAX = 1_024;

type Refs = Pick<Row<'Connection'>, 'providerWorkspaceRef' | 'providerConsumerRef'>;

/** Stores and gives what is told, in place of what callers said. A provider that fails changes nothing. */
export async function identifyAccount(
  services: Services,
  connection: Row<'Connection'>,
): Promise<Refs> {
  const { id, projectId, providerWorkspaceRef, providerConsumerRef } = connection;
  const known = { providerWorkspaceRef, providerConsumerRef };
  const identity = await withDeadline(
    identityOf(services, connection),
    IDENTIFY_MS,
    () => null,
  ).catch((error: unknown) => {
    services.log.warn({ connectionId: id, error: String(error) }, 'account.not_identified');
    return null;
  });
  const refs = {
    providerWorkspaceRef: bounded(identity?.workspaceRef) ?? providerWorkspaceRef,
    providerConsumerRef: bounded(identity?.consumerRef) ?? providerConsumerRef,
  };
  const isNew = Object.entries(refs).some(([name, ref]) => known[name as keyof Refs] !== ref);
  if (isNew) {
    await services.database.prisma.connection.updateMany({ where: { id, projectId }, data: refs });
  }
  return refs;
}

async function identityOf(
  services: Services,
  connection: Row<'Connection'>,
): Promise<AccountIdentity | null> {
  const identify = services.catalogue.find(connection.provider)?.capabilities.identify;
  if (!identify) return null;
  const { credentials } = await readCredentials(services, connection);
  const token = isTokenCredentials(credentials) ? heldToken(credentials)?.token : undefined;
  return token === undefined ? null : identify(openSession(services, connection), token);
}

function bounded(ref: string | null | undefined): string | null {
  return ref != null && ref.length <= REF_LENGTH_MAX ? ref : null;
}
