import { followNotificationEvents } from '../../domain/event/notification-subscription.ts';
import { followOperation } from '../../domain/operation/operation-subscription.ts';
import { needing } from '../schema/needing.ts';
import { builder } from '../schema/schema-builder.ts';
import { NotificationEventEdge, Operation } from '../schema/types.ts';
import { NotificationEventType } from './notification-event-type.ts';

builder.subscriptionType({
  description: 'What happens, as it happens: over WebSocket or server-sent events.',
});

builder.subscriptionFields((t) => ({
  notificationEvents: t.field({
    type: NotificationEventEdge,
    ...needing(
      followNotificationEvents,
      'Routed notification events of a project, as edges of Project.notificationEvents: first those ' +
        'recorded after the cursor, then each new one as it happens, in the order of that list, none ' +
        'missed and none twice. Without after, only new ones.',
    ),
    args: {
      projectIdOrName: t.arg.string({ required: true, description: 'The project, by id or name.' }),
      topicId: t.arg.id({ description: 'Only those that are routed to this topic.' }),
      eventTypes: t.arg({
        type: [NotificationEventType],
        description: 'Only those of these types, at least one.',
      }),
      after: t.arg.string({
        description: 'Begin after this cursor: that of the last event that was received.',
      }),
    },
    // A client that connects again sends the same operation: where its stream broke off, the header knows.
    subscribe: (_root, { after, ...args }, { call, lastEventId }) =>
      followNotificationEvents(call, { ...args, after: lastEventId ?? after }),
    resolve: (item) => item,
  }),
  operation: t.field({
    type: Operation,
    ...needing(
      followOperation,
      'The operation as it is now, then each time that it changes; completes when it has ended.',
    ),
    args: { id: t.arg.id({ required: true, description: 'The operation.' }) },
    subscribe: (_root, { id }, { call }) => followOperation(call, id),
    resolve: ({ node }) => node,
  }),
}));
