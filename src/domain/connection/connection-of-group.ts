import type { Transaction } from '../../database/transaction.ts';

/**
 * The connection that stands for a group at a provider: the newest that is not BAD_CREDENTIALS, else
 * the newest; null if the group has none. `prisma` is a transaction or the database's own client.
 */
export async function findConnectionOfGroup(
  prisma: Pick<Transaction, 'connection'>,
  group: { projectId: string; provider: string; groupId: string },
) {
  const newest = { orderBy: { id: 'desc' }, omit: { credentialsSealed: true } } as const;
  return (
    (await prisma.connection.findFirst({
      where: { ...group, status: { not: 'BAD_CREDENTIALS' } },
      ...newest,
    })) ?? (await prisma.connection.findFirst({ where: group, ...newest }))
  );
}
