import {
  createEventTopicRoute,
  deleteEventTopicRoute,
  eventTopicRouteFilters,
  listEventTopicRoutes,
  listRoutesToTopic,
} from '../../domain/event/event-topic-route.ts';
import {
  createdFields,
  listField,
  projectField,
  sureLinkField,
  updateTimeField,
} from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { EventTopicRoute, EventTopicRoutes, Project, Topic } from '../schema/types.ts';
import { NotificationEventType } from './notification-event.ts';

EventTopicRoute.implement({
  description: 'A route: the events of one type go to one topic.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    eventType: t.expose('eventType', {
      type: NotificationEventType,
      description: 'The type of the events that it routes.',
    }),
    topic: sureLinkField(t, {
      type: Topic,
      table: 'Topic',
      column: 'topicId',
      description: 'The topic that the events go to.',
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'eventTopicRoutes', (t) =>
  listField(t, EventTopicRoutes, {
    description: 'Routes of events to topics, newest first.',
    args: parsedArgs(t.arg, eventTopicRouteFilters),
    list: listEventTopicRoutes,
  }),
);

builder.objectField(Topic, 'eventTopicRoutes', (t) =>
  listField(t, EventTopicRoutes, {
    description: 'The routes that lead events to the topic, newest first.',
    list: listRoutesToTopic,
  }),
);

builder.mutationFields((t) => ({
  createEventTopicRoute: mutationField(t, createEventTopicRoute, {
    type: payload(
      'CreateEventTopicRoutePayload',
      'eventTopicRoute',
      EventTopicRoute,
      'The route. It holds for events that happen from now on.',
    ),
    description: 'Creates a route: events of a type that happen from now on go to a topic.',
  }),
  deleteEventTopicRoute: mutationField(t, deleteEventTopicRoute, {
    type: DeletePayload,
    description: 'Deletes a route of events to a topic.',
  }),
}));
