/**
 * Removes messages of streams: old ones, those beyond the bytes that a stream may hold, and all of a stream whose
 * destination is gone. In small statements, safe in several processes at once and after any interruption. What is
 * removed is told by the stream itself, so that no cursor skips it in silence.
 */
import {
  acrossProjects,
  firstOfAll,
  type Swept,
  sweep,
} from '../../../database/projects/all-projects.ts';
import type { RunQuery } from '../../../database/rows.ts';
import type { Transaction } from '../../../database/transaction.ts';
import { announceStream } from '../../../events/channel.ts';
import type { StreamId } from '../../../events/stream-log.ts';
import type { Services } from '../../call.ts';

const MESSAGES_AT_ONCE = 500;
const STREAMS_AT_ONCE = 1_000;
/** Of a stream that a caller deletes and waits for; the sweep removes the rest. */
const REMOVED_AT_DELETION = 10_000;

/** Which messages go. */
interface Surplus {
  /** Created before it. */
  before: Date;
  /** Not among the newest of so many bytes. */
  bytesMax: number;
}

/** Nothing is put into it from here on, and who follows it is told. */
export async function closeStream(tx: Transaction, stream: StreamId): Promise<void> {
  await tx.streamLog.updateMany({ where: stream, data: { isDeleted: true } });
  announceStream(tx, stream.destinationId);
}

/** Removes what was in a closed stream, or the beginning of it. */
export async function removeStream(
  { config, database: { rows } }: Services,
  stream: StreamId,
): Promise<void> {
  const surplus = { before: new Date(0), bytesMax: config.LIMIT_STREAM_BYTES };
  let removed = 0;
  for (let last = MESSAGES_AT_ONCE; last === MESSAGES_AT_ONCE && removed < REMOVED_AT_DELETION; ) {
    last = await removeSome(rows.query, stream, surplus);
    removed += last;
  }
  await rows.query(FORGET_STREAM, [stream.projectId, stream.destinationId]);
}

/** How many messages it removed. Without `before`, only those of streams that are too large or gone. */
export async function removeSurplus(
  { config, database }: Services,
  { before = new Date(0), signal }: { before?: Date; signal?: AbortSignal | undefined } = {},
): Promise<number> {
  const surplus = { before, bytesMax: config.LIMIT_STREAM_BYTES };
  let removed = 0;
  let last: StreamId | undefined = { projectId: '', destinationId: '' };
  while (last && !signal?.aborted) {
    const streams = await listWithSurplus(database, last, surplus);
    for (const stream of streams) {
      for (let some = MESSAGES_AT_ONCE; some === MESSAGES_AT_ONCE && !signal?.aborted; ) {
        some = await removeSome(database.rows.query, stream, surplus);
        removed += some;
      }
    }
    last = streams.length === STREAMS_AT_ONCE ? streams.at(-1) : undefined;
  }
  await sweep(database, FORGET_STREAMS);
  return removed;
}

/** Bytes are told by the stream alone; its oldest message tells how old it is. */
const WITH_SURPLUS = acrossProjects(
  'streams that hold too much',
  (inProjects) => `
  select s."projectId", s."destinationId" from "StreamLog" s
  where ${inProjects('s."projectId"')} and (s."projectId", s."destinationId") > ($1, $2) and (
    s."isDeleted" or s."lastByte" - s."removedByte" > $3
    or $4::timestamptz > 'epoch' and (
      select m."createTime" from "StreamMessage" m
      where m."projectId" = s."projectId" and m."destinationId" = s."destinationId"
      order by m."position" limit 1) < $4)
  order by s."projectId", s."destinationId" limit ${STREAMS_AT_ONCE}`,
);

async function listWithSurplus(
  database: Swept,
  after: StreamId,
  { before, bytesMax }: Surplus,
): Promise<StreamId[]> {
  const values = [after.projectId, after.destinationId, bytesMax, before];
  const found = await sweep<StreamId>(database, WITH_SURPLUS, values);
  return firstOfAll(found, STREAMS_AT_ONCE, (one) => [one.projectId, one.destinationId]);
}

/** Of the oldest messages of a stream. Appending goes on beside it. */
const REMOVE_SOME = `
  with oldest as materialized (
    select m."projectId", m."destinationId", m."position" from "StreamLog" s cross join lateral (
      select * from "StreamMessage" m
      where m."projectId" = s."projectId" and m."destinationId" = s."destinationId"
      order by m."position" limit ${MESSAGES_AT_ONCE}) m
    where s."projectId" = $1 and s."destinationId" = $2
      and (s."isDeleted" or m."createTime" < $4 or m."lastByte" - octet_length(m."body") < s."lastByte" - $3)
  ),
  removed as (
    delete from "StreamMessage" m using oldest o
    where m."projectId" = o."projectId" and m."destinationId" = o."destinationId" and m."position" = o."position"
    returning m."position", m."lastByte"
  ),
  last as (select max("position") as "position", max("lastByte") as "byte" from removed),
  noted as (
    update "StreamLog" s set
      "removedPosition" = greatest(s."removedPosition", last."position"),
      "removedByte" = greatest(s."removedByte", last."byte")
    from last where s."projectId" = $1 and s."destinationId" = $2 and last."position" is not null
  )
  select count(*)::int as "count" from removed`;

async function removeSome(
  query: RunQuery,
  { projectId, destinationId }: StreamId,
  { before, bytesMax }: Surplus,
): Promise<number> {
  const values = [projectId, destinationId, bytesMax, before];
  const [removed] = await query<{ count: number }>(REMOVE_SOME, values);
  return removed?.count ?? 0;
}

const forgetSql = (isMeant: string) => `
  delete from "StreamLog" s where ${isMeant} and s."isDeleted" and not exists (
    select 1 from "StreamMessage" m
    where m."projectId" = s."projectId" and m."destinationId" = s."destinationId")`;

const FORGET_STREAM = forgetSql('s."projectId" = $1 and s."destinationId" = $2');

/** A statement that deletes says whose rows: of the projects that have such streams. */
const FORGET_STREAMS = acrossProjects('streams that are gone and empty', (inProjects) =>
  forgetSql(`s."projectId" in (
    select "projectId" from "StreamLog" where ${inProjects('"projectId"')} and "isDeleted")`),
);
