import { z } from 'zod';
import { readWithin } from '../../domain/declared-read.ts';
import {
  createTopicDestinationRoute,
  deleteTopicDestinationRoute,
  listTopicDestinationRoutes,
  topicDestinationRouteFilters,
  topicDestinationRouteResource,
} from '../../domain/event/topic-destination-route.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getRequestedProject } from '../../domain/project/project.ts';
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
