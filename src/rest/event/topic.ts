import { z } from 'zod';
import {
  createTopic,
  createTopicInput,
  deleteTopic,
  deleteTopicInput,
  listTopics,
  updateTopic,
  updateTopicInput,
} from '../../domain/event/topic.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getProject, type Row } from '../../domain/scope.ts';
import { endpoint } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

const tag = 'Topics';
const path = '/projects/{projectIdOrName}/topics';

const topic = resource('Topic', 'A named stream of events.', {
  ...createdShape,
  name: z.string().describe('Its name, unique in the project.'),
  ...updateTimeShape,
});

function showTopic({ updateTime, ...row }: Row<'Topic'>) {
  return { ...row, updateTime: updateTime ?? undefined };
}

export const topicEndpoints = [
  listEndpoint({
    id: 'listTopics',
    path,
    tag,
    summary: 'Lists topics, newest first.',
    needs: 'read',
    input: z.object({ projectIdOrName }),
    item: topic,
    async list({ call }, { projectIdOrName: project, ...args }) {
      return listTopics(call, await getProject(call, project, 'read'), args);
    },
    show: showTopic,
  }),
  endpoint({
    id: 'createTopic',
    method: 'POST',
    path,
    tag,
    summary: 'Makes a topic.',
    needs: 'events:write',
    input: createTopicInput,
    status: 201,
    output: topic,
    run: async ({ call }, input) => showTopic(await createTopic(call, input)),
  }),
  endpoint({
    id: 'updateTopic',
    method: 'PATCH',
    path: `${path}/{topicId}`,
    tag,
    summary: 'Renames a topic.',
    needs: 'events:write',
    input: updateTopicInput,
    status: 200,
    output: topic,
    run: async ({ call }, input) => showTopic(await updateTopic(call, input)),
  }),
  endpoint({
    id: 'deleteTopic',
    method: 'DELETE',
    path: `${path}/{topicId}`,
    tag,
    summary: 'Deletes a topic and its routes.',
    needs: 'events:write',
    input: deleteTopicInput,
    status: 204,
    output: null,
    run: ({ call }, input) => deleteTopic(call, input),
  }),
];
