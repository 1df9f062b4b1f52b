/**
 * Creates or renews the connection of a consumer of a group to a provider. One statement creates it with its event, and
 * with its group and consumer if they are new. If the connection exists, the statement returns its id, and a second
 * statement renews it.
 */
import type { z } from 'zod';
import {
  type ConnectionInput,
  type ConnectionToGenerate,
  GENERATE_CONNECTIONS,
} from '../../../database/statements/hot/generate-connections.ts';
import { RENEW_CONNECTIONS } from '../../../database/statements/hot/renew-connections.ts';
import type { ConnectionWithCredentials } from '../../../database/statements/hot/write-target.ts';
import { createEventRow } from '../../../events/record.ts';
import { conflict, invalid } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { type AuthScheme, isConsentScheme } from '../../../providers/contract.ts';
import type { CoreServices, RowServices } from '../../access/call.ts';
import type { InProject } from '../../access/catalog.ts';
import { createCredentialColumns, toConnectionFields } from './connection.ts';
import type { generateConnectionInput } from './connection-input.ts';
import type { Credentials, StoredToken } from './credentials.ts';
import { findWorkspaceRef } from './session/account-address.ts';

export interface ConnectionRequest {
  projectId: string;
  scheme: AuthScheme;
  /** The validated input. */
  input: Omit<z.output<typeof generateConnectionInput>, 'projectIdOrName' | 'skipCheck'>;
  /** The token from an earlier exchange of these credentials. */
  token?: StoredToken | undefined;
  /** Credentials that no input contains. They replace those of the input. */
  credentials?: Credentials;
  /** True if the token response named the workspace of the input. */
  isWorkspaceFromToken?: boolean;
  /** The provider's id of the account's owner, if it is known. */
  providerConsumerRef?: string | null;
  /** True if a consent gave no refresh token, so that the connection will stop working. */
  isUnrefreshable?: boolean;
}

/** Another caller may create or delete the connection between the two statements. More than two tries are rare. */
const TRIES_MAX = 5;

/**
 * Creates the connection or renews the existing one, with the status CREATED. Throws CONFLICT if other callers change it
 * during every try.
 */
export async function putConnection(
  services: InProject<CoreServices>,
  request: ConnectionRequest,
): Promise<ConnectionWithCredentials> {
  const { runShared } = services.database;
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const candidate = createCandidate(services, request);
    const connection = await runShared(GENERATE_CONNECTIONS, candidate);
    if (connection?.id === candidate.id) return connection;
    if (connection) {
      const renewal = createConnectionRow(services, request, { id: connection.id, isNew: false });
      const renewedConnection = await runShared(RENEW_CONNECTIONS, renewal);
      if (renewedConnection) return renewedConnection;
    }
    await requireApp(services, request);
  }
  throw conflict('Another request changed the connection. Try again.');
}

function createCandidate(
  services: InProject<CoreServices>,
  request: ConnectionRequest,
): ConnectionToGenerate {
  const { groupRef, consumerRef } = request.input;
  const row = createConnectionRow(services, request, { id: newId('con'), isNew: true });
  return { ...row, groupId: newId('grp'), groupRef, consumerId: newId('csm'), consumerRef };
}

/** Creates the row with its event. The credentials are sealed for this id, so a renewal can't use the candidate's row. */
function createConnectionRow(
  services: InProject<CoreServices>,
  {
    projectId,
    scheme,
    input,
    token,
    credentials,
    isWorkspaceFromToken = false,
    providerConsumerRef = null,
    isUnrefreshable = false,
  }: ConnectionRequest,
  { id, isNew }: { id: string; isNew: boolean },
): ConnectionInput {
  const { provider, groupRef, consumerRef, groupName = null, consumerName = null } = input;
  const { providerAppId = null, providerMetadata = null } = input;
  const key = { id, projectId, provider, authScheme: scheme };
  const { credentialsSealed, credentialTargets, tokenExpireTime, refreshDueTime } =
    createCredentialColumns(services, key, { ...input, token, credentials });
  const now = services.now();
  const consumerNames = { consumerRef, consumerName: consumerName ?? consumerRef };
  return {
    ...key,
    providerAppId,
    needsApp: providerAppId !== null || isConsentScheme(scheme),
    providerWorkspaceRef: findWorkspaceRef(input),
    isWorkspaceFromToken,
    providerConsumerRef,
    providerMetadata,
    credentialsSealed,
    credentialTargets,
    tokenExpireTime,
    refreshDueTime,
    unrefreshableSince: isUnrefreshable ? now : null,
    groupName,
    consumerName,
    now,
    event: createEventRow({
      projectId,
      connectionId: id,
      eventType: isNew ? 'CONNECTION_CREATED' : 'CONNECTION_UPDATED',
      data: toConnectionFields({ ...key, group: { groupRef }, consumer: consumerNames }),
      subject: null,
    }),
  };
}

/** Throws BAD_USER_INPUT if the provider app was deleted after the input was checked. */
async function requireApp(
  { database }: RowServices,
  { projectId, input }: ConnectionRequest,
): Promise<void> {
  const { provider, providerAppId } = input;
  if (providerAppId == null) return;
  const [app] = await database.reads.find('ProviderApp', { projectId, id: providerAppId });
  if (app?.provider === provider) return;
  throw invalid(['providerAppId'], 'does not exist.', providerAppId);
}
