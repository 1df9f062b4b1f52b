import {
  createEventTopicRoute,
  deleteEventTopicRoute,
  eventTopicRouteFilters,
  eventTopicRouteResource,
  listEventTopicRoutes,
  listRoutesToTopic,
} from '../../domain/events/event-topic-route.ts';
import { requiredLinkField } from '../schema/fields.ts';
import { addList } from '../schema/lists.ts';
import { addDeletions, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { EventTopicRoute, Project, Topic } from '../schema/types.ts';

objectType(EventTopicRoute, eventTopicRouteResource, (t) => ({
  topic: requiredLinkField(t, {
    type: Topic,
    table: 'Topic',
    column: 'topicId',
    description: 'The topic that the events go to.',
  }),
}));

addList(Project, 'eventTopicRoutes', EventTopicRoute, listEventTopicRoutes, {
  filters: eventTopicRouteFilters,
});

addList(Topic, 'eventTopicRoutes', EventTopicRoute, listRoutesToTopic);

addMutations('eventTopicRoute', EventTopicRoute, { createEventTopicRoute });
addDeletions({ deleteEventTopicRoute });
