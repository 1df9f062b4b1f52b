/** Connections without tokens: what needs one is refused before anything is stored. */
import type { Row } from '../../../database/rows.ts';
import type { Tables } from '../../../database/tables.ts';
import { isConsentScheme } from '../../../providers/contract.ts';
import type { Services } from '../../call.ts';
import { readCredentials, unsealCredentials } from '../session/stored-credentials.ts';
import { awaitsConsent } from './token.ts';

/** With its credentials, if it was read with them. */
type Connection = Pick<Row<'Connection'>, 'id' | 'projectId' | 'authScheme' | 'status'> &
  Partial<Pick<Tables['Connection'], 'credentialsSealed'>>;

/** Whether only the scopes are known, for which a person has yet to consent. */
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
