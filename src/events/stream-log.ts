/** Reads of streams: what is owed to destinations of the type STREAM. Positions are commit order, as those of events. */
import type { Database } from '../database/database.ts';
import type { Row } from '../database/rows.ts';
import { invalid, notFound } from '../errors.ts';
import type { Feed } from './feed.ts';
import {
  type FeedSource,
  type FollowedLog,
  LogLost,
  type LogPart,
  type LogRange,
} from './feed-source.ts';

/** A message with what it carries. */
export type StreamedMessage = Row<'StreamMessage'> & { body: string };
export type StreamFeed = Feed<StreamedMessage, null>;
/** A stream has its destination's id. */
export type StreamId = Pick<Row<'StreamLog'>, 'projectId' | 'destinationId'>;

/** Bytes of bodies that are read at once; the first may be larger. */
export const BATCH_BYTES_MAX = 1024 * 1024;
/** The end of a stream that is gone: its followers read on, and find that it is gone. */
const NOWHERE = 2n ** 63n - 1n;

export function streamLogs(
  database: Database,
  cursorOf: (message: StreamedMessage) => string,
): FeedSource<StreamedMessage, null> {
  return {
    read: (log, range) => readMessages(database, log, range),
    async readEnds(logs) {
      const [projectId, destinationId] = [
        logs.map((log) => log.projectId),
        logs.map((log) => log.logId),
      ];
      const streams = await database.rows.find('StreamLog', { projectId, destinationId });
      const kept = streams.filter(({ isDeleted }) => !isDeleted);
      const ends = new Map(kept.map((stream) => [stream.destinationId, stream.lastPosition]));
      return new Map(destinationId.map((id) => [id, ends.get(id) ?? NOWHERE]));
    },
    choose: async () => () => true,
    cursorOf,
    bytesOf: ({ body }) => body.length,
  };
}

/** Null if its destination is gone. */
export async function findStream(
  { rows }: Database,
  { projectId, destinationId }: StreamId,
): Promise<Row<'StreamLog'> | null> {
  const [stream] = await rows.find('StreamLog', { projectId, destinationId });
  return stream && !stream.isDeleted ? stream : null;
}

/** The error that messages after a cursor are not kept any more. */
export function removedAfter(cursor?: string) {
  return invalid(
    'after',
    'is older than what is kept: messages after it were removed. Read the list, and subscribe from there.',
    cursor,
  );
}

function streamOf({ projectId, logId: destinationId }: FollowedLog): StreamId {
  return { projectId, destinationId };
}

/** Which messages there are, then what they carry: of as many as are small enough together. */
async function readMessages(
  { rows }: Database,
  log: FollowedLog,
  { above, upTo, limit }: LogRange,
): Promise<LogPart<StreamedMessage>> {
  const stream = streamOf(log);
  const below = upTo === undefined ? undefined : upTo + 1n;
  const range = { column: 'position', direction: 'asc', above, below, limit } as const;
  const found = await rows.page('StreamMessage', stream, range);
  const taken = found.filter(
    ({ lastByte }, index) => index === 0 || lastByte - firstByte(found) <= BATCH_BYTES_MAX,
  );
  const bodies = await readBodies(rows.query, stream, { above, taken });
  const entries = taken.flatMap((message) => {
    const body = bodies.get(message.position);
    return body === undefined ? [] : { ...message, body };
  });
  const isWhole = taken.length === found.length && found.length < limit;
  return { entries, readTo: isWhole ? null : (taken.at(-1)?.position ?? null) };
}

function firstByte([first]: Row<'StreamMessage'>[]): bigint {
  return first?.lastByte ?? 0n;
}

/** One row at least, as long as there is the stream. */
const BODIES = `
  select s."removedPosition", m."position", m."body" from "StreamLog" s
  left join "StreamMessage" m on m."projectId" = s."projectId" and m."destinationId" = s."destinationId"
    and m."position" = any($3::bigint[])
  where s."projectId" = $1 and s."destinationId" = $2 and not s."isDeleted"`;

interface BodyRow {
  removedPosition: bigint;
  position: bigint | null;
  body: string;
}

/** By position. Throws LogLost if something after `above` is removed, which `taken` may be without. */
async function readBodies(
  query: Database['rows']['query'],
  { projectId, destinationId }: StreamId,
  { above, taken }: { above: bigint; taken: Row<'StreamMessage'>[] },
): Promise<Map<bigint | null, string>> {
  const positions = taken.map(({ position }) => position);
  const found = await query<BodyRow>(BODIES, [projectId, destinationId, positions]);
  const [first] = found;
  if (!first) throw new LogLost(notFound('Destination', destinationId), null);
  if (first.removedPosition > above) throw new LogLost(removedAfter(), first.removedPosition);
  return new Map(found.map(({ position, body }) => [position, body]));
}
