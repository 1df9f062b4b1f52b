import { listConsumers } from '../../domain/project/consumer.ts';
import { builder } from '../builder.ts';
import { createdFields, listField, projectField, updateTimeField } from '../fields.ts';
import { Node } from '../node.ts';
import { Consumer, Consumers, Project } from '../types.ts';

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
    resolve: (project, args, { call }) => listConsumers(call, project, args),
  }),
);
