import { listConsumers } from '../../domain/project/consumer.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { Node } from '../schema/node-field.ts';
import { builder } from '../schema/schema-builder.ts';
import { Consumer, Consumers, Project } from '../schema/types.ts';

Consumer.implement({
  description: "One of the builder's users, who connected an account.",
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    consumerRef: t.exposeString('consumerRef', { description: "The builder's own name of it." }),
    consumerName: t.exposeString('consumerName', { description: 'What people call it.' }),
    project: projectField(t),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'consumers', (t) =>
  listField(t, Consumers, {
    description: 'Consumers, newest first. They are made by their first connection.',
    list: listConsumers,
  }),
);
