/** Reads, updates and deletes connections. A connection links a group and a consumer to one provider. */

import { z } from 'zod';
import { isForeignKeyViolation, isMissingRow } from '../../../database/connect/violations.ts';
import { Prisma } from '../../../database/generated/client.ts';
import type { ConnectionStatus } from '../../../database/generated/enums.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction } from '../../../database/transactions/transaction.ts';
import type { EventData } from '../../../events/event-types.ts';
import { recordEvent } from '../../../events/record.ts';
import { pickSubject } from '../../../events/subject.ts';
import { conflict, type DomainError, type Issue, notFound } from '../../../kernel/errors.ts';
import type { Provider } from '../../../providers/contract.ts';
import type { ProjectCall, ProjectServices, RowServices } from '../../access/call.ts';
import type { InProject } from '../../access/catalog.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { projectRead } from '../../access/declared-read.ts';
import { getProjectRow } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { createInputIssue, requireNoIssues } from '../../base/issues.ts';
import {
  createdInProject,
  enumeration,
  jsonObject,
  resource,
  updateTime,
} from '../../base/resource.ts';
import { findTargets } from '../provider/credential-targets.ts';
import { authScheme } from '../provider/provider.ts';
import { listWorkspaceIssues } from '../provider/provider-workspace.ts';
import { deleteConnectionInput, updateConnectionInput } from './connection-input.ts';
import { listCredentialFields, listReplacementIssues } from './connection-scheme.ts';
import { type CredentialInput, parseCredentials } from './credential-input.ts';
import { type Credentials, type StoredToken, sealCredentials } from './credentials.ts';
import { refuseOtherConsumers } from './end-user-parties.ts';
import {
  type AccountMetadata,
  type AccountMetadataInput,
  findOrigin,
  findVariable,
  findWorkspaceRef,
  listVariables,
  toInputPath,
} from './session/account-address.ts';
import { type AccountToCheck, requireAcceptedCredentials } from './session/credential-check.ts';
import { listInputIssues } from './session/declared-inputs.ts';
import { findRefreshDueTime, findTokenExpireTime } from './token/token.ts';

export const connectionStatus = enumeration(
  'ConnectionStatus',
  'Whether the credentials of a connection work.',
  {
    CREATED: 'The credentials or the access token are new, and no request has used them yet.',
    WORKING: 'The provider has accepted the credentials.',
    BAD_CREDENTIALS:
      'The provider rejected the credentials in a request or in a token refresh, or its custom provider got other addresses. Connect the account again.',
  } satisfies Record<ConnectionStatus, string>,
);

export const connectionResource = resource(
  'Connection',
  'A connection: an account at a provider that a consumer has connected for a group. GraphQL names the type `ConnectedAccount`, because Relay reserves names that end in `Connection` for the pages of lists.',
  {
    ...createdInProject,
    provider: z.string().describe('The name of the provider.'),
    authScheme: authScheme.describe('The scheme with which it authenticates at the provider.'),
    status: connectionStatus.describe('Whether its credentials work.'),
    tokenExpireTime: z
      .date()
      .nullable()
      .describe(
        'When its access token expires. {Null} if there is no token, if its expiry is unknown, or if it can no longer be refreshed.',
      ),
    providerWorkspaceRef: z
      .string()
      .nullable()
      .describe('The workspace of the account at the provider. {Null} if there is none.'),
    providerConsumerRef: z
      .string()
      .nullable()
      .describe("The provider's own id of the consumer. {Null} if unknown."),
    providerMetadata: jsonObject
      .nullable()
      .describe('Other facts about the account, from the builder and the provider.'),
    updateTime,
  },
);

/** Throws NOT_FOUND if the project has no such connection. */
export const getConnection = projectRead(
  orEndUser('read'),
  'Gets a connection with its group, its consumer and its status.',
  (call, { connectionId: id }: { connectionId: string }, { id: projectId }) =>
    getProjectRow(call, 'Connection', { projectId, id, noun: 'Connection' }),
);

/**
 * Rejects a change that would send unchanged credentials to another origin. Throws FORBIDDEN for an end user who did not
 * create the connection.
 */
export const updateConnection = projectMutation({
  description:
    'Updates the credentials of a connection, or other facts about its account. Omitted members keep their values. New credentials must fit the scheme of the connection. If the provider rejects a key or password, the result is `UNPROCESSABLE` and nothing is changed.',
  needs: orEndUser('connections:write', 'CONNECT'),
  input: updateConnectionInput,
  async run(call, input, { id: projectId }): Promise<Row<'Connection'>> {
    const { projectIdOrName: _, connectionId: id, skipCheck, ...changes } = input;
    const key = { projectId, id };
    const connection = await getProjectRow(call, 'Connection', { ...key, noun: 'Connection' });
    refuseOtherConsumers(call, connection, 'change it');
    requireNoIssues(listChangeIssues(call, connection, input));
    if (Object.values(changes).every((value) => value === undefined)) return connection;
    const token =
      skipCheck || listCredentialFields(changes).length === 0
        ? undefined
        : await requireAcceptedCredentials(call, toChangedAccount(call, connection, changes));
    return changeConnection(call, connection, toColumns(call, connection, { ...changes, token }));
  },
});

function changeConnection(
  { database }: RowServices,
  { id, projectId, authScheme, providerWorkspaceRef, providerMetadata }: Row<'Connection'>,
  data: Prisma.ConnectionUpdateInput,
): Promise<Row<'Connection'>> {
  const change = inTransaction(database, async (tx) => {
    const { group, consumer, ...connection } = await tx.connection.update({
      // The change was validated against these values. If the row has other values, the update fails.
      where: {
        projectId_id: { projectId, id },
        authScheme,
        providerWorkspaceRef,
        providerMetadata: { equals: providerMetadata ?? Prisma.DbNull },
      },
      data,
      include: { group: true, consumer: true },
      omit: { credentialsSealed: true },
    });
    await recordEvent(tx, {
      projectId,
      connectionId: id,
      eventType: 'CONNECTION_UPDATED',
      data: toConnectionFields({ ...connection, group, consumer }),
      subject: pickSubject(connection),
    });
    return connection;
  });
  return requireRow(
    conflict('Another request changed or deleted the connection. Read it and try again.'),
    change,
  );
}

/** Throws FORBIDDEN for an end user who did not create the connection. */
export const deleteConnection = projectMutation({
  description: 'Deletes a connection that no installation uses. Its group and consumer are kept.',
  needs: orEndUser('connections:write', 'CONNECT'),
  input: deleteConnectionInput,
  async run(call, { connectionId }, { id: projectId }): Promise<{ deletedId: string }> {
    const key = { projectId, id: connectionId, noun: 'Connection' };
    refuseOtherConsumers(call, await getProjectRow(call, 'Connection', key), 'disconnect it');
    return requireRow(
      notFound('Connection', connectionId),
      inTransaction(call.database, async (tx) => {
        const deletedConnection = await tx.connection.delete({
          where: { projectId_id: { projectId, id: connectionId } },
          include: { group: true, consumer: true },
          omit: { credentialsSealed: true },
        });
        await recordEvent(tx, {
          projectId,
          connectionId,
          eventType: 'CONNECTION_DELETED',
          data: toConnectionFields(deletedConnection),
          subject: pickSubject(deletedConnection),
        });
        return { deletedId: connectionId };
      }),
    );
  },
});

type Changes = Omit<
  z.output<typeof updateConnectionInput>,
  'projectIdOrName' | 'connectionId' | 'skipCheck'
>;

/** Returns the account with the new credentials, at the address that results from the change. */
function toChangedAccount(
  { catalog }: InProject<RowServices>,
  connection: Row<'Connection'>,
  { providerWorkspaceRef, providerMetadata, ...credentials }: Changes,
): AccountToCheck {
  const { id, projectId, authScheme } = connection;
  const provider = catalog.find(connection.provider);
  return {
    projectId,
    provider,
    credentials: parseCredentials({ authScheme, custom: provider?.custom }, credentials),
    ...changeMetadata(connection, { providerWorkspaceRef, providerMetadata }),
    limitKey: id,
  };
}

function listChangeIssues(
  call: Pick<ProjectCall, 'catalog'>,
  connection: Row<'Connection'>,
  input: Changes,
): Issue[] {
  const provider = call.catalog.find(connection.provider);
  const { providerWorkspaceRef, providerMetadata } = input;
  const hasCredentials = listCredentialFields(input).length > 0;
  const change = { providerWorkspaceRef, providerMetadata, hasCredentials };
  return [
    ...(provider ? listMetadataChangeIssues(provider, connection, change) : []),
    ...listReplacementIssues(provider, connection.authScheme, input),
  ];
}

function toColumns(
  call: ProjectCall,
  connection: Row<'Connection'>,
  { providerWorkspaceRef, providerMetadata, ...credentials }: Changes & Exchanged,
): Prisma.ConnectionUpdateInput {
  return {
    providerWorkspaceRef,
    ...(providerWorkspaceRef !== undefined && { isWorkspaceFromToken: false }),
    providerMetadata: providerMetadata === null ? Prisma.DbNull : providerMetadata,
    updateTime: call.now(),
    ...(listCredentialFields(credentials).length > 0 && {
      ...createCredentialColumns(call, connection, credentials),
      // The new credentials may be of another person.
      providerConsumerRef: null,
    }),
  };
}

interface Exchanged {
  /** The token from an earlier exchange of these credentials. */
  token?: StoredToken | undefined;
  /** Credentials that no input contains. They replace those of the input. */
  credentials?: Credentials | undefined;
}

/**
 * Creates the columns that change with the credentials. The status becomes CREATED again, because it described the old
 * credentials.
 */
export function createCredentialColumns(
  services: Pick<ProjectServices, 'vault' | 'catalog'>,
  connection: Pick<Row<'Connection'>, 'id' | 'projectId' | 'provider' | 'authScheme'>,
  { token, credentials: exchanged, ...input }: CredentialInput & Exchanged,
) {
  const { authScheme, provider } = connection;
  const catalogProvider = services.catalog.find(provider);
  const inputCredentials =
    exchanged ?? parseCredentials({ authScheme, custom: catalogProvider?.custom }, input);
  const credentials = token ? { ...inputCredentials, token } : inputCredentials;
  return {
    status: 'CREATED',
    credentialsSealed: sealCredentials(services, connection, credentials),
    credentialTargets: findTargets(catalogProvider),
    tokenExpireTime: findTokenExpireTime(credentials),
    refreshDueTime: findRefreshDueTime(credentials),
    unrefreshableSince: null,
    refreshRejectedTime: null,
  } as const;
}

/** Returns the result of the change. Throws `notFoundError` if its row does not exist, and CONFLICT if the row is used. */
async function requireRow<T>(notFoundError: DomainError, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (isForeignKeyViolation(error)) {
      throw conflict('Installations use the connection. Delete them first.');
    }
    if (isMissingRow(error)) throw notFoundError;
    throw error;
  }
}

/** Returns the fields of a connection in each of its events. */
export function toConnectionFields(
  connection: Pick<Row<'Connection'>, 'id' | 'projectId' | 'provider'> & {
    group: Pick<Row<'Group'>, 'groupRef'>;
    consumer: Pick<Row<'Consumer'>, 'consumerRef' | 'consumerName'>;
  },
): EventData<'CONNECTION_CREATED'> {
  const { id: connectionId, projectId, provider, group, consumer } = connection;
  const { groupRef } = group;
  const { consumerRef, consumerName } = consumer;
  return { projectId, connectionId, provider, groupRef, consumerRef, consumerName };
}

/** The new values. Absent members keep their values. */
interface MetadataChange extends AccountMetadataInput {
  /** True if the change includes new credentials. */
  hasCredentials: boolean;
}

/**
 * Lists issues with the change. The new values must be valid for a new connection. A change without credentials must not
 * lead to another origin, because stored credentials are sent only to the origin for which they were entered.
 */
function listMetadataChangeIssues(
  provider: Provider,
  before: AccountMetadata,
  change: MetadataChange,
): Issue[] {
  const { providerWorkspaceRef, providerMetadata } = change;
  const after = changeMetadata(before, change);
  const isOtherWorkspace = findWorkspaceRef(before) !== findWorkspaceRef(after);
  const mustCheckWorkspace = isOtherWorkspace || providerWorkspaceRef !== undefined;
  const issues = [
    ...(mustCheckWorkspace ? listWorkspaceIssues(provider, findWorkspaceRef(after)) : []),
    ...(providerMetadata === undefined ? [] : listInputIssues(provider, after)),
  ];
  if (issues.length > 0 || change.hasCredentials) return issues;
  const newOrigins = listNewOrigins(provider, { before, after });
  return [...newOrigins].map(([variable, origin]) => {
    const isWorkspaceRef = variable === 'workspace' && providerWorkspaceRef !== undefined;
    const path = isWorkspaceRef ? toInputPath(variable) : ['providerMetadata', variable];
    const detail = `points to another origin, ${origin}. Send new credentials with it: stored credentials are only sent to the origin that they were entered for.`;
    return createInputIssue(path, detail, findVariable(variable, after));
  });
}

/** Returns the account's metadata after the change. */
function changeMetadata(
  before: AccountMetadata,
  {
    providerWorkspaceRef = before.providerWorkspaceRef,
    providerMetadata = before.providerMetadata,
  }: AccountMetadataInput,
): AccountMetadata {
  return { providerWorkspaceRef, providerMetadata };
}

/** Maps each changed variable to the new origin of the first address that contains it and changes its origin. */
function listNewOrigins(
  provider: Provider,
  { before, after }: { before: AccountMetadata; after: AccountMetadata },
): Map<string, string> {
  const origins = new Map<string, string>();
  for (const template of listCredentialAddresses(provider)) {
    const origin = findOrigin(provider, template, after);
    if (origin === null || origin === findOrigin(provider, template, before)) continue;
    for (const variable of listVariables(template)) {
      const isChanged = findVariable(variable, before) !== findVariable(variable, after);
      if (isChanged && !origins.has(variable)) origins.set(variable, origin);
    }
  }
  return origins;
}

/** Lists the addresses to which credentials are sent. */
function listCredentialAddresses({ baseUrl, modules = [], oauth2 }: Provider): string[] {
  const moduleAddresses = modules.map((module) => module.baseUrl);
  const addresses = [baseUrl, ...moduleAddresses, oauth2?.tokenUrl, oauth2?.revocation?.url];
  return addresses.filter((address) => address !== undefined);
}
