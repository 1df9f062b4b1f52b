import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import {
  createTopicDestinationRoute,
  deleteTopicDestinationRoute,
  listTopicDestinationRoutes,
} from '../../domain/event/topic-destination-route.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import { id } from '../../ids.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { createdShape, resource } from '../openapi/schemas.ts';

const tag = 'Topic routes';
const path = '/projects/{projectIdOrName}/topic-destination-routes';

const route = resource('TopicDestinationRoute', 'What reaches one topic goes to one destination.', {
  ...createdShape,
  topicId: z.string().describe('The topic.'),
  destinationId: z.string().describe('The destination that listens to it.'),
});

export const topicDestinationRouteEndpoints = [
  listEndpoint({
    id: 'listTopicDestinationRoutes',
    path,
    tag,
    summary: 'Lists routes of topics to destinations, newest first.',
    input: z.object({
      projectIdOrName,
      topicId: id.optional().describe('Only those of this topic.'),
      destinationId: id.optional().describe('Only those to this destination.'),
    }),
    item: route,
    list: within(getOwnProject, listTopicDestinationRoutes),
    show: (row) => row,
  }),
  mutationEndpoint({
    id: 'createTopicDestinationRoute',
    method: 'POST',
    path,
    tag,
    summary: 'Sends what reaches a topic to a destination, from now on.',
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
