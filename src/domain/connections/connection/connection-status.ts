/** Records whether a connection's credentials work. Writes only if the status changes. */
import type { Prisma } from '../../../database/generated/client.ts';
import { inTransaction } from '../../../database/transactions/transaction.ts';
import { recordEvent } from '../../../events/record.ts';
import { pickSubject } from '../../../events/subject.ts';
import type { RowServices } from '../../access/call.ts';
import { toConnectionFields } from './connection.ts';
import type { ConnectionKey } from './credentials.ts';

/** The credentials that a request used. Updates compare them, because the result does not apply to newer credentials. */
interface UsedCredentials {
  connection: ConnectionKey;
  /** The stored form of the credentials. */
  sealed: string | null;
}

/**
 * Sets WORKING. Refreshable credentials that the token endpoint has rejected stay BAD_CREDENTIALS until a refresh
 * succeeds, because the access token may still work for a while.
 */
export async function recordWorking(
  { database }: RowServices,
  {
    connection: { id, projectId },
    sealed,
    isRefreshable,
  }: UsedCredentials & { isRefreshable: boolean },
): Promise<void> {
  const mayWork: Prisma.ConnectionWhereInput = isRefreshable
    ? { OR: [{ status: 'CREATED' }, { status: 'BAD_CREDENTIALS', refreshRejectedTime: null }] }
    : { status: { not: 'WORKING' } };
  await database.prisma.connection.updateMany({
    where: { id, projectId, credentialsSealed: sealed, ...mayWork },
    data: { status: 'WORKING' },
  });
}

interface Rejection extends UsedCredentials {
  /** The kind of request that the provider rejected. After `REQUEST`, a refresh or a later request may still succeed. */
  cause: 'REQUEST' | 'REFRESH';
  errors: string[];
}

/** Sets BAD_CREDENTIALS and records an event, unless the credentials have failed already. */
export async function recordBadCredentials(
  { database, now }: RowServices,
  { connection: { id, projectId }, sealed, cause, errors }: Rejection,
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const { count } = await tx.connection.updateMany({
      where: { id, projectId, credentialsSealed: sealed, status: { not: 'BAD_CREDENTIALS' } },
      data: {
        status: 'BAD_CREDENTIALS',
        badCredentialsSince: now(),
        ...(cause === 'REQUEST' && { refreshRejectedTime: null }),
      },
    });
    if (cause === 'REFRESH') {
      // The connection can't be refreshed until it gets new credentials.
      const where = { id, projectId, credentialsSealed: sealed };
      await tx.connection.updateMany({
        where,
        data: { tokenExpireTime: null, refreshDueTime: null },
      });
    }
    if (count === 0) return;
    const connection = await tx.connection.findUniqueOrThrow({
      where: { projectId_id: { projectId, id } },
      include: { group: true, consumer: true },
      omit: { credentialsSealed: true },
    });
    await recordEvent(tx, {
      projectId,
      connectionId: id,
      eventType: 'CONNECTION_ERROR',
      data: { ...toConnectionFields(connection), errors },
      subject: pickSubject(connection),
    });
  });
}
