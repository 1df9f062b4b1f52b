import type { LogItem } from '../../../events/feed-source.ts';
import {
  createMessagesRemovedError,
  findStream,
  type StreamedMessage,
} from '../../../events/stream-log.ts';
import { invalid, notFound } from '../../../kernel/errors.ts';
import type { Call } from '../../access/call.ts';
import { read } from '../../access/declared-read.ts';
import { decodeCursor } from '../../access/paging/list-cursor.ts';
import { byId, type Row } from '../../access/scope.ts';
import { createMessageList } from '../stream-message.ts';

interface StreamSubscription {
  destinationId: string;
  /** A cursor of the list. If absent, only later messages are yielded. */
  after?: string | null;
}

export const followStreamMessages = read(
  'payloads:read',
  'The messages of a destination of the type STREAM, as edges of `Destination.messages` and in the same order. Yields ' +
    'the stored messages after the cursor `after`, then each new message when it is committed. No message is missed or ' +
    'repeated. Without `after`, yields new messages only. If retention removes a message before it is yielded, the ' +
    'subscription ends with BAD_USER_INPUT.',
  async (
    call: Call,
    { destinationId, after }: StreamSubscription,
  ): Promise<AsyncIterable<LogItem<StreamedMessage>>> => {
    const [destination] = await byId('Destination')(call, [destinationId]);
    if (!destination) throw notFound('Destination', destinationId);
    if (destination.type !== 'STREAM') {
      throw invalid(
        ['destinationId'],
        'is not a stream: its messages are posted to its URL.',
        destinationId,
      );
    }
    const { projectId } = destination;
    const stream = await findStream(call.database, { projectId, destinationId });
    if (!stream) throw notFound('Destination', destinationId);
    const { lastPosition } = stream;
    return call.streamFeed.follow(
      { projectId, logId: destinationId },
      {
        after: after != null ? readCursor(stream, after) : lastPosition,
        end: lastPosition,
        filter: null,
      },
    );
  },
);

/**
 * Returns the position of a cursor. Throws BAD_USER_INPUT if it is not a cursor of the list, or if a message after it
 * was removed.
 */
function readCursor(stream: Row<'StreamLog'>, after: string): bigint {
  const position = decodeCursor(createMessageList(stream.destinationId), after);
  if (typeof position !== 'bigint' || position > stream.lastPosition) {
    throw invalid(['after'], 'is not a cursor of this list.', after);
  }
  if (position < stream.removedPosition) throw createMessagesRemovedError(after);
  return position;
}
