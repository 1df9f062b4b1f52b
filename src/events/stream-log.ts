/** Reads streams, the messages of destinations of the type STREAM. Positions are in commit order, as for events. */
import type { Database } from '../database/open/database.ts';
import { type RunStatement, sqlStatement } from '../database/statements/statements.ts';
import type { Row } from '../database/statements/tables.ts';
import { invalid, notFound } from '../kernel/errors.ts';
import type { Feed } from './feed.ts';
import {
  type FeedSource,
  type FollowedLog,
  LogLost,
  type LogRange,
  type LogRead,
} from './feed-source.ts';

export type StreamedMessage = Row<'StreamMessage'> & { body: string };
export type StreamFeed = Feed<StreamedMessage, null>;
/** Identifies a stream by the destination that it belongs to. */
export type StreamId = Pick<Row<'StreamLog'>, 'projectId' | 'destinationId'>;

/** The maximum size of the bodies in one read. The first body may be larger. */
export const BATCH_BYTES_MAX = 1024 * 1024;
/** Reported as the last position of a deleted stream, so that its followers read on and notice the deletion. */
const BEYOND_END = 2n ** 63n - 1n;

/** Returns at least one row while the stream exists. */
const READ_BODIES = sqlStatement<BodyRow>(`
  select stream."removedPosition", message."position", message."body" from "StreamLog" stream
  left join "StreamMessage" message on message."projectId" = stream."projectId"
    and message."destinationId" = stream."destinationId" and message."position" = any($3::bigint[])
  where stream."projectId" = $1 and stream."destinationId" = $2 and not stream."isDeleted"`);

interface BodyRow {
  removedPosition: bigint;
  position: bigint | null;
  body: string;
}

export function createStreamLogSource(
  database: Database,
  encodeCursor: (message: StreamedMessage) => string,
): FeedSource<StreamedMessage, null> {
  return {
    read: (log, range) => readMessages(database, log, range),
    async readLastPositions(logs) {
      const projectId = logs.map((log) => log.projectId);
      const destinationId = logs.map((log) => log.logId);
      const streams = await database.reads.find('StreamLog', { projectId, destinationId });
      const lastPositions = new Map(destinationId.map((id) => [id, BEYOND_END]));
      for (const { destinationId: id, isDeleted, lastPosition } of streams) {
        if (!isDeleted) lastPositions.set(id, lastPosition);
      }
      return lastPositions;
    },
    createMatcher: async () => () => true,
    encodeCursor,
    countBytes: ({ body }) => body.length,
  };
}

/** Returns a stream. Null if its destination was deleted. */
export async function findStream(
  { reads }: Database,
  { projectId, destinationId }: StreamId,
): Promise<Row<'StreamLog'> | null> {
  const [stream] = await reads.find('StreamLog', { projectId, destinationId });
  return stream && !stream.isDeleted ? stream : null;
}

/** Creates the error for a cursor after which messages were removed. */
export function createMessagesRemovedError(cursor?: string) {
  return invalid(
    ['after'],
    'is too old: messages after it were removed. Read the list, and subscribe from there.',
    cursor,
  );
}

/** Reads messages, then the bodies of as many of them as fit into BATCH_BYTES_MAX. */
async function readMessages(
  { reads, run }: Database,
  { projectId, logId: destinationId }: FollowedLog,
  { above, upTo, limit }: LogRange,
): Promise<LogRead<StreamedMessage>> {
  const stream = { projectId, destinationId };
  const below = upTo === undefined ? undefined : upTo + 1n;
  const range = { column: 'position', direction: 'asc', above, below, limit } as const;
  const messages = await reads.page('StreamMessage', stream, range);
  // The first body does not count, because it may be larger than the limit.
  const firstEnd = messages[0]?.lastByte ?? 0n;
  const selectedMessages = messages.filter(
    ({ lastByte }) => lastByte - firstEnd <= BATCH_BYTES_MAX,
  );
  const bodies = await readBodies(run, stream, { above, messages: selectedMessages });
  const entries = selectedMessages.flatMap((message) => {
    const body = bodies.get(message.position);
    return body === undefined ? [] : { ...message, body };
  });
  const isWhole = selectedMessages.length === messages.length && messages.length < limit;
  return { entries, readTo: isWhole ? null : (selectedMessages.at(-1)?.position ?? null) };
}

/**
 * Reads bodies by position. Throws LogLost if a message after `above` was removed, because `messages` may then be
 * incomplete.
 */
async function readBodies(
  run: RunStatement,
  { projectId, destinationId }: StreamId,
  { above, messages }: { above: bigint; messages: Row<'StreamMessage'>[] },
): Promise<Map<bigint | null, string>> {
  const positions = messages.map(({ position }) => position);
  const rows = await run(READ_BODIES, [projectId, destinationId, positions]);
  const [firstRow] = rows;
  if (!firstRow) throw new LogLost(notFound('Destination', destinationId), null);
  if (firstRow.removedPosition > above)
    throw new LogLost(createMessagesRemovedError(), firstRow.removedPosition);
  return new Map(rows.map(({ position, body }) => [position, body]));
}
