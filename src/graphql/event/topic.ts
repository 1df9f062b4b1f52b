import {
  createTopic,
  deleteTopic,
  listTopics,
  topicResource,
  updateTopic,
} from '../../domain/event/topic.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { listField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { objectType } from '../schema/object-type.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Project, Topic, Topics } from '../schema/types.ts';

objectType(Topic, topicResource);

builder.objectField(Project, 'topics', (t) =>
  listField(t, Topics, { args: parsedArgs(t.arg, searchFilters), list: listTopics }),
);

builder.mutationFields((t) => ({
  createTopic: mutationField(t, createTopic, payload('createTopic', 'topic', Topic)),
  updateTopic: mutationField(t, updateTopic, payload('updateTopic', 'topic', Topic)),
  deleteTopic: mutationField(t, deleteTopic, DeletePayload),
}));
