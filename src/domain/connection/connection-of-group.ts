import type { Transaction } from '../../database/transaction.ts';

/**
 * The connection that stands for a group at a provider: the newest that is not BAD_CREDENTIALS, else
 * the newest; null if the group has none. `prisma` is a transaction or the database's own client.
 */
export async function findConnectionOfGroup(
  prisma: Pick<Transaction, 'connection' | 'erasure'>,
  group: { projectId: string; provider: string; groupId: string },
) {
  const newest = { orderBy: { id: 'desc' }, omit: { credentialsSealed: true } } as const;
  const where = { ...group, ...(await inSight(prisma, group)) };
  return (
    (await prisma.connection.findFirst({
      where: { ...where, status: { not: 'BAD_CREDENTIALS' } },
      ...newest,
    })) ?? (await prisma.connection.findFirst({ where, ...newest }))
  );
}

/** The condition of connections that nobody erases: of those that are erased the rows go later, and nothing may begin with them. */
export async function inSight(
  { erasure }: Pick<Transaction, 'erasure'>,
  { projectId }: { projectId: string },
) {
  const erased = await erasure.findMany({ where: { projectId }, select: { id: true } });
  const notIn = erased.map(({ id }) => id);
  return { consumerId: { notIn }, NOT: { groupId: { in: notIn } } };
}
