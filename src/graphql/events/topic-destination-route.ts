import {
  createTopicDestinationRoute,
  deleteTopicDestinationRoute,
  listRoutesOfTopic,
  listTopicDestinationRoutes,
  topicDestinationRouteFilters,
  topicDestinationRouteResource,
} from '../../domain/events/topic-destination-route.ts';
import { requiredLinkField } from '../schema/fields.ts';
import { addList } from '../schema/lists.ts';
import { addDeletions, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { Destination, Project, Topic, TopicDestinationRoute } from '../schema/types.ts';

objectType(TopicDestinationRoute, topicDestinationRouteResource, (t) => ({
  topic: requiredLinkField(t, {
    type: Topic,
    table: 'Topic',
    column: 'topicId',
    description: 'The topic whose events are sent.',
  }),
  destination: requiredLinkField(t, {
    type: Destination,
    table: 'Destination',
    column: 'destinationId',
    description: 'The destination that gets the events of the topic.',
  }),
}));

addList(Project, 'topicDestinationRoutes', TopicDestinationRoute, listTopicDestinationRoutes, {
  filters: topicDestinationRouteFilters,
});

addList(Topic, 'topicDestinationRoutes', TopicDestinationRoute, listRoutesOfTopic);

addMutations('topicDestinationRoute', TopicDestinationRoute, { createTopicDestinationRoute });
addDeletions({ deleteTopicDestinationRoute });
