import { listConsumerConnections } from '../../domain/connection/list/connection-list.ts';
import { eraseConsumer } from '../../domain/erasure/erase-subject.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { listConsumers } from '../../domain/project/consumer.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { ConnectedAccounts, Consumer, Consumers, Project } from '../schema/types.ts';

Consumer.implement({
  description: "One of the builder's users, who has connected an account.",
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    consumerRef: t.exposeString('consumerRef', {
      description: "The builder's own id of the consumer, unique in the project.",
    }),
    consumerName: t.exposeString('consumerName', {
      description: 'The name that people see. Default: the ref.',
    }),
    project: projectField(t),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'consumers', (t) =>
  listField(t, Consumers, {
    description:
      'The consumers of the project, newest first. A consumer is created by its first connection.',
    args: parsedArgs(t.arg, searchFilters),
    list: listConsumers,
  }),
);

builder.objectField(Consumer, 'connections', (t) =>
  listField(t, ConnectedAccounts, {
    description: 'The connections of the consumer, newest first.',
    list: listConsumerConnections,
  }),
);

builder.mutationField('eraseConsumer', (t) =>
  mutationField(t, eraseConsumer, {
    type: DeletePayload,
    description:
      'Erases a consumer with all that names them: their connections, the installations that use these, operations with their logs, events and deliveries. Tokens are revoked at providers that take that. It disappears at once, and its rows are deleted soon after. The ref can be used again.',
  }),
);
