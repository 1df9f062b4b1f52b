import {
  createTopicDestinationRoute,
  deleteTopicDestinationRoute,
  listRoutesOfTopic,
  listTopicDestinationRoutes,
  topicDestinationRouteFilters,
  topicDestinationRouteResource,
} from '../../domain/event/topic-destination-route.ts';
import { listField, sureLinkField } from '../schema/fields.ts';
import { addDeletions, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { builder } from '../schema/schema-builder.ts';
import {
  Destination,
  Project,
  Topic,
  TopicDestinationRoute,
  TopicDestinationRoutes,
} from '../schema/types.ts';

objectType(TopicDestinationRoute, topicDestinationRouteResource, (t) => ({
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
}));

builder.objectField(Project, 'topicDestinationRoutes', (t) =>
  listField(t, TopicDestinationRoutes, {
    args: parsedArgs(t.arg, topicDestinationRouteFilters),
    list: listTopicDestinationRoutes,
  }),
);

builder.objectField(Topic, 'topicDestinationRoutes', (t) =>
  listField(t, TopicDestinationRoutes, {
    list: listRoutesOfTopic,
  }),
);

addMutations('topicDestinationRoute', TopicDestinationRoute, { createTopicDestinationRoute });
addDeletions({ deleteTopicDestinationRoute });
