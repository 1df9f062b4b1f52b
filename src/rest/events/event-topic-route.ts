import { z } from 'zod';
import { readWithin } from '../../domain/access/declared-read.ts';
import { projectIdOrName } from '../../domain/base/names.ts';
import {
  createEventTopicRoute,
  deleteEventTopicRoute,
  eventTopicRouteFilters,
  eventTopicRouteResource,
  listEventTopicRoutes,
} from '../../domain/events/event-topic-route.ts';
import { getRequestedProject } from '../../domain/tenants/project/project.ts';
import { deleteEndpoint, listEndpoint, mutationEndpoint } from '../endpoint/resource-endpoints.ts';

const tag = 'Event routes';
const path = '/projects/{projectIdOrName}/notification-event-topic-routes';

export const eventTopicRouteEndpoints = [
  listEndpoint({
    id: 'listNotificationEventTopicRoutes',
    path,
    tag,
    input: z.object({ projectIdOrName, ...eventTopicRouteFilters.shape }),
    list: readWithin(getRequestedProject, listEventTopicRoutes),
    resource: eventTopicRouteResource,
  }),
  mutationEndpoint({
    id: 'createNotificationEventTopicRoute',
    method: 'POST',
    path,
    tag,
    mutation: createEventTopicRoute,
    status: 201,
    resource: eventTopicRouteResource,
  }),
  deleteEndpoint({
    id: 'deleteNotificationEventTopicRoute',
    path: `${path}/{routeId}`,
    tag,
    mutation: deleteEventTopicRoute,
  }),
];
