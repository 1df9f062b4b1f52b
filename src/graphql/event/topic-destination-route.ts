import {
  createTopicDestinationRoute,
  createTopicDestinationRouteInput,
  deleteTopicDestinationRoute,
  deleteTopicDestinationRouteInput,
  listRoutesOfTopic,
  listTopicDestinationRoutes,
} from '../../domain/event/topic-destination-route.ts';
import { createdFields, listField, projectField, sureLinkField } from '../schema/fields.ts';
import { inputArg } from '../schema/inputs.ts';
import { Node } from '../schema/node-field.ts';
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
  createTopicDestinationRoute: t.field({
    type: payload(
      'CreateTopicDestinationRoutePayload',
      'topicDestinationRoute',
      TopicDestinationRoute,
      'The new route.',
    ),
    description: 'Owes what reaches a topic to a destination, from now on.',
    args: inputArg(t.arg, createTopicDestinationRouteInput),
    resolve: async (_root, { input }, { call }) => ({
      topicDestinationRoute: await createTopicDestinationRoute(call, input),
    }),
  }),
  deleteTopicDestinationRoute: t.field({
    type: DeletePayload,
    description: 'Deletes a route of a topic to a destination.',
    args: inputArg(t.arg, deleteTopicDestinationRouteInput),
    resolve: (_root, { input }, { call }) => deleteTopicDestinationRoute(call, input),
  }),
}));
