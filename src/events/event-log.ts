/**
 * Reads a project's event log. Positions are in commit order, so no event can appear before a position that was read.
 */

import type { NotificationEventType } from '../database/generated/enums.ts';
import type { Database } from '../database/open/database.ts';
import type { Row } from '../database/statements/tables.ts';
import type { Feed } from './feed.ts';
import type { FeedSource, LogEntry, LogItem, LogRange, LogRead } from './feed-source.ts';

export type LoggedEvent = Row<'NotificationEvent'>;

/** An event with its cursor in the list of its project's events, as followers receive it. */
export type LoggedItem = LogItem<LoggedEvent>;

/** The events that a follower gets. An absent member matches every event. */
export interface EventFilter {
  topicId?: string;
  eventTypes?: readonly NotificationEventType[];
}

export type EventFeed = Feed<LoggedEvent, EventFilter>;

/** Creates the source of projects' event logs. A log has its project's id. */
export function createEventLogSource(
  database: Database,
  encodeCursor: (event: LoggedEvent) => string,
): FeedSource<LoggedEvent, EventFilter> {
  return {
    read: ({ projectId }, range, filter) => readEvents(database, { projectId, ...range }, filter),
    readLastPositions: (logs) =>
      readLastPositions(
        database,
        logs.map(({ projectId }) => projectId),
      ),
    async createMatcher({ projectId }, events, filters) {
      const hasTopicFilter = filters.some(({ topicId }) => topicId !== undefined);
      const topicIdsByEventId = hasTopicFilter
        ? await readTopicIds(database, projectId, events)
        : new Map();
      return ({ id, eventType }, { topicId, eventTypes }) =>
        (topicId === undefined || topicIdsByEventId.get(id)?.has(topicId) === true) &&
        (eventTypes === undefined || eventTypes.includes(eventType));
    },
    encodeCursor,
    // Events contain only names and ids, so their size does not matter.
    countBytes: () => 0,
  };
}

/** Reads events in their order, up to the limit. */
export async function readEvents(
  { reads }: Database,
  { projectId, above, upTo, limit }: LogRange & { projectId: string },
  { topicId, eventTypes }: EventFilter = {},
): Promise<LogRead<LoggedEvent>> {
  const where = { projectId, ...(eventTypes && { eventType: [...eventTypes] }) };
  const below = upTo === undefined ? undefined : upTo + 1n;
  const range = { column: 'position', direction: 'asc', above, below, limit } as const;
  const getReadTo = (page: readonly LogEntry[]) =>
    page.length === limit ? (page.at(-1)?.position ?? null) : null;
  if (topicId === undefined) {
    const entries = await reads.page('NotificationEvent', where, range);
    return { entries, readTo: getReadTo(entries) };
  }
  const eventTopics = await reads.page('NotificationEventTopic', { ...where, topicId }, range);
  if (eventTopics.length === 0) return { entries: [], readTo: null };
  const ids = eventTopics.map(({ eventId }) => eventId);
  const events = await reads.find('NotificationEvent', { projectId, id: ids });
  const entries = events.sort((a, b) => (a.position < b.position ? -1 : 1));
  return { entries, readTo: getReadTo(eventTopics) };
}

/** Returns the topics to which each event was routed, by the event's id. */
export async function readTopicIds(
  { reads }: Database,
  projectId: string,
  events: readonly LoggedEvent[],
): Promise<Map<string, Set<string>>> {
  const eventId = events.map(({ id }) => id);
  const eventTopics = await reads.find('NotificationEventTopic', { projectId, eventId });
  const topicIds = new Map<string, Set<string>>();
  for (const route of eventTopics) {
    const eventTopicIds = topicIds.get(route.eventId) ?? new Set();
    topicIds.set(route.eventId, eventTopicIds.add(route.topicId));
  }
  return topicIds;
}

/** Returns the last position of each project's log. A project without events is absent. */
export async function readLastPositions(
  { reads }: Database,
  projectIds: string[],
): Promise<Map<string, bigint>> {
  const logs = await reads.find('EventLog', { projectId: projectIds });
  return new Map(logs.map(({ projectId, lastPosition }) => [projectId, lastPosition]));
}

/**
 * True if retention has deleted no event after the position. Retention deletes the oldest events first, so the event at
 * the position or the next one then still exists.
 */
export async function isRetainedAfter(
  { reads }: Database,
  projectId: string,
  position: bigint,
): Promise<boolean> {
  const range = { column: 'position', direction: 'desc', below: position + 2n, limit: 1 } as const;
  return (await reads.page('NotificationEvent', { projectId }, range)).length > 0;
}
