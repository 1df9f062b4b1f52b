import {
  createTopicDestinationRoute,
  deleteTopicDestinationRoute,
  listRoutesOfTopic,
  listTopicDestinationRoutes,
  topicDestinationRouteFilters,
} from '../../domain/event/topic-destination-route.ts';
import { createdFields, listField, projectField, sureLinkField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import {
  Destination,
  Project,
  Topic,
  TopicDestinationRoute,
  TopicDestinationRoutes,
} from '../schema/types.ts';

TopicDestinationRoute.implement({
  description: 'A route: the events that reach one topic are sent to one destination.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    topic: sureLinkField(t, {
      type: Topic,
      table: 'Topic',
      column: 'topicId',
      description: 'The topic whose events are sent.',
    }),
    destination: sureLinkField(t, {
      type: Destination,
      table: 'Destination',
      column: 'destinationId',
      description: 'The destination that gets the events of the topic.',
    }),
  }),
});

builder.objectField(Project, 'topicDestinationRoutes', (t) =>
  listField(t, TopicDestinationRoutes, {
    description: 'Routes of topics to destinations, newest first.',
    args: parsedArgs(t.arg, topicDestinationRouteFilters),
    list: listTopicDestinationRoutes,
  }),
);

builder.objectField(Topic, 'topicDestinationRoutes', (t) =>
  listField(t, TopicDestinationRoutes, {
    description: 'The routes that lead from the topic to destinations, newest first.',
    list: listRoutesOfTopic,
  }),
);

builder.mutationFields((t) => ({
  createTopicDestinationRoute: mutationField(t, createTopicDestinationRoute, {
    type: payload(
      'CreateTopicDestinationRoutePayload',
      'topicDestinationRoute',
      TopicDestinationRoute,
      'The route. It holds for events that happen from now on.',
    ),
    description:
      'Creates a route: events that reach a topic from now on are sent to a destination.',
  }),
  deleteTopicDestinationRoute: mutationField(t, deleteTopicDestinationRoute, {
    type: DeletePayload,
    description: 'Deletes a route of a topic to a destination.',
  }),
}));
