import {
  eventType,
  listedEventFilters,
  listNotificationEvents,
  listTopicsOfEvents,
} from '../../domain/event/notification-event.ts';
import { createdFields, linkField, listField, projectField } from '../schema/fields.ts';
import { enumOf } from '../schema/inputs.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { builder, typeNameOfEvent } from '../schema/schema-builder.ts';
import {
  ConnectedAccount,
  Destination,
  Installation,
  NotificationEvent,
  NotificationEvents,
  Operation,
  Project,
  Topic,
} from '../schema/types.ts';

NotificationEvent.implement({
  description:
    'An event of a project that was routed to at least one topic. Each type of event is a type with the members of its `data`.',
  interfaces: [Node],
  resolveType: ({ eventType }) => typeNameOfEvent(eventType),
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    eventType: t.expose('eventType', {
      type: enumOf(eventType),
      description: 'What happened.',
    }),
    data: t.expose('data', {
      type: 'JSONObject',
      description:
        "The payload. A webhook's body contains it as `data`, next to `notificationType`.",
    }),
    topics: t.field({
      type: [Topic],
      description:
        'The topics that the event was routed to when it happened, except deleted topics.',
      resolve: (event, _args, { get }) => get(listTopicsOfEvents, event),
    }),
    connection: linkField(t, {
      type: ConnectedAccount,
      table: 'Connection',
      column: 'connectionId',
      description:
        'The connection that it is about; null if it is about none, or that has been deleted.',
    }),
    installation: linkField(t, {
      type: Installation,
      table: 'Installation',
      column: 'installationId',
      description:
        'The installation that it is about; null if it is about none, or that has been deleted.',
    }),
    operation: linkField(t, {
      type: Operation,
      table: 'Operation',
      column: 'operationId',
      description:
        'The operation that it is about; null if it is about none, or that has been deleted.',
    }),
    destination: linkField(t, {
      type: Destination,
      table: 'Destination',
      column: 'destinationId',
      description:
        'The destination that it is about; null if it is about none, or that has been deleted.',
    }),
  }),
});

builder.objectField(Project, 'notificationEvents', (t) =>
  listField(t, NotificationEvents, {
    args: parsedArgs(t.arg, listedEventFilters),
    list: listNotificationEvents,
  }),
);
