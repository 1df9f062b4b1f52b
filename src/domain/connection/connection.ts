/** Connections: a group and a consumer linked to one provider. */

import type { z } from 'zod';
import { ConnectionStatus, Prisma } from '../../database/generated/client.ts';
import type { Row } from '../../database/rows.ts';
import { inTransaction } from '../../database/transaction.ts';
import { isForeignKeyViolation, isMissingRow } from '../../database/violations.ts';
import { conflict, type DomainError, type Issue, invalidInput, notFound } from '../../errors.ts';
import { recordEvent } from '../../events/record.ts';
import type { Call, Services } from '../call.ts';
import { openInput } from '../checked-input.ts';
import { projectRead, read } from '../declared-read.ts';
import { listPage, type PageArgs } from '../page.ts';
import { findConsumerByRef } from '../project/consumer.ts';
import { findGroupByRef } from '../project/group.ts';
import { workspaceIssues } from '../provider/provider-workspace.ts';
import { getOwned, getProject } from '../scope.ts';
import { connectionFields } from './connection-events.ts';
import { type deleteConnectionInput, updateConnectionInput } from './connection-input.ts';
import { givenFields, replacementIssues } from './connection-scheme.ts';
import { type CredentialInput, credentialsOf } from './credential-input.ts';
import { sealCredentials, tokenExpireTimeOf } from './credentials.ts';

export interface ConnectionFilter {
  provider?: string | null;
  groupRef?: string | null;
  consumerRef?: string | null;
  status?: Row<'Connection'>['status'] | null;
}

export const listConnections = read(
  'read',
  async (
    call: Call,
    { id: projectId }: Row<'Project'>,
    { provider, groupRef, consumerRef, status, ...args }: PageArgs & ConnectionFilter,
  ) => {
    const [group, consumer] = await Promise.all([
      groupRef == null ? undefined : findGroupByRef(call, { projectId, groupRef }),
      consumerRef == null ? undefined : findConsumerByRef(call, { projectId, consumerRef }),
    ]);
    const ends = {
      provider: provider ?? undefined,
      groupId: idOrNone(group),
      consumerId: idOrNone(consumer),
    };
    // The indexes of the others have the status too: where it is left out, each is a range of theirs.
    const isNarrow = Object.values(ends).some((end) => end !== undefined);
    const anyStatus = isNarrow ? Object.values(ConnectionStatus) : undefined;
    const where = { projectId, ...ends, status: status ?? anyStatus };
    const list = { name: 'Project.connections', parentId: projectId, table: 'Connection' } as const;
    return listPage(call, { ...list, where }, args);
  },
);

/** Throws NOT_FOUND. */
export const getConnection = projectRead(
  'read',
  (call, { connectionId: id }: { connectionId: string }, { id: projectId }) =>
    getOwned(call, 'Connection', { projectId, id, what: 'Connection' }),
);

/** Null finds nothing; undefined doesn't ask. */
function idOrNone(row: { id: string } | null | undefined): string | never[] | undefined {
  return row === null ? [] : row?.id;
}

/** New credentials are of the scheme that the connection has. What is left out stays. */
export async function updateConnection(
  call: Call,
  input: z.input<typeof updateConnectionInput>,
): Promise<Row<'Connection'>> {
  const { project, issues } = await openInput(call, {
    schema: updateConnectionInput,
    input,
    needed: 'connections:write',
  });
  const { id: projectId } = project;
  const { projectIdOrName: _project, connectionId, ...changes } = input;
  const key = { projectId, id: connectionId };
  const connection = await getOwned(call, 'Connection', { ...key, what: 'Connection' });
  const problems = [...issues, ...misfits(call, connection, changes)];
  if (problems.length > 0) throw invalidInput(problems);
  if (Object.values(changes).every((value) => value === undefined)) return connection;
  const { authScheme } = connection;
  const data = changesOf(call, connection, changes);
  return unless(
    conflict('The connection was changed or deleted at the same time.'),
    inTransaction(call.database, async (tx) => {
      const { group, consumer, ...changed } = await tx.connection.update({
        // The credentials were checked against this scheme; another one would not match them.
        where: { projectId_id: key, authScheme },
        data,
        include: { group: true, consumer: true },
        omit: { credentialsSealed: true },
      });
      await recordEvent(tx, {
        projectId,
        connectionId,
        eventType: 'CONNECTION_UPDATED',
        data: connectionFields({ ...changed, group, consumer }),
      });
      return changed;
    }),
  );
}

/** Its group and its consumer stay. Refused while installations use it. */
export async function deleteConnection(
  call: Call,
  { projectIdOrName, connectionId }: z.output<typeof deleteConnectionInput>,
): Promise<{ deletedId: string }> {
  const { id: projectId } = await getProject(call, projectIdOrName, 'connections:write');
  return unless(
    notFound('Connection', connectionId),
    inTransaction(call.database, async (tx) => {
      const deleted = await tx.connection.delete({
        where: { projectId_id: { projectId, id: connectionId } },
        include: { group: true, consumer: true },
        omit: { credentialsSealed: true },
      });
      const data = connectionFields(deleted);
      await recordEvent(tx, { projectId, connectionId, eventType: 'CONNECTION_DELETED', data });
      return { deletedId: connectionId };
    }),
  );
}

type Changes = Omit<z.output<typeof updateConnectionInput>, 'projectIdOrName' | 'connectionId'>;

function misfits(call: Call, connection: Row<'Connection'>, input: Changes): Issue[] {
  const provider = call.catalogue.find(connection.provider);
  const { providerWorkspaceRef } = input;
  return [
    ...(provider && providerWorkspaceRef !== undefined
      ? workspaceIssues(provider, providerWorkspaceRef)
      : []),
    ...replacementIssues(provider, connection.authScheme, input),
  ];
}

function changesOf(
  call: Call,
  connection: Row<'Connection'>,
  { providerWorkspaceRef, providerMetadata, ...credentials }: Changes,
): Prisma.ConnectionUpdateInput {
  return {
    providerWorkspaceRef,
    providerMetadata:
      providerMetadata === null
        ? Prisma.DbNull
        : (providerMetadata as Prisma.InputJsonObject | undefined),
    updateTime: call.now(),
    ...(givenFields(credentials).length > 0 && newCredentials(call, connection, credentials)),
  };
}

/** The columns that come with credentials: what the old ones proved is no longer known. */
export function newCredentials(
  services: Pick<Services, 'vault'>,
  connection: Pick<Row<'Connection'>, 'id' | 'projectId' | 'authScheme'>,
  input: CredentialInput,
) {
  const credentials = credentialsOf(connection.authScheme, input);
  return {
    status: 'CREATED',
    credentialsSealed: sealCredentials(services, connection, credentials),
    tokenExpireTime: tokenExpireTimeOf(credentials),
  } as const;
}

/** Throws `missing` where the row to change is not there. */
async function unless<T>(missing: DomainError, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (isForeignKeyViolation(error)) {
      throw conflict('Installations use the connection: delete them first.');
    }
    if (isMissingRow(error)) throw missing;
    throw error;
  }
}
