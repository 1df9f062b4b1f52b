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

export type EventStream = Row<'EventStream'>;

const LEASE_MS = 10_000;
const LEASE_END = Prisma.raw(leaseEndSql(LEASE_MS));
const IS_FREE = Prisma.raw(isFreeSql());
const IS_WANTED = Prisma.raw(`exists (select 1 from "ObjectSubscription" s
  where s."projectId" = e."projectId" and s."connectionId" = e."connectionId" and s."isWanted")`);

/** Streams that nobody follows, of all projects. Those that nobody wants any more go. */
export async function claimStreams(
  { database }: Pick<Services, 'database'>,
  countMax: number,
): Promise<EventStream[]> {
  await database.prisma.$executeRaw`
    delete from "EventStream" e where ${IS_FREE} and not ${IS_WANTED}`;
  return database.prisma.$queryRaw<EventStream[]>`
    with chosen as (
      select "projectId", "connectionId" from "EventStream" e
      where "dueTime" <= now() and ${IS_FREE} and ${IS_WANTED}
      order by "dueTime" limit ${countMax}::int for update of e skip locked
    )
    update "EventStream" e set
      "leaseToken" = ${newLeaseToken(database.processes.id)}, "leaseExpireTime" = ${LEASE_END}
    from chosen
    where e."projectId" = chosen."projectId" and e."connectionId" = chosen."connectionId"
    returning e.*`;
}

/** Keeps the lease until it is disposed of. `onLost` is called if somebody else has it, or nobody wants the stream. */
export function holdStream(
  { database, log }: Pick<Services, 'database' | 'log'>,
  { projectId, connectionId, leaseToken }: EventStream,
  onLost: () => void,
): Disposable {
  const renew = async () => {
    const renewed = await database.prisma.$executeRaw`
      update "EventStream" e set "leaseExpireTime" = ${LEASE_END}
      where "projectId" = ${projectId} and "connectionId" = ${connectionId}
        and "leaseToken" = ${leaseToken} and ${IS_WANTED}`;
    if (renewed === 0) onLost();
  };
  return keepLease(LEASE_MS, renew, (error) =>
    log.warn({ err: error, connectionId }, 'event_stream.lease_not_renewed'),
  );
}

type Change = Parameters<Transaction['eventStream']['updateMany']>[0]['data'];

/** Throws LeaseLost. */
export async function changeStream(
  tx: Pick<Transaction, 'eventStream'>,
  { projectId, connectionId, leaseToken }: EventStream,
  data: Change,
): Promise<void> {
  const where = { projectId, connectionId, leaseToken };
  const { count } = await tx.eventStream.updateMany({ where, data });
  requireLease(count);
}

export const GIVEN_BACK = { leaseToken: null, leaseExpireTime: null } as const;
