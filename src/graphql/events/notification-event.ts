import {
  listedEventFilters,
  listNotificationEvents,
  listTopicsOfEvents,
  notificationEventResource,
} from '../../domain/events/notification-event.ts';
import { linkField } from '../schema/fields.ts';
import { addList } from '../schema/lists.ts';
import { Node } from '../schema/node-field.ts';
import { resourceFields } from '../schema/object-type.ts';
import { getEventTypeName } from '../schema/schema-builder.ts';
import {
  ConnectedAccount,
  Destination,
  Group,
  Installation,
  NotificationEvent,
  Operation,
  Project,
  Topic,
} from '../schema/types.ts';

NotificationEvent.implement({
  description: `${notificationEventResource.description} Each type of event is a type with the members of its \`data\`.`,
  interfaces: [Node],
  resolveType: ({ eventType }) => getEventTypeName(eventType),
  fields: (t) => ({
    ...resourceFields(t, notificationEventResource),
    topics: t.field({
      type: [Topic],
      description:
        'The topics that the event was routed to when it happened, except deleted topics.',
      resolve: (event, _args, { get }) => get(listTopicsOfEvents, event),
    }),
    group: linkField(t, {
      type: Group,
      table: 'Group',
      column: 'groupId',
      description: 'The group that the event concerns. Null if it concerns none.',
    }),
    connection: linkField(t, {
      type: ConnectedAccount,
      table: 'Connection',
      column: 'connectionId',
      description:
        'The connection that the event concerns. Null if there is none, or if it was deleted.',
    }),
    installation: linkField(t, {
      type: Installation,
      table: 'Installation',
      column: 'installationId',
      description:
        'The installation that the event concerns. Null if there is none, or if it was deleted.',
    }),
    operation: linkField(t, {
      type: Operation,
      table: 'Operation',
      column: 'operationId',
      description:
        'The operation that the event concerns. Null if there is none, or if it was deleted.',
    }),
    destination: linkField(t, {
      type: Destination,
      table: 'Destination',
      column: 'destinationId',
      description:
        'The destination that the event concerns. Null if there is none, or if it was deleted.',
    }),
  }),
});

addList(Project, 'notificationEvents', NotificationEvent, listNotificationEvents, {
  filters: listedEventFilters,
});
