/** Lists the objects of a connected account, including custom objects, by a request to its provider. */

import type { Row } from '../../../database/statements/tables.ts';
import type { Call } from '../../access/call.ts';
import { findProviderOf } from '../../access/catalog.ts';
import { providerRead } from '../../access/declared-read.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { type ObjectOfProvider, toProviderObject } from '../provider/provider.ts';
import { withDomainErrors } from '../provider/provider-domain-errors.ts';
import { waitForProvider } from '../provider/provider-wait.ts';
import { openProviderSession } from './connection-session.ts';

/** Throws UNPROCESSABLE or PROVIDER_ERROR if the provider refuses the request or does not respond. */
export const listAccountObjects = providerRead(
  orEndUser('read'),
  'The objects of the account, including custom objects, read from the provider. Null if the provider cannot list them.',
  async (call: Call, connection: Row<'Connection'>): Promise<ObjectOfProvider[] | null> => {
    const provider = await findProviderOf(call, connection);
    const list = provider?.capabilities.listObjects;
    if (!list) return null;
    const { id: connectionId, projectId } = connection;
    const objects = await waitForProvider(call, { projectId, connectionId }, () =>
      withDomainErrors(async () => list(openProviderSession(call, connection, provider))),
    );
    return objects.map((object) => toProviderObject(provider, object));
  },
);
