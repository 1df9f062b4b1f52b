/**
 * A connection for each project, provider, group and consumer: one statement makes it with its event, and the group and
 * the consumer if it is their first, or says which there is. Another one renews that.
 */
import type { z } from 'zod';
import {
  type ConnectionToGenerate,
  GENERATE_CONNECTIONS,
  type GivenConnection,
} from '../../database/hot/generate-connections.ts';
import { RENEW_CONNECTIONS } from '../../database/hot/renew-connections.ts';
import type { AccountRow } from '../../database/hot/write-target.ts';
import { conflict, invalid } from '../../errors.ts';
import { eventRow } from '../../events/record.ts';
import { newId } from '../../ids.ts';
import { type AuthScheme, isConsentScheme } from '../../providers/contract.ts';
import type { Services } from '../call.ts';
import { connectionFields, newCredentials } from './connection.ts';
import type { generateConnectionInput } from './connection-input.ts';
import type { StoredToken } from './credentials.ts';
import { givenWorkspace } from './session/account-address.ts';

export interface Generation {
  projectId: string;
  scheme: AuthScheme;
  /** Must have been validated. */
  input: Omit<z.output<typeof generateConnectionInput>, 'projectIdOrName' | 'skipCheck'>;
  /** A token that the credentials were exchanged for already. */
  token?: StoredToken | undefined;
  /** The provider's id of the account's owner, if it is known. */
  providerConsumerRef?: string | null;
}

/** Another caller may make the connection first, or delete the one that was found: hardly more than once or twice. */
const TRIES_MAX = 5;

/** Makes the connection, or renews the one that exists: either way it is CREATED. Throws CONFLICT if others change it each time. */
export async function putConnection(
  services: Services,
  generation: Generation,
): Promise<AccountRow> {
  const { changes } = services.database;
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const made = rowToMake(services, generation);
    const found = await changes.run(GENERATE_CONNECTIONS, made);
    if (found?.id === made.id) return found;
    const renewal = found && givenRow(services, generation, { id: found.id, isNew: false });
    const renewed = renewal && (await changes.run(RENEW_CONNECTIONS, renewal));
    if (renewed) return renewed;
    await requireApp(services, generation);
  }
  throw conflict('The connection was changed at the same time. Try again.');
}

function rowToMake(services: Services, generation: Generation): ConnectionToGenerate {
  const { groupRef, consumerRef } = generation.input;
  const [id, groupId, consumerId] = [newId('con'), newId('grp'), newId('csm')];
  const given = givenRow(services, generation, { id, isNew: true });
  return { ...given, groupId, groupRef, consumerId, consumerRef };
}

/** Credentials are sealed for the id of their connection. */
function givenRow(
  services: Services,
  { projectId, scheme, input, token, providerConsumerRef = null }: Generation,
  { id, isNew }: { id: string; isNew: boolean },
): GivenConnection {
  const { provider, groupRef, consumerRef, groupName = null, consumerName = null } = input;
  const { providerAppId = null, providerMetadata = null } = input;
  const of = { id, projectId, provider, authScheme: scheme };
  const { credentialsSealed, tokenExpireTime } = newCredentials(services, of, { ...input, token });
  const named = { consumerRef, consumerName: consumerName ?? consumerRef };
  return {
    ...of,
    providerAppId,
    needsApp: providerAppId !== null || isConsentScheme(scheme),
    providerWorkspaceRef: givenWorkspace(input),
    providerConsumerRef,
    providerMetadata,
    credentialsSealed,
    tokenExpireTime,
    groupName,
    consumerName,
    now: services.now(),
    event: eventRow({
      projectId,
      connectionId: id,
      eventType: isNew ? 'CONNECTION_CREATED' : 'CONNECTION_UPDATED',
      data: connectionFields({ ...of, group: { groupRef }, consumer: named }),
      subject: null,
    }),
  };
}

/** The app was there when the input was checked. */
async function requireApp({ database }: Services, { projectId, input }: Generation): Promise<void> {
  const { provider, providerAppId } = input;
  if (providerAppId == null) return;
  const [app] = await database.rows.find('ProviderApp', { projectId, id: providerAppId });
  if (app?.provider === provider) return;
  throw invalid('input.providerAppId', 'does not exist.', providerAppId);
}
