import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import {
  createEventTopicRoute,
  deleteEventTopicRoute,
  eventTopicRouteFilters,
  listEventTopicRoutes,
} from '../../domain/event/event-topic-route.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { eventTypeWords, wordOf } from '../endpoint/words.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

const tag = 'Event routes';
const path = '/projects/{projectIdOrName}/notification-event-topic-routes';

const route = resource(
  'NotificationEventTopicRoute',
  'The route: the events of one type go to one topic.',
  {
    ...createdShape,
    eventType: eventTypeWords.describe('The type of the events that it routes.'),
    topicId: z.string().describe('The id of the topic that the events go to.'),
    ...updateTimeShape,
  },
);

function showRoute({ eventType, updateTime, ...row }: Row<'EventTopicRoute'>) {
  return {
    ...row,
    eventType: wordOf('NotificationEventType', eventType),
    updateTime: updateTime ?? undefined,
  };
}

export const eventTopicRouteEndpoints = [
  listEndpoint({
    id: 'listNotificationEventTopicRoutes',
    path,
    tag,
    summary: 'Lists routes of events to topics, newest first.',
    input: z.object({ projectIdOrName, ...eventTopicRouteFilters.shape }),
    item: route,
    list: within(getOwnProject, listEventTopicRoutes),
    show: showRoute,
  }),
  mutationEndpoint({
    id: 'createNotificationEventTopicRoute',
    method: 'POST',
    path,
    tag,
    summary: 'Creates a route: events of a type that happen from now on go to a topic.',
    mutation: createEventTopicRoute,
    status: 201,
    output: route,
    show: showRoute,
  }),
  mutationEndpoint({
    id: 'deleteNotificationEventTopicRoute',
    method: 'DELETE',
    path: `${path}/{routeId}`,
    tag,
    summary: 'Deletes a route of events to a topic.',
    mutation: deleteEventTopicRoute,
    status: 204,
    output: null,
    show: noBody,
  }),
];
