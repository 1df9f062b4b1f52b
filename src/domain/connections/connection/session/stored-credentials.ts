/** Reads the stored credentials of a connection. */
import { isDeepStrictEqual } from 'node:util';
import type { Tables } from '../../../../database/statements/tables.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import type { Services } from '../../../access/call.ts';
import {
  type ConnectionKey,
  type Credentials,
  openCredentials,
  type UnsealedCredentials,
} from '../credentials.ts';

type StoredCredentials = Pick<
  Tables['Connection'],
  'id' | 'projectId' | 'credentialsSealed' | 'credentialTargets' | 'status' | 'refreshRejectedTime'
>;

/** Reads the current credentials. Throws BAD_REQUEST if the connection was deleted. */
export async function readCredentials(
  services: Pick<Services, 'database' | 'vault'>,
  { id, projectId }: ConnectionKey,
): Promise<UnsealedCredentials> {
  const row = await services.database.prisma.connection.findUnique({
    where: { projectId_id: { projectId, id } },
    select: {
      credentialsSealed: true,
      credentialTargets: true,
      status: true,
      refreshRejectedTime: true,
    },
  });
  if (!row) throw createDeletedConnectionError();
  return unsealCredentials(services, { id, projectId, ...row });
}

export function createDeletedConnectionError(): ProviderError {
  return new ProviderError('BAD_REQUEST', 'The connection was deleted.');
}

/** Opens the credentials of a row that was just read. */
export function unsealCredentials(
  services: Pick<Services, 'vault'>,
  { id, projectId, credentialsSealed: sealed, ...row }: StoredCredentials,
): UnsealedCredentials {
  const credentials = openCredentials(services, { id, projectId }, sealed);
  const { credentialTargets, status, refreshRejectedTime } = row;
  return { sealed, credentials, credentialTargets, status, refreshRejectedTime };
}

/** Opens the credentials of a row. Null if they can't be opened, for example because a key was removed. */
export function tryUnsealCredentials(
  services: Pick<Services, 'vault' | 'log'>,
  row: StoredCredentials,
): UnsealedCredentials | null {
  try {
    return unsealCredentials(services, row);
  } catch (error) {
    services.log.warn({ connectionId: row.id, error: String(error) }, 'credentials.unreadable');
    return null;
  }
}

/** Compares contents, because sealing the same credentials twice results in different strings. */
export function areCredentialsEqual(a: Credentials, b: Credentials): boolean {
  return isDeepStrictEqual(toStoredForm(a), toStoredForm(b));
}

function toStoredForm(credentials: Credentials): unknown {
  return JSON.parse(JSON.stringify(credentials));
}

/** True if the token endpoint has rejected the credentials, so that only new ones can work. */
export function isRefreshRejected({ status, refreshRejectedTime }: UnsealedCredentials): boolean {
  return status === 'BAD_CREDENTIALS' && refreshRejectedTime !== null;
}
