import {
  createTopicDestinationRoute,
  deleteTopicDestinationRoute,
  listRoutesOfTopic,
  listTopicDestinationRoutes,
} from '../../domain/event/topic-destination-route.ts';
import { createdFields, listField, projectField, sureLinkField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { answer, DeletePayload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import {
  Destination,
  Project,
  Topic,
  TopicDestinationRoute,
  TopicDestinationRoutes,
} from '../schema/types.ts';

TopicDestinationRoute.implement({
  description: 'What reaches one topic is owed to one destination.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    topic: sureLinkField(t, {
      type: Topic,
      table: 'Topic',
      column: 'topicId',
      description: 'The topic.',
    }),
    destination: sureLinkField(t, {
      type: Destination,
      table: 'Destination',
      column: 'destinationId',
      description: 'The destination that listens to it.',
    }),
  }),
});

builder.objectField(Project, 'topicDestinationRoutes', (t) =>
  listField(t, TopicDestinationRoutes, {
    description: 'Routes of topics to destinations, newest first.',
    args: {
      topicId: t.arg.id({ description: 'Only those of this topic.' }),
      destinationId: t.arg.id({ description: 'Only those to this destination.' }),
    },
    list: listTopicDestinationRoutes,
  }),
);

builder.objectField(Topic, 'topicDestinationRoutes', (t) =>
  listField(t, TopicDestinationRoutes, {
    description: 'The routes to the destinations that listen to it, newest first.',
    list: listRoutesOfTopic,
  }),
);

builder.mutationFields((t) => ({
  createTopicDestinationRoute: mutationField(t, createTopicDestinationRoute, {
    type: answer(
      'CreateTopicDestinationRoutePayload',
      'topicDestinationRoute',
      TopicDestinationRoute,
      'The new route.',
    ),
    description: 'Owes what reaches a topic to a destination, from now on.',
  }),
  deleteTopicDestinationRoute: mutationField(t, deleteTopicDestinationRoute, {
    type: DeletePayload,
    description: 'Deletes a route of a topic to a destination.',
  }),
}));
