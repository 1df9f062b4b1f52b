import { z } from 'zod';
import { readWithin } from '../../domain/access/declared-read.ts';
import { projectIdOrName } from '../../domain/base/names.ts';
import {
  createTopicDestinationRoute,
  deleteTopicDestinationRoute,
  listTopicDestinationRoutes,
  topicDestinationRouteFilters,
  topicDestinationRouteResource,
} from '../../domain/events/topic-destination-route.ts';
import { getRequestedProject } from '../../domain/tenants/project/project.ts';
import { deleteEndpoint, listEndpoint, mutationEndpoint } from '../endpoint/resource-endpoints.ts';

const tag = 'Topic routes';
const path = '/projects/{projectIdOrName}/topic-destination-routes';

export const topicDestinationRouteEndpoints = [
  listEndpoint({
    id: 'listTopicDestinationRoutes',
    path,
    tag,
    input: z.object({ projectIdOrName, ...topicDestinationRouteFilters.shape }),
    list: readWithin(getRequestedProject, listTopicDestinationRoutes),
    resource: topicDestinationRouteResource,
  }),
  mutationEndpoint({
    id: 'createTopicDestinationRoute',
    method: 'POST',
    path,
    tag,
    mutation: createTopicDestinationRoute,
    status: 201,
    resource: topicDestinationRouteResource,
  }),
  deleteEndpoint({
    id: 'deleteTopicDestinationRoute',
    path: `${path}/{routeId}`,
    tag,
    mutation: deleteTopicDestinationRoute,
  }),
];
