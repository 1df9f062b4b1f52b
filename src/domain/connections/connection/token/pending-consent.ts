/** Detects connections without tokens, so that operations that need a token are refused before anything is stored. */
import type { Row, Tables } from '../../../../database/statements/tables.ts';
import { isConsentScheme } from '../../../../providers/contract.ts';
import type { Services } from '../../../access/call.ts';
import { readCredentials, unsealCredentials } from '../session/stored-credentials.ts';
import { awaitsConsent } from './token.ts';

/** A connection row, with its sealed credentials if the query selected them. */
type Connection = Pick<
  Row<'Connection'>,
  'id' | 'projectId' | 'authScheme' | 'status' | 'refreshRejectedTime' | 'credentialTargets'
> &
  Partial<Pick<Tables['Connection'], 'credentialsSealed'>>;

/** True if a person has not consented yet: the connection has scopes but no tokens. */
export async function isConsentPending(
  services: Pick<Services, 'database' | 'vault'>,
  { credentialsSealed, ...connection }: Connection,
): Promise<boolean> {
  const { authScheme, status } = connection;
  if (!isConsentScheme(authScheme) || status !== 'CREATED') return false;
  const { credentials } =
    credentialsSealed === undefined
      ? await readCredentials(services, connection)
      : unsealCredentials(services, { ...connection, credentialsSealed });
  return awaitsConsent(credentials);
}
