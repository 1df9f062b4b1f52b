/** How messages are appended to streams, whoever appends them: in the order of the commits of their project. */
import { changeAndTell, type Transaction } from '../transaction.ts';
import { EVENTS_CHANNEL } from './hint-channels.ts';

/**
 * The members of a `with` that append the messages of `to_stream` ("id", "projectId", "destinationId", "nth", "groupId",
 * "consumerId", "body"; "nth" is their order) to their streams. `log_ends` comes before them and holds the EventLog of each
 * of their projects: no stream is changed without it (docs/decisions/027-streams.md). Who follows the destinations of
 * `stream_ends` is to be told.
 */
export const STREAMING = `
  measured as (
    select t.*, row_number() over so_far as "place", sum(octet_length(t."body")) over so_far as "bytes"
    from to_stream t
    window so_far as (partition by t."destinationId" order by t."nth" rows unbounded preceding)
  ),
  added as (
    select m."projectId", m."destinationId", max(m."place") as "messages", max(m."bytes") as "bytes"
    from measured m join log_ends l on l."projectId" = m."projectId"
    group by m."projectId", m."destinationId"
  ),
  stream_ends as (
    update "StreamLog" s set "lastPosition" = s."lastPosition" + a."messages", "lastByte" = s."lastByte" + a."bytes"
    from added a
    where s."projectId" = a."projectId" and s."destinationId" = a."destinationId" and not s."isDeleted"
    returning s."projectId", s."destinationId", s."lastPosition", s."lastByte"
  ),
  streamed as (
    insert into "StreamMessage" ("id", "projectId", "destinationId", "position", "lastByte", "groupId", "consumerId", "body")
    select m."id", m."projectId", m."destinationId", s."lastPosition" - a."messages" + m."place",
      s."lastByte" - a."bytes" + m."bytes", m."groupId", m."consumerId", m."body"
    from measured m
    join added a on a."projectId" = m."projectId" and a."destinationId" = m."destinationId"
    join stream_ends s on s."projectId" = m."projectId" and s."destinationId" = m."destinationId"
  )`;

const APPEND_TO_STREAM = `
  with log_ends as (
    insert into "EventLog" as l ("projectId") values ($1)
    on conflict ("projectId") do update set "lastPosition" = l."lastPosition"
    returning l."projectId"
  ),
  to_stream as (
    select "id", $1 as "projectId", $2 as "destinationId", "nth", $3::text as "groupId", $4::text as "consumerId", "body"
    from unnest($5::text[], $6::text[]) with ordinality as given("id", "body", "nth")
  ),
  ${STREAMING}
  select array['${EVENTS_CHANNEL} ' || "destinationId"] as "hints" from stream_ends`;

/** Messages to one stream, about one subject. */
export interface ToStream {
  projectId: string;
  destinationId: string;
  groupId: string | null;
  consumerId: string | null;
  /** In their order. */
  ids: string[];
  bodies: string[];
}

/** Appends messages to a stream. From here to the commit, other events and messages of the project wait. */
export async function appendToStream(
  tx: Transaction,
  { projectId, destinationId, groupId, consumerId, ids, bodies }: ToStream,
): Promise<void> {
  const values = [projectId, destinationId, groupId, consumerId, ids, bodies];
  await changeAndTell(tx, APPEND_TO_STREAM, values);
}
