/** The credentials of a connection as its row holds them now. */
import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../../../database/rows.ts';
import type { Tables } from '../../../database/tables.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { Services } from '../../call.ts';
import { type Credentials, openCredentials } from '../credentials.ts';

export type ConnectionKey = Pick<Row<'Connection'>, 'id' | 'projectId'>;

type StoredCredentials = Pick<
  Tables['Connection'],
  'id' | 'projectId' | 'credentialsSealed' | 'status'
>;

export interface UnsealedCredentials {
  /** As stored: changes of the row are fenced with it, so that they never touch newer credentials. */
  sealed: string | null;
  credentials: Credentials;
  /** Whether the provider is known to have accepted them. */
  isWorking: boolean;
}

/** Throws BAD_REQUEST if the connection is gone. */
export async function readCredentials(
  services: Pick<Services, 'database' | 'vault'>,
  { id, projectId }: ConnectionKey,
): Promise<UnsealedCredentials> {
  const row = await services.database.prisma.connection.findUnique({
    where: { projectId_id: { projectId, id } },
    select: { credentialsSealed: true, status: true },
  });
  if (!row) throw deletedConnection();
  return unsealCredentials(services, { id, projectId, ...row });
}

export function deletedConnection(): ProviderError {
  return new ProviderError('BAD_REQUEST', 'The connection has been deleted.');
}

/** Of a row that was just read with its credentials. */
export function unsealCredentials(
  services: Pick<Services, 'vault'>,
  { id, projectId, credentialsSealed: sealed, status }: StoredCredentials,
): UnsealedCredentials {
  const credentials = openCredentials(services, { id, projectId }, sealed);
  return { sealed, credentials, isWorking: status === 'WORKING' };
}

/** Sealing the same twice gives different texts: what counts is what was sealed. */
export function areSame(a: Credentials, b: Credentials): boolean {
  return isDeepStrictEqual(asStored(a), asStored(b));
}

function asStored(credentials: Credentials): unknown {
  return JSON.parse(JSON.stringify(credentials));
}
