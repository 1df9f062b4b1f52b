import {
  createEventTopicRoute,
  deleteEventTopicRoute,
  eventTopicRouteFilters,
  eventTopicRouteResource,
  listEventTopicRoutes,
  listRoutesToTopic,
} from '../../domain/event/event-topic-route.ts';
import { listField, sureLinkField } from '../schema/fields.ts';
import { addDeletions, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { builder } from '../schema/schema-builder.ts';
import { EventTopicRoute, EventTopicRoutes, Project, Topic } from '../schema/types.ts';

objectType(EventTopicRoute, eventTopicRouteResource, (t) => ({
  topic: sureLinkField(t, {
    type: Topic,
    table: 'Topic',
    column: 'topicId',
    description: 'The topic that the events go to.',
  }),
}));

builder.objectField(Project, 'eventTopicRoutes', (t) =>
  listField(t, EventTopicRoutes, {
    args: parsedArgs(t.arg, eventTopicRouteFilters),
    list: listEventTopicRoutes,
  }),
);

builder.objectField(Topic, 'eventTopicRoutes', (t) =>
  listField(t, EventTopicRoutes, {
    list: listRoutesToTopic,
  }),
);

addMutations('eventTopicRoute', EventTopicRoute, { createEventTopicRoute });
addDeletions({ deleteEventTopicRoute });
