/** Records whether a connection's credentials work, after calls and refreshes. Writes only if the status changes. */
import { inTransaction } from '../../database/transaction.ts';
import { recordEvent } from '../../events/record.ts';
import { pickSubject } from '../../events/subject.ts';
import type { Services } from '../call.ts';
import { toConnectionFields } from './connection.ts';
import type { ConnectionKey } from './session/stored-credentials.ts';

/** The credentials that a result is about. It is not about newer credentials, so updates compare `sealed`. */
interface Finding {
  connection: ConnectionKey;
  /** The used credentials in their stored form. */
  sealed: string | null;
}

export async function recordWorking(
  { database }: Services,
  { connection: { id, projectId }, sealed }: Finding,
): Promise<void> {
  await database.prisma.connection.updateMany({
    where: { id, projectId, credentialsSealed: sealed, status: { not: 'WORKING' } },
    data: { status: 'WORKING' },
  });
}

/** Sets BAD_CREDENTIALS and records the event, once for each time that working credentials fail. */
export async function recordBadCredentials(
  { database, now }: Services,
  { connection: { id, projectId }, sealed, errors }: Finding & { errors: string[] },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const { count } = await tx.connection.updateMany({
      where: { id, projectId, credentialsSealed: sealed, status: { not: 'BAD_CREDENTIALS' } },
      // The connection can't be refreshed until it gets new credentials.
      data: { status: 'BAD_CREDENTIALS', badCredentialsSince: now(), tokenExpireTime: null },
    });
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
