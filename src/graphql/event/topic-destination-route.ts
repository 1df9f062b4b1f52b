import {
  createTopicDestinationRoute,
  deleteTopicDestinationRoute,
  listRoutesOfTopic,
  listTopicDestinationRoutes,
  topicDestinationRouteFilters,
  topicDestinationRouteResource,
} from '../../domain/event/topic-destination-route.ts';
import { sureLinkField } from '../schema/fields.ts';
import { addList } from '../schema/lists.ts';
import { addDeletions, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
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

addList(Project, 'topicDestinationRoutes', TopicDestinationRoutes, listTopicDestinationRoutes, {
  filters: topicDestinationRouteFilters,
});

addList(Topic, 'topicDestinationRoutes', TopicDestinationRoutes, listRoutesOfTopic);

addMutations('topicDestinationRoute', TopicDestinationRoute, { createTopicDestinationRoute });
addDeletions({ deleteTopicDestinationRoute });
