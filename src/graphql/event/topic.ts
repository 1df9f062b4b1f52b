import {
  createTopic,
  deleteTopic,
  listTopics,
  topicResource,
  updateTopic,
} from '../../domain/event/topic.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { listField } from '../schema/fields.ts';
import { addDeletions, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { builder } from '../schema/schema-builder.ts';
import { Project, Topic, Topics } from '../schema/types.ts';

objectType(Topic, topicResource);

builder.objectField(Project, 'topics', (t) =>
  listField(t, Topics, { args: parsedArgs(t.arg, searchFilters), list: listTopics }),
);

addMutations('topic', Topic, { createTopic, updateTopic });
addDeletions({ deleteTopic });
