/** Who follows a connection's stream. */
import { Prisma } from '../../../database/generated/client.ts';
import { inProjectsSql, LeasedRows, sweepSql } from '../../../database/leased-rows.ts';
import { allProjects } from '../../../database/projects/all-projects.ts';
import { columnsOf, type Row } from '../../../database/tables.ts';
import { LEASE } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';

export type ProviderStream = Row<'ProviderStream'>;

const IS_WANTED = Prisma.sql`exists (select 1 from "ObjectSubscription" s
  where s."projectId" = held."projectId" and s."connectionId" = held."connectionId" and s."isWanted")`;

/** It is taken down at the provider first. */
const IS_TOLD = Prisma.sql`exists (select 1 from "StreamPing" p
  where p."projectId" = held."projectId" and p."id" = held."connectionId")`;

export const STREAMS = new LeasedRows({
  table: 'ProviderStream',
  key: ['projectId', 'connectionId'],
  leaseMs: 10_000,
  columns: LEASE,
  isWanted: IS_WANTED,
});

const UNWANTED = Prisma.raw(allProjects('streams that nobody wants any more'));

/** Streams that nobody follows, of all projects. Those that nobody wants any more go. */
export async function claimStreams(
  { database, now }: Pick<Services, 'database' | 'now'>,
  countMax: number,
): Promise<ProviderStream[]> {
  const forget = Prisma.sql`${UNWANTED}
    delete from "ProviderStream" where ("projectId", "connectionId") in (
      select held."projectId", held."connectionId" from "ProviderStream" held
      where ${inProjectsSql(database, 'held')} and ${STREAMS.isFree} and not ${IS_WANTED} and not ${IS_TOLD})`;
  await sweepSql(database, forget);
  const due = { countMax, now: now(), columns: columnsOf('ProviderStream') };
  return STREAMS.claimDue(database, due);
}
