/** Routes of events to topics. A route sends all events of one type to one topic. */
import { z } from 'zod';
import { isForeignKeyViolation, isUniqueViolation } from '../../database/connect/violations.ts';
import type { Row } from '../../database/statements/tables.ts';
import type { Transaction } from '../../database/transactions/transaction.ts';
import { conflict, invalid, notFound } from '../../kernel/errors.ts';
import { id, newId } from '../../kernel/ids.ts';
import { enumValue, text } from '../../kernel/text.ts';
import type { Call } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { read } from '../access/declared-read.ts';
import type { FiltersOf, PageArgs } from '../access/paging/page.ts';
import { listPage } from '../access/paging/page-of-rows.ts';
import { projectIdOrName } from '../base/names.ts';
import { createdInProject, idField, resource, updateTime } from '../base/resource.ts';
import { eventType } from './notification-event.ts';

type Route = Row<'EventTopicRoute'>;

export const eventTopicRouteResource = resource(
  'NotificationEventTopicRoute',
  'A route of events to a topic: all events of one type go to it.',
  {
    ...createdInProject,
    eventType: eventType.describe('The type of the routed events.'),
    topicId: idField.describe('The id of the topic that receives the events.'),
    updateTime,
  },
);

export const createEventTopicRouteInput = z
  .object({
    projectIdOrName,
    eventType: eventType.describe('The type of the events to route.'),
    topicId: id.describe('The id of the topic that receives the events.'),
  })
  .meta({
    id: 'CreateEventTopicRouteInput',
    description: 'The event type to route, and the topic that receives its events.',
  });

const deleteEventTopicRouteInput = z
  .object({ projectIdOrName, routeId: id.describe('The id of the route.') })
  .meta({ id: 'DeleteEventTopicRouteInput', description: 'The route to delete.' });

export const eventTopicRouteFilters = z.object({
  topicId: id.optional().describe('Only routes to the topic with this id.'),
  eventType: createEventTopicRouteInput.shape.eventType
    .optional()
    .describe('Only routes of events of this type.'),
});

export const listEventTopicRoutes = read(
  'read',
  'Lists routes of events to topics, newest first.',
  (
    call: Call,
    { id: projectId }: Row<'Project'>,
    { topicId, eventType, ...args }: PageArgs & FiltersOf<typeof eventTopicRouteFilters>,
  ) => {
    const where = {
      projectId,
      ...(topicId != null && { topicId }),
      ...(eventType && { eventType }),
    };
    const list = { name: 'Project.eventTopicRoutes', parentId: projectId, where } as const;
    return listPage(call, { ...list, table: 'EventTopicRoute' }, args);
  },
);

export const listRoutesToTopic = read(
  'read',
  'Routes of events to the topic, newest first.',
  (call: Call, { id: topicId, projectId }: Row<'Topic'>, args: PageArgs) => {
    const where = { projectId, topicId };
    const list = { name: 'Topic.eventTopicRoutes', parentId: topicId, where } as const;
    return listPage(call, { ...list, table: 'EventTopicRoute' }, args);
  },
);

export const createEventTopicRoute = projectMutation({
  description: 'Creates a route. Later events of the type go to the topic.',
  needs: 'events:write',
  input: createEventTopicRouteInput,
  run: (call, { eventType, topicId }, { id: projectId }): Promise<Route> =>
    insertEventTopicRoute(call.database.prisma, { projectId, eventType, topicId }),
});

/** Throws BAD_USER_INPUT if the topic does not exist, and CONFLICT if the route exists. */
export async function insertEventTopicRoute(
  client: Pick<Transaction, 'eventTopicRoute'>,
  route: Pick<Route, 'projectId' | 'eventType' | 'topicId'>,
): Promise<Route> {
  const { eventType, topicId } = route;
  try {
    return await client.eventTopicRoute.create({ data: { id: newId('etr'), ...route } });
  } catch (error) {
    // The foreign key includes the project, so another project's topic is refused as if it did not exist.
    if (isForeignKeyViolation(error)) throw invalid(['topicId'], 'does not exist.', topicId);
    if (!isUniqueViolation(error)) throw error;
    throw conflict(
      text`Events of the type ${enumValue(eventType, 'NotificationEventType')} are already routed to that topic.`,
    );
  }
}

export const deleteEventTopicRoute = projectMutation({
  description: 'Deletes a route of events to a topic.',
  needs: 'events:write',
  input: deleteEventTopicRouteInput,
  async run({ database }, { routeId: id }, { id: projectId }): Promise<{ deletedId: string }> {
    const { count } = await database.prisma.eventTopicRoute.deleteMany({
      where: { projectId, id },
    });
    if (count === 0) throw notFound('Route', id);
    return { deletedId: id };
  },
});
