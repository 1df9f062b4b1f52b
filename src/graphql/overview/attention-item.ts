import {
  type AttentionItem,
  acknowledgeAttentionItem,
  attentionItemResource,
  listAttentionItems,
  reopenAttentionItem,
} from '../../domain/overview/attention-item.ts';
import { describeField } from '../schema/fields.ts';
import { addMutations } from '../schema/mutations.ts';
import { Node } from '../schema/node-field.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import { Project } from '../schema/types.ts';

const AttentionItemType = objectType(
  builder.objectRef<AttentionItem>('AttentionItem'),
  attentionItemResource,
  (t) => ({
    subject: t.field({
      type: Node,
      description:
        'The destination, the connection, the installation or the provider with the problem. The project for pending proposals, failed operations and failed deliveries.',
      resolve: ({ subject }) => subject,
    }),
  }),
);

builder.objectField(Project, 'attentionItems', (t) =>
  t.field({
    ...describeField(listAttentionItems),
    type: [AttentionItemType],
    resolve: (project, _args, { call }) => listAttentionItems(call, project),
  }),
);

addMutations('attentionItem', AttentionItemType, {
  acknowledgeAttentionItem,
  reopenAttentionItem,
});
