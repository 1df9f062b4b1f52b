import {
  createTopic,
  createTopicInput,
  deleteTopic,
  deleteTopicInput,
  listTopics,
  updateTopic,
  updateTopicInput,
} from '../../domain/event/topic.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { inputArg } from '../schema/inputs.ts';
import { Node } from '../schema/node-field.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Project, Topic, Topics } from '../schema/types.ts';

Topic.implement({
  description: 'A named stream of events: routes fill it, destinations listen to it.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    name: t.exposeString('name', { description: 'Its name, unique in the project.' }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'topics', (t) =>
  listField(t, Topics, {
    description: 'Topics, newest first.',
    resolve: (project, args, { call }) => listTopics(call, project, args),
  }),
);

builder.mutationFields((t) => ({
  createTopic: t.field({
    type: payload('CreateTopicPayload', 'topic', Topic, 'The new topic.'),
    description: 'Makes a topic.',
    args: inputArg(t.arg, createTopicInput),
    resolve: async (_root, { input }, { call }) => ({ topic: await createTopic(call, input) }),
  }),
  updateTopic: t.field({
    type: payload('UpdateTopicPayload', 'topic', Topic, 'The topic as it is now.'),
    description: 'Renames a topic.',
    args: inputArg(t.arg, updateTopicInput),
    resolve: async (_root, { input }, { call }) => ({ topic: await updateTopic(call, input) }),
  }),
  deleteTopic: t.field({
    type: DeletePayload,
    description: 'Deletes a topic and its routes.',
    args: inputArg(t.arg, deleteTopicInput),
    resolve: (_root, { input }, { call }) => deleteTopic(call, input),
  }),
}));
