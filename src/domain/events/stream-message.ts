/** Messages of streams, which are destinations of the type STREAM. */

import type { Row } from '../../database/statements/tables.ts';
import type { StreamedMessage, StreamId } from '../../events/stream-log.ts';
import { notFound } from '../../kernel/errors.ts';
import type { Call } from '../access/call.ts';
import { read } from '../access/declared-read.ts';
import { encodeCursor } from '../access/paging/list-cursor.ts';
import type { PageArgs } from '../access/paging/page.ts';
import { listPage } from '../access/paging/page-of-rows.ts';
import { findStoredBody } from './payload.ts';

/** A message of a list or of a subscription, which has already read the body. */
export type ShownMessage = Row<'StreamMessage'> & Partial<Pick<StreamedMessage, 'body'>>;

/** Describes the list of a stream's messages. Subscriptions use its cursors. */
export function createMessageList(destinationId: string) {
  return {
    name: 'Destination.messages',
    parentId: destinationId,
    keyType: 'position',
  } as const;
}

export function encodeMessageCursor({
  destinationId,
  position,
}: Pick<Row<'StreamMessage'>, 'destinationId' | 'position'>): string {
  return encodeCursor(createMessageList(destinationId), position);
}

export const listStreamMessages = read(
  'payloads:read',
  'The messages of a stream, oldest first, unlike other lists: a reader that continues after its last cursor gets every later message. Empty for a webhook.',
  (call: Call, { projectId, id: destinationId }: Row<'Destination'>, args: PageArgs) => {
    const where: StreamId = { projectId, destinationId };
    const list = {
      ...createMessageList(destinationId),
      key: 'position',
      order: 'oldest first',
    } as const;
    return listPage(call, { ...list, table: 'StreamMessage', where }, args);
  },
);

/** Throws QUERY_LIMIT_EXCEEDED if the bodies of a query are too large together. */
export const readMessageBody = read(
  'payloads:read',
  'The body of the message, as a webhook would receive it.',
  async (call: Call, message: ShownMessage): Promise<object> => {
    if (message.body !== undefined) return JSON.parse(message.body) as object;
    const body = await findStoredBody(call, 'StreamMessage', message);
    if (body === null) throw notFound('Message', message.id);
    return body;
  },
);
