/** Reads the bodies of deliveries, receivers' responses and stream messages, for the scope `payloads:read`. */
import { type RowKey, toKeyColumns } from '../../database/statements/row-keys.ts';
import { sqlStatement } from '../../database/statements/statements.ts';
import type { Row } from '../../database/statements/tables.ts';
import { DomainError } from '../../kernel/errors.ts';
import { load } from '../access/batched.ts';
import type { Call, RowCall } from '../access/call.ts';
import { read } from '../access/declared-read.ts';
import type { Batch } from '../access/scope.ts';

type Delivery = Row<'Delivery'>;

/** The maximum size of all bodies that one query reads. A process may hold the results of several queries. */
const BODIES_BYTES_MAX = 16 * 1024 * 1024;

/** Tables with the column `body`, which holds JSON text. */
type TableWithBody = 'Delivery' | 'StreamMessage';

const SELECT_BODY_BYTES = sqlStatement<{ id: string; bytes: number }>(`
  select "id", octet_length("body") as "bytes" from "Delivery"
  where "projectId" = any($1) and "id" = any($2)`);

/** Returns the sizes of deliveries' bodies in bytes. */
export const measureBodies: Batch<Delivery, number> = async ({ database: { run } }, deliveries) => {
  const sizes = await run(SELECT_BODY_BYTES, toKeyColumns(deliveries));
  const bytesById = new Map(sizes.map(({ id, bytes }) => [id, bytes]));
  return deliveries.map(({ id }) => bytesById.get(id) ?? 0);
};

/** A message about the changes of one object at a provider. */
export interface ChangeMessage {
  action: string;
  objectName: string;
}

/** The first members of a message, before its records, are shorter than this. */
const HEAD_LENGTH_MAX = 4_096;

// PostgreSQL can't convert a body with `\u0000` to a value, so only the text of two members is read.
const SELECT_CHANGE_MESSAGES = sqlStatement<{
  id: string;
  action: string | null;
  objectName: string | null;
}>(`
  select "id", substring("head" from '^\\{"action":"([^"]*)"') as "action",
    substring("head" from '"objectName":("(?:[^"\\\\]|\\\\.)*")') as "objectName"
  from (select "id", left("body", ${HEAD_LENGTH_MAX}) as "head" from "Delivery"
    where "projectId" = any($1) and "id" = any($2) and "eventId" is null and "operationId" is null) message`);

/** Returns the action and the object of messages about changes. Null for other messages, which have no action. */
export const loadChangeMessages: Batch<Delivery, ChangeMessage | null> = async (
  { database: { run } },
  deliveries,
) => {
  const heads = await run(SELECT_CHANGE_MESSAGES, toKeyColumns(deliveries));
  const messages = heads.flatMap(({ id, action, objectName }) =>
    action === null || objectName === null
      ? []
      : [[id, { action, objectName: JSON.parse(objectName) }] as const],
  );
  const messagesById = new Map(messages);
  return deliveries.map(({ id }) => messagesById.get(id) ?? null);
};

export const readDeliveryBody = read(
  'payloads:read',
  'The body of the message, as it is posted; null if it was removed.',
  (call: Call, delivery: Delivery) => findStoredBody(call, 'Delivery', delivery),
);

/**
 * Returns the body of a row. Null if retention has removed it. Throws QUERY_LIMIT_EXCEEDED if the bodies of a query are
 * too large together.
 */
export async function findStoredBody(
  call: Call,
  table: TableWithBody,
  row: RowKey,
): Promise<object | null> {
  const body = await load(call, BODY_BATCHES[table], row);
  if (body !== undefined) return body;
  const detail = `The bodies of one query may have at most ${BODIES_BYTES_MAX} bytes. Request fewer of them.`;
  throw new DomainError('QUERY_LIMIT_EXCEEDED', detail);
}

/** Creates the batch that loads bodies: undefined for rows beyond the byte limit, null for rows that do not exist. */
function createBodyBatch(table: TableWithBody): Batch<RowKey, object | null | undefined> {
  const statement = sqlStatement<{ id: string; body: string | null }>(`
    select "id", case when "bytes" <= ${BODIES_BYTES_MAX} then "body" end as "body" from (
      select "${table}"."id", "body", sum(octet_length("body")) over (order by requested."position") as "bytes"
      from unnest($2::text[]) with ordinality as requested("id", "position")
      join "${table}" on "projectId" = any($1) and "${table}"."id" = requested."id") sized`);
  return async ({ database: { run } }, keys) => {
    const bodyRows = await run(statement, toKeyColumns(keys));
    const bodiesById = new Map(bodyRows.map(({ id, body }) => [id, parseBody(body)]));
    return keys.map(({ id }) => (bodiesById.has(id) ? bodiesById.get(id) : null));
  };
}

function parseBody(body: string | null): object | undefined {
  return body === null ? undefined : (JSON.parse(body) as object);
}

const BODY_BATCHES = {
  Delivery: createBodyBatch('Delivery'),
  StreamMessage: createBodyBatch('StreamMessage'),
};

export const readResponseBody = read(
  'payloads:read',
  'The beginning of the response, 4 KiB at most, or a note that it is not text; null if it was empty.',
  (_call: RowCall, { responseBody }: Row<'DeliveryAttempt'>) => responseBody,
);
