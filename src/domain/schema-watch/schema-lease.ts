/** Who looks at an installation's fields, held by a lease: a late result of an older claim is refused. */
import { Prisma } from '../../database/generated/client.ts';
import type { Row } from '../../database/rows.ts';
import type { Transaction } from '../../database/transaction.ts';
import {
  isFreeSql,
  keepLease,
  leaseEndSql,
  newLeaseToken,
  requireLease,
} from '../../work/lease.ts';
import type { Services } from '../call.ts';

export type SchemaWatch = Row<'SchemaWatch'>;

const LEASE_MS = 30_000;
const LEASE_END = Prisma.raw(leaseEndSql(LEASE_MS));
const IS_FREE = Prisma.raw(isFreeSql());

/** The one that is due first, of any project; null if none is. */
export async function claimWatch({
  database,
  now,
}: Pick<Services, 'database' | 'now'>): Promise<SchemaWatch | null> {
  const token = newLeaseToken(database.processes.id);
  const [claimed] = await database.prisma.$queryRaw<SchemaWatch[]>`
    with due as (
      select "projectId", "installationId" from "SchemaWatch"
      where "dueTime" <= ${now()} and ${IS_FREE} order by "dueTime" limit 1 for update skip locked
    )
    update "SchemaWatch" w set "leaseToken" = ${token}, "leaseExpireTime" = ${LEASE_END}
    from due where w."projectId" = due."projectId" and w."installationId" = due."installationId"
    returning w.*`;
  return claimed ?? null;
}

/** Keeps the claim's lease from ending until it is disposed of. */
export function holdWatch(
  { database, log }: Pick<Services, 'database' | 'log'>,
  { projectId, installationId, leaseToken }: SchemaWatch,
): Disposable {
  const renew = async () => database.prisma.$executeRaw`
    update "SchemaWatch" set "leaseExpireTime" = ${LEASE_END}
    where "projectId" = ${projectId} and "installationId" = ${installationId}
      and "leaseToken" = ${leaseToken}`;
  return keepLease(LEASE_MS, renew, (error) =>
    log.warn({ err: error, installationId }, 'schema_watch.lease_not_renewed'),
  );
}

type Change = Pick<Prisma.SchemaWatchUncheckedUpdateManyInput, 'known' | 'connectionId'> &
  Record<'dueTime', Date> &
  Record<'failures', number>;

/** Notes what has come of the claim, and ends it. Throws LeaseLost. */
export async function giveBack(tx: Transaction, watch: SchemaWatch, change: Change): Promise<void> {
  const { count } = await tx.schemaWatch.updateMany({
    where: heldBy(watch),
    data: { ...change, leaseToken: null, leaseExpireTime: null },
  });
  requireLease(count);
}

/** The integration watches nothing any more. */
export async function endWatch(
  { database }: Pick<Services, 'database'>,
  watch: SchemaWatch,
): Promise<void> {
  await database.prisma.schemaWatch.deleteMany({ where: heldBy(watch) });
}

function heldBy({ projectId, installationId, leaseToken }: SchemaWatch) {
  return { projectId, installationId, leaseToken };
}
