/** Follows operations and notification events. */

import { isRetainedAfter, type LoggedItem, readLastPositions } from '../../events/event-log.ts';
import type { OperationItem } from '../../events/operation-changes.ts';
import { invalid, notFound } from '../../kernel/errors.ts';
import type { Call } from '../access/call.ts';
import { projectRead, read } from '../access/declared-read.ts';
import { decodeCursor } from '../access/paging/list-cursor.ts';
import { byId, getProjectRow } from '../access/scope.ts';
import { orEndUser } from '../access/viewer/needs.ts';
import { createEventList, type EventFilters } from './notification-event.ts';

export const followOperation = read(
  orEndUser('read'),
  'The operation in its current state, then again after each change. The stream ends when the operation has ended.',
  async (call: Call, id: string): Promise<AsyncIterable<OperationItem>> => {
    const [operation] = await byId('Operation')(call, [id]);
    if (!operation) throw notFound('Operation', id);
    return call.operationChanges.follow(operation);
  },
);

interface EventSubscription extends EventFilters {
  projectIdOrName?: string | null | undefined;
  /** A cursor of the list. If absent, only later events are yielded. */
  after?: string | null;
}

export const followNotificationEvents = projectRead(
  'read',
  'The routed notification events of a project, as edges of `Project.notificationEvents` and in the same order. Yields ' +
    'the stored events after the cursor `after`, then each new event when it is committed. No event is missed or ' +
    'repeated. Without `after`, yields new events only.',
  async (
    call,
    { topicId, eventTypes, after }: EventSubscription,
    { id: projectId },
  ): Promise<AsyncIterable<LoggedItem>> => {
    if (topicId != null) {
      await getProjectRow(call, 'Topic', { projectId, id: topicId, noun: 'Topic' });
    }
    const lastPositions = await readLastPositions(call.database, [projectId]);
    const lastPosition = lastPositions.get(projectId) ?? 0n;
    const startPosition =
      after != null ? await readCursor(call, { projectId, after, lastPosition }) : lastPosition;
    const filter = {
      ...(topicId != null && { topicId }),
      ...(eventTypes && { eventTypes }),
    };
    const log = { projectId, logId: projectId };
    return call.feed.follow(log, { after: startPosition, end: lastPosition, filter });
  },
);

interface Resumption {
  projectId: string;
  after: string;
  lastPosition: bigint;
}

/**
 * Returns the position of a cursor. Throws BAD_USER_INPUT if it is not a cursor of the list, or if an event after it
 * was removed.
 */
async function readCursor(
  call: Pick<Call, 'database'>,
  { projectId, after, lastPosition }: Resumption,
): Promise<bigint> {
  const position = decodeCursor(createEventList(projectId), after);
  if (typeof position !== 'bigint' || position > lastPosition) {
    throw invalid(['after'], 'is not a cursor of this list.', after);
  }
  if (position < lastPosition && !(await isRetainedAfter(call.database, projectId, position))) {
    throw invalid(
      ['after'],
      'is too old: events after it were removed. Read the list, and subscribe from its last cursor.',
      after,
    );
  }
  return position;
}
