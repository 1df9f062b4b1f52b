import { createTopic, deleteTopic, listTopics, updateTopic } from '../../domain/event/topic.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Project, Topic, Topics } from '../schema/types.ts';

Topic.implement({
  description:
    'A named stream of events. Routes choose the events that reach it and the destinations that they are sent to.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    name: t.exposeString('name', {
      description: 'Unique in the project: letters, digits and dashes.',
    }),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'topics', (t) =>
  listField(t, Topics, {
    description: 'Topics, newest first.',
    args: parsedArgs(t.arg, searchFilters),
    list: listTopics,
  }),
);

builder.mutationFields((t) => ({
  createTopic: mutationField(t, createTopic, {
    type: payload('CreateTopicPayload', 'topic', Topic, 'The topic. Its id is used in routes.'),
    description: 'Creates a topic. Events reach it when routes lead to it.',
  }),
  updateTopic: mutationField(t, updateTopic, {
    type: payload('UpdateTopicPayload', 'topic', Topic, 'The topic with its new name.'),
    description: 'Renames a topic. Its routes stay.',
  }),
  deleteTopic: mutationField(t, deleteTopic, {
    type: DeletePayload,
    description: 'Deletes a topic and its routes.',
  }),
}));
