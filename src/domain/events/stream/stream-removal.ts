/**
 * Removes stream messages: old messages, messages beyond the byte limit of a stream, and all messages of a deleted
 * destination. Statements are small, and several processes can run them at the same time. The stream's row stores the
 * last removed position, so that a reader with an older cursor gets an error instead of a gap.
 */

import {
  acrossProjects,
  mergeFirst,
  type SweepDatabase,
  sweep,
} from '../../../database/statements/projects/all-projects.ts';
import { type RunStatement, sqlStatement } from '../../../database/statements/statements.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { notifyStreamEnd } from '../../../events/channel.ts';
import type { StreamId } from '../../../events/stream-log.ts';
import type { CoreServices } from '../../access/call.ts';

const MESSAGES_PER_STATEMENT = 500;
const STREAMS_PER_PAGE = 1_000;
/** Limits how long the caller of a deletion waits. Upkeep removes the remaining messages. */
const DELETION_MESSAGES_MAX = 10_000;

/** Selects the messages to remove. */
interface Surplus {
  /** Removes messages that were created before this time. */
  before: Date;
  /** Keeps only the newest messages within this number of bytes. */
  bytesMax: number;
}

/** Closes a stream: it accepts no messages from then on, and its subscribers are notified. */
export async function closeStream(tx: Transaction, stream: StreamId): Promise<void> {
  await tx.streamLog.updateMany({ where: stream, data: { isDeleted: true } });
  notifyStreamEnd(tx, stream.destinationId);
}

/** Removes at most DELETION_MESSAGES_MAX messages of a closed stream, and its row if no message is left. */
export async function removeMessages(
  { config, database: { run } }: CoreServices,
  stream: StreamId,
): Promise<void> {
  // The limits don't matter, because all messages of a closed stream are removed.
  const surplus = { before: new Date(0), bytesMax: config.LIMIT_STREAM_BYTES };
  let removedCount = 0;
  let count: number;
  do {
    count = await removeBatch(run, stream, surplus);
    removedCount += count;
  } while (count === MESSAGES_PER_STATEMENT && removedCount < DELETION_MESSAGES_MAX);
  await run(DELETE_STREAM, [stream.projectId, stream.destinationId]);
}

/**
 * Removes surplus messages of all streams, and returns their number. Without `before`, messages of any age are kept
 * within the byte limit.
 */
export async function removeSurplus(
  { config, database }: CoreServices,
  { before = new Date(0), signal }: { before?: Date; signal?: AbortSignal | undefined } = {},
): Promise<number> {
  const surplus = { before, bytesMax: config.LIMIT_STREAM_BYTES };
  let removedCount = 0;
  let lastStream: StreamId | undefined = { projectId: '', destinationId: '' };
  while (lastStream && !signal?.aborted) {
    const streams = await listStreamsWithSurplus(database, lastStream, surplus);
    for (const stream of streams) {
      let count = MESSAGES_PER_STATEMENT;
      while (count === MESSAGES_PER_STATEMENT && !signal?.aborted) {
        count = await removeBatch(database.run, stream, surplus);
        removedCount += count;
      }
    }
    lastStream = streams.length === STREAMS_PER_PAGE ? streams.at(-1) : undefined;
  }
  await sweep(database, DELETE_STREAMS);
  return removedCount;
}

/**
 * Finds closed streams, streams that exceed the byte limit by their counters in `StreamLog`, and streams whose oldest
 * message is too old.
 */
const STREAMS_WITH_SURPLUS = acrossProjects<StreamId>(
  'streams with surplus messages',
  (inProjects) => `
  select stream."projectId", stream."destinationId" from "StreamLog" stream
  where ${inProjects('stream."projectId"')} and (stream."projectId", stream."destinationId") > ($1, $2) and (
    stream."isDeleted" or stream."lastByte" - stream."removedByte" > $3
    or $4::timestamptz > 'epoch' and (
      select message."createTime" from "StreamMessage" message
      where message."projectId" = stream."projectId" and message."destinationId" = stream."destinationId"
      order by message."position" limit 1) < $4)
  order by stream."projectId", stream."destinationId" limit ${STREAMS_PER_PAGE}`,
);

async function listStreamsWithSurplus(
  database: SweepDatabase,
  after: StreamId,
  { before, bytesMax }: Surplus,
): Promise<StreamId[]> {
  const values = [after.projectId, after.destinationId, bytesMax, before];
  const streams = await sweep(database, STREAMS_WITH_SURPLUS, values);
  return mergeFirst(streams, STREAMS_PER_PAGE, (stream) => [
    stream.projectId,
    stream.destinationId,
  ]);
}

/**
 * Removes the oldest surplus messages of a stream. All messages of a closed stream are surplus. Messages can be appended
 * at the same time.
 */
const REMOVE_BATCH = sqlStatement<{ count: number }>(`
  with oldest as materialized (
    select message."projectId", message."destinationId", message."position"
    from "StreamLog" stream cross join lateral (
      select * from "StreamMessage" candidate
      where candidate."projectId" = stream."projectId" and candidate."destinationId" = stream."destinationId"
      order by candidate."position" limit ${MESSAGES_PER_STATEMENT}) message
    where stream."projectId" = $1 and stream."destinationId" = $2
      and (stream."isDeleted" or message."createTime" < $4
        or message."lastByte" - octet_length(message."body") < stream."lastByte" - $3)
  ),
  removed as (
    delete from "StreamMessage" message using oldest
    where message."projectId" = oldest."projectId" and message."destinationId" = oldest."destinationId"
      and message."position" = oldest."position"
    returning message."position", message."lastByte"
  ),
  last_removed as (select max("position") as "position", max("lastByte") as "byte" from removed),
  recorded as (
    update "StreamLog" stream set
      "removedPosition" = greatest(stream."removedPosition", last_removed."position"),
      "removedByte" = greatest(stream."removedByte", last_removed."byte")
    from last_removed
    where stream."projectId" = $1 and stream."destinationId" = $2 and last_removed."position" is not null
  )
  select count(*)::int as "count" from removed`);

async function removeBatch(
  run: RunStatement,
  { projectId, destinationId }: StreamId,
  { before, bytesMax }: Surplus,
): Promise<number> {
  const values = [projectId, destinationId, bytesMax, before];
  const [removed] = await run(REMOVE_BATCH, values);
  return removed?.count ?? 0;
}

const deleteStreamSql = (condition: string) => `
  delete from "StreamLog" stream where ${condition} and stream."isDeleted" and not exists (
    select 1 from "StreamMessage" message
    where message."projectId" = stream."projectId" and message."destinationId" = stream."destinationId")`;

const DELETE_STREAM = sqlStatement(
  deleteStreamSql('stream."projectId" = $1 and stream."destinationId" = $2'),
);

/** A deletion must name the projects of its rows, so a subquery selects the projects with deleted streams. */
const DELETE_STREAMS = acrossProjects('deleted streams without messages', (inProjects) =>
  deleteStreamSql(`stream."projectId" in (
    select "projectId" from "StreamLog" where ${inProjects('"projectId"')} and "isDeleted")`),
);
