import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import { createTopic, deleteTopic, listTopics, updateTopic } from '../../domain/event/topic.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

const tag = 'Topics';
const path = '/projects/{projectIdOrName}/topics';

const topic = resource(
  'Topic',
  'The topic: a named stream of events. Its `id` is used in routes.',
  {
    ...createdShape,
    name: z.string().describe('Unique in the project: letters, digits and dashes.'),
    ...updateTimeShape,
  },
);

function showTopic({ updateTime, ...row }: Row<'Topic'>) {
  return { ...row, updateTime: updateTime ?? undefined };
}

export const topicEndpoints = [
  listEndpoint({
    id: 'listTopics',
    path,
    tag,
    summary: 'Lists topics, newest first.',
    input: z.object({ projectIdOrName, ...searchFilters.shape }),
    list: within(getOwnProject, listTopics),
    item: topic,
    show: showTopic,
  }),
  mutationEndpoint({
    id: 'createTopic',
    method: 'POST',
    path,
    tag,
    summary: 'Creates a topic. Events reach it when routes lead to it.',
    mutation: createTopic,
    status: 201,
    output: topic,
    show: showTopic,
  }),
  mutationEndpoint({
    id: 'updateTopic',
    method: 'PATCH',
    path: `${path}/{topicId}`,
    tag,
    summary: 'Renames a topic. Its routes stay.',
    mutation: updateTopic,
    status: 200,
    output: topic,
    show: showTopic,
  }),
  mutationEndpoint({
    id: 'deleteTopic',
    method: 'DELETE',
    path: `${path}/{topicId}`,
    tag,
    summary: 'Deletes a topic and its routes.',
    mutation: deleteTopic,
    status: 204,
    output: null,
    show: noBody,
  }),
];
