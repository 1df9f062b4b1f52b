import {
  createEventTopicRoute,
  deleteEventTopicRoute,
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
import { answer, DeletePayload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { EventTopicRoute, EventTopicRoutes, Project, Topic } from '../schema/types.ts';
import { NotificationEventType } from './notification-event-type.ts';

EventTopicRoute.implement({
  description: 'Events of one type go to one topic.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    eventType: t.expose('eventType', {
      type: NotificationEventType,
      description: 'The events that it routes.',
    }),
    topic: sureLinkField(t, {
      type: Topic,
      table: 'Topic',
      column: 'topicId',
      description: 'The topic that they go to.',
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'eventTopicRoutes', (t) =>
  listField(t, EventTopicRoutes, {
    description: 'Routes of events to topics, newest first.',
    args: {
      topicId: t.arg.id({ description: 'Only those to this topic.' }),
      eventType: t.arg({ type: NotificationEventType, description: 'Only those of this type.' }),
    },
    list: listEventTopicRoutes,
  }),
);

builder.objectField(Topic, 'eventTopicRoutes', (t) =>
  listField(t, EventTopicRoutes, {
    description: 'The routes that fill it, newest first.',
    list: listRoutesToTopic,
  }),
);

builder.mutationFields((t) => ({
  createEventTopicRoute: mutationField(t, createEventTopicRoute, {
    type: answer(
      'CreateEventTopicRoutePayload',
      'eventTopicRoute',
      EventTopicRoute,
      'The new route.',
    ),
    description: 'Routes the events of a type to a topic, from now on.',
  }),
  deleteEventTopicRoute: mutationField(t, deleteEventTopicRoute, {
    type: DeletePayload,
    description: 'Deletes a route of events to a topic.',
  }),
}));
