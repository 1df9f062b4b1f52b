import { z } from 'zod';
import { projectIdOrName } from '../../domain/base/names.ts';
import { eventFilters } from '../../domain/events/notification-event.ts';
import {
  followNotificationEvents,
  followOperation,
} from '../../domain/events/notification-subscription.ts';
import { describeField } from '../schema/fields.ts';
import { createArgs } from '../schema/inputs.ts';
import { builder } from '../schema/schema-builder.ts';
import { NotificationEventEdge, Operation } from '../schema/types.ts';

builder.subscriptionType({
  description: 'Streams of events and changes, over WebSocket or server-sent events.',
});

builder.subscriptionFields((t) => ({
  notificationEvents: t.field({
    type: NotificationEventEdge,
    ...describeField(followNotificationEvents),
    args: {
      ...createArgs(t.arg, z.object({ projectIdOrName, ...eventFilters.shape })),
      after: t.arg.string({
        description:
          'The cursor of the last event that the client received. The stream continues after it. Default: from now on.',
      }),
    },
    // A client that reconnects sends the same operation. Its Last-Event-ID header has the last cursor.
    subscribe: (_root, { after, ...args }, { call, lastEventId }) =>
      followNotificationEvents(call, { ...args, after: lastEventId ?? after }),
    resolve: (item) => item,
  }),
  operation: t.field({
    type: Operation,
    ...describeField(followOperation),
    args: { id: t.arg.id({ required: true, description: 'The id of the operation.' }) },
    subscribe: (_root, { id }, { call }) => followOperation(call, id),
    resolve: ({ node }) => node,
  }),
}));
