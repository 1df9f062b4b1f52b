/** Reads of a project's event log. Positions are commit order, so that what lies after one is complete. */
import type { Database } from '../database/database.ts';
import type { NotificationEventType } from '../database/generated/enums.ts';
import type { Row } from '../database/rows.ts';
import type { StreamItem } from './stream-item.ts';

export type LoggedEvent = Row<'NotificationEvent'>;

/** An event with its cursor in the list of its project's events, as followers get it. */
export type LoggedItem = StreamItem<LoggedEvent, string>;

/** Which events a follower wants; a member that is left out filters nothing. */
export interface EventFilter {
  topicId?: string;
  eventTypes?: readonly NotificationEventType[];
}

export interface LogRange {
  projectId: string;
  /** Exclusive. */
  above: bigint;
  /** Inclusive. Default: the log's end. */
  upTo?: bigint;
  limit: number;
}

/** In their order, at most as many as the limit says. */
export async function readEvents(
  { rows }: Database,
  { projectId, above, upTo, limit }: LogRange,
  { topicId, eventTypes }: EventFilter = {},
): Promise<LoggedEvent[]> {
  const where = { projectId, ...(eventTypes && { eventType: [...eventTypes] }) };
  const below = upTo === undefined ? undefined : upTo + 1n;
  const range = { column: 'position', direction: 'asc', above, below, limit } as const;
  if (topicId === undefined) return rows.page('NotificationEvent', where, range);
  const routed = await rows.page('NotificationEventTopic', { ...where, topicId }, range);
  if (routed.length === 0) return [];
  const ids = routed.map(({ eventId }) => eventId);
  const events = await rows.find('NotificationEvent', { projectId, id: ids });
  return events.sort((a, b) => (a.position < b.position ? -1 : 1));
}

/** The topics that each of the events was routed to, by the event's id. */
export async function readTopicIds(
  { rows }: Database,
  projectId: string,
  events: readonly LoggedEvent[],
): Promise<Map<string, Set<string>>> {
  const eventId = events.map(({ id }) => id);
  const routed = await rows.find('NotificationEventTopic', { projectId, eventId });
  const topicIds = new Map<string, Set<string>>();
  for (const route of routed) {
    const own = topicIds.get(route.eventId) ?? new Set();
    topicIds.set(route.eventId, own.add(route.topicId));
  }
  return topicIds;
}

/** The last position of each project's log; a project without events is left out. */
export async function readEnds(
  { rows }: Database,
  projectIds: string[],
): Promise<Map<string, bigint>> {
  const logs = await rows.find('EventLog', { projectId: projectIds });
  return new Map(logs.map(({ projectId, lastPosition }) => [projectId, lastPosition]));
}

/** Whether retention has kept the event at that position. */
export async function isKept(
  { rows }: Database,
  projectId: string,
  position: bigint,
): Promise<boolean> {
  return (await rows.find('NotificationEvent', { projectId, position })).length > 0;
}
