import { searchFilters } from '../../domain/access/paging/search.ts';
import {
  createTopic,
  deleteTopic,
  listTopics,
  topicResource,
  updateTopic,
} from '../../domain/events/topic.ts';
import { addList } from '../schema/lists.ts';
import { addDeletions, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { Project, Topic } from '../schema/types.ts';

objectType(Topic, topicResource);

addList(Project, 'topics', Topic, listTopics, { filters: searchFilters });

addMutations('topic', Topic, { createTopic, updateTopic });
addDeletions({ deleteTopic });
