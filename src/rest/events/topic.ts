import { z } from 'zod';
import { readWithin } from '../../domain/access/declared-read.ts';
import { searchFilters } from '../../domain/access/paging/search.ts';
import { projectIdOrName } from '../../domain/base/names.ts';
import {
  createTopic,
  deleteTopic,
  listTopics,
  topicResource,
  updateTopic,
} from '../../domain/events/topic.ts';
import { getRequestedProject } from '../../domain/tenants/project/project.ts';
import { deleteEndpoint, listEndpoint, mutationEndpoint } from '../endpoint/resource-endpoints.ts';

const tag = 'Topics';
const path = '/projects/{projectIdOrName}/topics';

export const topicEndpoints = [
  listEndpoint({
    id: 'listTopics',
    path,
    tag,
    input: z.object({ projectIdOrName, ...searchFilters.shape }),
    list: readWithin(getRequestedProject, listTopics),
    resource: topicResource,
  }),
  mutationEndpoint({
    id: 'createTopic',
    method: 'POST',
    path,
    tag,
    mutation: createTopic,
    status: 201,
    resource: topicResource,
  }),
  mutationEndpoint({
    id: 'updateTopic',
    method: 'PATCH',
    path: `${path}/{topicId}`,
    tag,
    mutation: updateTopic,
    status: 200,
    resource: topicResource,
  }),
  deleteEndpoint({ id: 'deleteTopic', path: `${path}/{topicId}`, tag, mutation: deleteTopic }),
];
