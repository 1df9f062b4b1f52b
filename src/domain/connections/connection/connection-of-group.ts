import type { Transaction } from '../../../database/transactions/transaction.ts';

/**
 * Finds the connection that new installations of a group use: the newest connection to the provider that is not
 * BAD_CREDENTIALS, or else the newest one. Null if the group has none. `prisma` is a transaction or the client.
 */
export async function findConnectionOfGroup(
  prisma: Pick<Transaction, 'connection' | 'erasure'>,
  group: { projectId: string; provider: string; groupId: string },
) {
  const options = { orderBy: { id: 'desc' }, omit: { credentialsSealed: true } } as const;
  const where = { ...group, ...(await createNotErasedFilter(prisma, group)) };
  return (
    (await prisma.connection.findFirst({
      where: { ...where, status: { not: 'BAD_CREDENTIALS' } },
      ...options,
    })) ?? (await prisma.connection.findFirst({ where, ...options }))
  );
}

/**
 * Creates a filter for connections that are not being erased. An erasure deletes its rows in batches, and nothing may
 * start to use them in the meantime.
 */
export async function createNotErasedFilter(
  { erasure }: Pick<Transaction, 'erasure'>,
  { projectId }: { projectId: string },
) {
  const erasedIds = await listErasedIds({ erasure }, projectId);
  return { consumerId: { notIn: erasedIds }, NOT: { groupId: { in: erasedIds } } };
}

/** Lists the groups and consumers of the project that are being erased, for reads outside the read layer. */
export async function listErasedIds(
  { erasure }: Pick<Transaction, 'erasure'>,
  projectId: string,
): Promise<string[]> {
  const erasures = await erasure.findMany({ where: { projectId }, select: { id: true } });
  return erasures.map(({ id }) => id);
}
