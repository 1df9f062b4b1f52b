/** Who follows a connection's stream, held by a lease: a late result of an older claim is refused. */
import { Prisma } from '../../../database/generated/client.ts';
import type { Row } from '../../../database/rows.ts';
import type { Transaction } from '../../../database/transaction.ts';
import {
  isFreeSql,
  keepLease,
  leaseEndSql,
  newLeaseToken,
  requireLease,
} from '../../../work/lease.ts';
import type { Services } from '../../call.ts';

export type ProviderStream = Row<'ProviderStream'>;

const LEASE_MS = 10_000;
const LEASE_END = Prisma.raw(leaseEndSql(LEASE_MS));
const IS_FREE = Prisma.raw(isFreeSql());
const IS_WANTED = Prisma.raw(`exists (select 1 from "ObjectSubscription" s
  where s."projectId" = e."projectId" and s."connectionId" = e."connectionId" and s."isWanted")`);

/** Streams that nobody follows, of all projects. Those that nobody wants any more go. */
export async function claimStreams(
  { database }: Pick<Services, 'database'>,
  countMax: number,
): Promise<ProviderStream[]> {
  return database.prisma.$queryRaw<ProviderStream[]>`
    with unwanted as (
      delete from "ProviderStream" e where ${IS_FREE} and not ${IS_WANTED}
    ), chosen as (
      select "projectId", "connectionId" from "ProviderStream" e
      where "dueTime" <= now() and ${IS_FREE} and ${IS_WANTED}
      order by "dueTime" limit ${countMax}::int for update of e skip locked
    )
    update "ProviderStream" e set
      "leaseToken" = ${newLeaseToken(database.processes.id)}, "leaseExpireTime" = ${LEASE_END}
    from chosen
    where e."projectId" = chosen."projectId" and e."connectionId" = chosen."connectionId"
    returning e.*`;
}

/** Keeps the lease until it is disposed of. `onLost` is called if somebody else has it, or nobody wants the stream. */
export function holdStream(
  { database, log }: Pick<Services, 'database' | 'log'>,
  { projectId, connectionId, leaseToken }: ProviderStream,
  onLost: () => void,
): Disposable {
  const renew = async () => {
    const renewed = await database.prisma.$executeRaw`
      update "ProviderStream" e set "leaseExpireTime" = ${LEASE_END}
      where "projectId" = ${projectId} and "connectionId" = ${connectionId}
        and "leaseToken" = ${leaseToken} and ${IS_WANTED}`;
    if (renewed === 0) onLost();
  };
  return keepLease(LEASE_MS, renew, (error) =>
    log.warn({ err: error, connectionId }, 'provider_stream.lease_not_renewed'),
  );
}

type Change = Parameters<Transaction['providerStream']['updateMany']>[0]['data'];

/** Throws LeaseLost. */
export async function changeStream(
  tx: Pick<Transaction, 'providerStream'>,
  { projectId, connectionId, leaseToken }: ProviderStream,
  data: Change,
): Promise<void> {
  const where = { projectId, connectionId, leaseToken };
  const { count } = await tx.providerStream.updateMany({ where, data });
  requireLease(count);
}

export const GIVEN_BACK = { leaseToken: null, leaseExpireTime: null } as const;
