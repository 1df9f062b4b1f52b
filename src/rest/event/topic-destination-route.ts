import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import {
  createTopicDestinationRoute,
  deleteTopicDestinationRoute,
  listTopicDestinationRoutes,
  topicDestinationRouteFilters,
} from '../../domain/event/topic-destination-route.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { createdShape, resource } from '../openapi/schemas.ts';

const tag = 'Topic routes';
const path = '/projects/{projectIdOrName}/topic-destination-routes';

const route = resource(
  'TopicDestinationRoute',
  'The route: the events that reach one topic are sent to one destination.',
  {
    ...createdShape,
    topicId: z.string().describe('The id of the topic whose events are sent.'),
    destinationId: z
      .string()
      .describe('The id of the destination that gets the events of the topic.'),
  },
);

export const topicDestinationRouteEndpoints = [
  listEndpoint({
    id: 'listTopicDestinationRoutes',
    path,
    tag,
    summary: 'Lists routes of topics to destinations, newest first.',
    input: z.object({ projectIdOrName, ...topicDestinationRouteFilters.shape }),
    item: route,
    list: within(getOwnProject, listTopicDestinationRoutes),
    show: (row) => row,
  }),
  mutationEndpoint({
    id: 'createTopicDestinationRoute',
    method: 'POST',
    path,
    tag,
    summary: 'Creates a route: events that reach a topic from now on are sent to a destination.',
    mutation: createTopicDestinationRoute,
    status: 201,
    output: route,
    show: (made) => made,
  }),
  mutationEndpoint({
    id: 'deleteTopicDestinationRoute',
    method: 'DELETE',
    path: `${path}/{routeId}`,
    tag,
    summary: 'Deletes a route of a topic to a destination.',
    mutation: deleteTopicDestinationRoute,
    status: 204,
    output: null,
    show: noBody,
  }),
];
