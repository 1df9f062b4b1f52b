/** Notification events: what happened in a project and was routed to at least one topic. */
import { z } from 'zod';
import type { NotificationEventType } from '../../database/generated/enums.ts';
import type { Row } from '../../database/statements/tables.ts';
import type { LoggedEvent } from '../../events/event-log.ts';
import { EVENTS } from '../../events/event-types.ts';
import { id } from '../../kernel/ids.ts';
import { load } from '../access/batched.ts';
import type { Call } from '../access/call.ts';
import { projectRead, read } from '../access/declared-read.ts';
import {
  type CreatedFilters,
  createdFilters,
  toCreateTimeRange,
  toOrder,
} from '../access/paging/created-range.ts';
import { encodeCursor } from '../access/paging/list-cursor.ts';
import type { FiltersOf, Page, PageArgs } from '../access/paging/page.ts';
import { findNearestRow, listPage } from '../access/paging/page-of-rows.ts';
import { type Batch, byId, getProjectRow } from '../access/scope.ts';
import { createdInProject, enumeration, jsonObject, resource } from '../base/resource.ts';

export { EVENTS };

type NotificationEvent = Row<'NotificationEvent'>;

const descriptions = Object.entries(EVENTS).map(([type, { wireName, happened }]) => [
  type,
  `${wireName}: ${happened}`,
]);

export const eventType = enumeration(
  'NotificationEventType',
  'The type of an event. Each description starts with the name that messages use.',
  Object.fromEntries(descriptions) as Record<NotificationEventType, string>,
);

export const notificationEventResource = resource(
  'NotificationEvent',
  'An event of a project that was routed to at least one topic.',
  {
    ...createdInProject,
    eventType: eventType.describe('The type of the event.'),
    data: jsonObject.describe(
      "The payload. A webhook's body contains it as `data`, next to `notificationType`.",
    ),
  },
);

export const eventFilters = z.object({
  topicId: id.optional().describe('Only events that are routed to the topic with this id.'),
  eventTypes: z
    .array(eventType)
    .min(1, 'must not be empty.')
    .max(100)
    .optional()
    .describe('Only events of these types, at least one.'),
});
export const listedEventFilters = z.object({ ...eventFilters.shape, ...createdFilters.shape });
export type EventFilters = FiltersOf<typeof eventFilters>;

/**
 * Describes the list of a project's events. Its cursors are valid with and without the filter for a topic, and in
 * subscriptions, because they all use the same positions.
 */
export function createEventList(projectId: string) {
  return { name: 'Project.notificationEvents', parentId: projectId, keyType: 'position' } as const;
}

export function encodeEventCursor({ projectId, position }: LoggedEvent): string {
  return encodeCursor(createEventList(projectId), position);
}

export const listNotificationEvents = read(
  'read',
  'Lists events, oldest first, unlike other lists: a client that continues after its last cursor gets every later event, because the list is in the order in which events were committed.',
  async (
    call: Call,
    { id: projectId }: Row<'Project'>,
    { topicId, eventTypes, ...args }: PageArgs & FiltersOf<typeof listedEventFilters>,
  ): Promise<Page<NotificationEvent>> => {
    const { timeCondition, orderOptions } = await findLoggedRange(call, projectId, args);
    const list = {
      ...createEventList(projectId),
      key: 'position',
      order: 'oldest first',
      ...orderOptions,
    } as const;
    const where = {
      projectId,
      ...(eventTypes && { eventType: [...eventTypes] }),
      ...timeCondition,
    };
    if (topicId == null) {
      return listPage(call, { ...list, table: 'NotificationEvent', where }, args);
    }
    const loadNodes = (rows: Row<'NotificationEventTopic'>[]) =>
      Promise.all(rows.map(({ eventId }) => load(call, byId('NotificationEvent'), eventId)));
    const topicList = {
      table: 'NotificationEventTopic',
      where: { ...where, topicId },
      nodes: loadNodes,
    } as const;
    return listPage(call, { ...list, ...topicList }, args);
  },
);

export const getNotificationEvent = projectRead(
  'read',
  'Returns an event with its payload.',
  (call, { eventId: id }: { eventId: string }, { id: projectId }) =>
    getProjectRow(call, 'NotificationEvent', { projectId, id, noun: 'Notification event' }),
);

/** Returns the topics that events were routed to when they happened. Deleted topics are omitted. */
export const listTopicsOfEvents: Batch<NotificationEvent, Row<'Topic'>[]> = async (
  call,
  events,
) => {
  const eventTopics = await call.database.reads.find('NotificationEventTopic', {
    eventId: events.map(({ id }) => id),
    projectId: [...new Set(events.map(({ projectId }) => projectId))],
  });
  const topicIds = [...new Set(eventTopics.map(({ topicId }) => topicId))].sort();
  const topics = (await byId('Topic')(call, topicIds)).filter((topic) => topic !== null);
  const eventTopicsByEventId = Map.groupBy(eventTopics, ({ eventId }) => eventId);
  return events.map(({ id }) => {
    const idsOfEvent = new Set(eventTopicsByEventId.get(id)?.map(({ topicId }) => topicId));
    return topics.filter((topic) => idsOfEvent.has(topic.id));
  });
};

/**
 * Returns the condition of a time range, and the range of positions that contains its events. The order of positions is
 * the order of commits. It differs from the order of ids by at most the duration of a commit.
 */
async function findLoggedRange(call: Call, projectId: string, filters: CreatedFilters) {
  const { timeCondition, orderOptions } = toCreateTimeRange('evt', filters);
  if (!('within' in orderOptions)) return { timeCondition, orderOptions: toOrder(filters) };
  const { above, below } = orderOptions.within;
  const [before, after] = await Promise.all([
    above === undefined ? undefined : findPositionNextTo(call, projectId, { below: above }),
    below === undefined ? undefined : findPositionNextTo(call, projectId, { above: below }),
  ]);
  return {
    timeCondition,
    orderOptions: { ...toOrder(filters), within: { above: before, below: after } },
  };
}

type Side = { above: string } | { below: string };

/** Returns the position of the nearest event before or after an id. Undefined if there is none. */
async function findPositionNextTo(call: Call, projectId: string, side: Side) {
  const where = { projectId };
  return (await findNearestRow(call, { table: 'NotificationEvent', where, side }))?.position;
}
