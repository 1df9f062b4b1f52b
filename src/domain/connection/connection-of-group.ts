import type { Transaction } from '../../database/transaction.ts';

/**
 * Finds the connection that represents a group at a provider: the newest that is not BAD_CREDENTIALS, or else the
 * newest. Null if the group has none. `prisma` is a transaction or the client of the database.
 */
export async function findConnectionOfGroup(
  prisma: Pick<Transaction, 'connection' | 'erasure'>,
  group: { projectId: string; provider: string; groupId: string },
) {
  const newest = { orderBy: { id: 'desc' }, omit: { credentialsSealed: true } } as const;
  const where = { ...group, ...(await createNotErasedFilter(prisma, group)) };
  return (
    (await prisma.connection.findFirst({
      where: { ...where, status: { not: 'BAD_CREDENTIALS' } },
      ...newest,
    })) ?? (await prisma.connection.findFirst({ where, ...newest }))
  );
}

/**
 * Creates a filter for connections that are not being erased. Rows of an erasure are deleted later, and nothing may
 * start to use them.
 */
export async function createNotErasedFilter(
  { erasure }: Pick<Transaction, 'erasure'>,
  { projectId }: { projectId: string },
) {
  const erasures = await erasure.findMany({ where: { projectId }, select: { id: true } });
  const notIn = erasures.map(({ id }) => id);
  return { consumerId: { notIn }, NOT: { groupId: { in: notIn } } };
}
