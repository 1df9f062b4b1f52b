/** Suspends connections of a custom provider whose credentials were entered for other addresses. */
import type { Prisma } from '../../../database/generated/client.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { recordEvents } from '../../../events/record.ts';
import { pickSubject } from '../../../events/subject.ts';
import type { Provider } from '../../../providers/contract.ts';
import { toConnectionFields } from '../../connections/connection/connection.ts';
import { createNotErasedFilter } from '../../connections/connection/connection-of-group.ts';
import {
  describeOtherTargets,
  findTargets,
} from '../../connections/provider/credential-targets.ts';

/** The number of connections whose events are stored in one statement. */
const PAGE_SIZE = 500;

interface Suspension {
  projectId: string;
  /** The provider with its new addresses. */
  provider: Provider;
  time: Date;
}

/** Returns the condition for working connections whose credentials were entered for other addresses. */
export function toSuspended(projectId: string, provider: Provider) {
  const credentialTargets = findTargets(provider);
  return {
    projectId,
    provider: provider.name,
    status: { not: 'BAD_CREDENTIALS' },
    OR: [{ credentialTargets: null }, { credentialTargets: { not: credentialTargets } }],
  } satisfies Prisma.ConnectionWhereInput;
}

/**
 * Sets BAD_CREDENTIALS and records an event for each connection that has worked until now, and is not being erased.
 * Must run last in a transaction, because it records events.
 */
export async function suspendConnections(
  tx: Transaction,
  { projectId, provider, time }: Suspension,
): Promise<void> {
  const where = toSuspended(projectId, provider);
  const suspended = { status: 'BAD_CREDENTIALS', badCredentialsSince: time } as const;
  const { count } = await tx.connection.updateMany({
    where,
    data: { ...suspended, updateTime: time },
  });
  const errors = [describeOtherTargets(provider)];
  const notErased = await createNotErasedFilter(tx, { projectId });
  let lastId = '';
  for (let remaining = count; remaining > 0; remaining -= PAGE_SIZE) {
    const connections = await tx.connection.findMany({
      where: { ...where, ...notErased, ...suspended, id: { gt: lastId } },
      include: { group: true, consumer: true },
      omit: { credentialsSealed: true },
      orderBy: { id: 'asc' },
      take: PAGE_SIZE,
    });
    const events = connections.map((connection) => ({
      projectId,
      connectionId: connection.id,
      eventType: 'CONNECTION_ERROR' as const,
      data: { ...toConnectionFields(connection), errors },
      subject: pickSubject(connection),
    }));
    await recordEvents(tx, events);
    lastId = connections.at(-1)?.id ?? lastId;
  }
}
