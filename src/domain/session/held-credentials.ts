/** The credentials of a connection as its row holds them now. */
import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../../database/rows.ts';
import { ProviderError } from '../../providers/provider.ts';
import type { Services } from '../call.ts';
import { type Credentials, openCredentials } from '../credentials.ts';

export type ConnectionKey = Pick<Row<'Connection'>, 'id' | 'projectId'>;

export interface HeldCredentials {
  /** As stored: what changes of the row are fenced with, so that they never touch newer credentials. */
  sealed: string | null;
  credentials: Credentials;
}

/** Throws BAD_REQUEST where the connection is gone. */
export async function readCredentials(
  services: Pick<Services, 'database' | 'vault'>,
  { id, projectId }: ConnectionKey,
): Promise<HeldCredentials> {
  const row = await services.database.prisma.connection.findUnique({
    where: { projectId_id: { projectId, id } },
    select: { credentialsSealed: true },
  });
  if (!row) throw connectionGone();
  return heldCredentials(services, { id, projectId }, row.credentialsSealed);
}

export function heldCredentials(
  services: Pick<Services, 'vault'>,
  connection: ConnectionKey,
  sealed: string | null,
): HeldCredentials {
  return { sealed, credentials: openCredentials(services, connection, sealed) };
}

/** Sealing is never the same twice: what counts is what was sealed. */
export function areSame(a: Credentials, b: Credentials): boolean {
  return isDeepStrictEqual(withoutGaps(a), withoutGaps(b));
}

/** As stored, where what is undefined is left out. */
function withoutGaps(credentials: Credentials): unknown {
  return JSON.parse(JSON.stringify(credentials));
}

export function connectionGone(): ProviderError {
  return new ProviderError('BAD_REQUEST', 'The connection has been deleted.');
}
