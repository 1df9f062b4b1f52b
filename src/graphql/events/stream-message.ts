import { followStreamMessages } from '../../domain/events/stream/stream-subscription.ts';
import { listStreamMessages, readMessageBody } from '../../domain/events/stream-message.ts';
import { describeField, linkField } from '../schema/fields.ts';
import { addList } from '../schema/lists.ts';
import { builder } from '../schema/schema-builder.ts';
import { Destination, Group, StreamMessage, StreamMessageEdge } from '../schema/types.ts';

StreamMessage.implement({
  description: 'A message of a stream: a routed event, or records.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'Unique in the whole service, and the same for each reader.',
    }),
    createTime: t.expose('createTime', {
      type: 'DateTime',
      description: 'When it was added to the stream.',
    }),
    group: linkField(t, {
      type: Group,
      table: 'Group',
      column: 'groupId',
      description: 'The group that the message concerns. Null if it concerns none.',
    }),
    body: t.field({
      ...describeField(readMessageBody),
      type: 'JSONObject',
      nullable: true,
      resolve: (message, _args, { call }) => readMessageBody(call, message),
    }),
  }),
});

addList(Destination, 'messages', StreamMessage, listStreamMessages);

builder.subscriptionFields((t) => ({
  streamMessages: t.field({
    type: StreamMessageEdge,
    ...describeField(followStreamMessages),
    args: {
      destinationId: t.arg.id({ required: true, description: 'The id of the destination.' }),
      after: t.arg.string({
        description:
          'The cursor of the last message that the client received. The stream continues after it. Default: from now on.',
      }),
    },
    subscribe: (_root, { after, destinationId }, { call, lastEventId }) =>
      followStreamMessages(call, { destinationId, after: lastEventId ?? after }),
    resolve: (item) => item,
  }),
}));
