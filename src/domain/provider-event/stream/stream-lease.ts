/** The lease of a worker that follows a connection's stream. */
import { Prisma } from '../../../database/generated/client.ts';
import { inProjectsSql, LeasedRows, runSweep } from '../../../database/leased-rows.ts';
import { allProjectsMark } from '../../../database/projects/all-projects.ts';
import { listColumns, type Row } from '../../../database/tables.ts';
import { LEASE } from '../../../work/lease.ts';
import type { Services } from '../../call.ts';

export type ProviderStream = Row<'ProviderStream'>;

const IS_WANTED = Prisma.sql`exists (select 1 from "ObjectSubscription" s
  where s."projectId" = held."projectId" and s."connectionId" = held."connectionId" and s."isWanted")`;

/** True while the provider sends notifications for the list. They must be removed before the stream is deleted. */
const HAS_PING = Prisma.sql`exists (select 1 from "StreamPing" p
  where p."projectId" = held."projectId" and p."id" = held."connectionId")`;

export const STREAM_LEASES = new LeasedRows({
  table: 'ProviderStream',
  key: ['projectId', 'connectionId'],
  leaseMs: 10_000,
  columns: LEASE,
  isClaimableSql: IS_WANTED,
});

const ALL_PROJECTS_MARK = Prisma.raw(allProjectsMark('streams without subscriptions'));

/** Deletes the streams that no subscription needs, then claims streams without a worker. Covers all projects. */
export async function claimStreams(
  { database, now }: Pick<Services, 'database' | 'now'>,
  countMax: number,
): Promise<ProviderStream[]> {
  const deleteUnwanted = Prisma.sql`${ALL_PROJECTS_MARK}
    delete from "ProviderStream" where ("projectId", "connectionId") in (
      select held."projectId", held."connectionId" from "ProviderStream" held
      where ${inProjectsSql(database, 'held')} and ${STREAM_LEASES.isFreeSql} and not ${IS_WANTED} and not ${HAS_PING})`;
  await runSweep(database, deleteUnwanted);
  const due = { countMax, now: now(), columns: listColumns('ProviderStream') };
  return STREAM_LEASES.claimDue(database, due);
}
