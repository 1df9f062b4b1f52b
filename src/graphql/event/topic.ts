import { createTopic, deleteTopic, listTopics, updateTopic } from '../../domain/event/topic.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { answer, DeletePayload } from '../schema/payloads.ts';
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
  listField(t, Topics, { description: 'Topics, newest first.', list: listTopics }),
);

builder.mutationFields((t) => ({
  createTopic: mutationField(t, createTopic, {
    type: answer('CreateTopicPayload', 'topic', Topic, 'The new topic.'),
    description: 'Makes a topic.',
  }),
  updateTopic: mutationField(t, updateTopic, {
    type: answer('UpdateTopicPayload', 'topic', Topic, 'The topic as it is now.'),
    description: 'Renames a topic.',
  }),
  deleteTopic: mutationField(t, deleteTopic, {
    type: DeletePayload,
    description: 'Deletes a topic and its routes.',
  }),
}));
