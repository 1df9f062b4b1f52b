import { z } from 'zod';
import { projectIdOrName } from '../../domain/names.ts';
import {
  createApiKey,
  createApiKeyInput,
  deleteApiKey,
  deleteApiKeyInput,
  getApiKey,
  getApiKeyInput,
  listApiKeys,
  updateApiKey,
  updateApiKeyInput,
} from '../../domain/project/api-key.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import { within } from '../../domain/declared-read.ts';
import type { Row } from '../../domain/scope.ts';
import { endpoint } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

const tag = 'API keys';
const path = '/projects/{projectIdOrName}/api-keys';

const apiKey = resource('ApiKey', 'A key of a project.', {
  ...createdShape,
  key: z.string().describe('Its value in the answer that makes it; elsewhere how it begins.'),
  label: z.string().describe('What people know it by.'),
  scopes: z.array(z.string()).describe('What it may do.'),
  active: z.boolean().describe('Whether its calls are accepted.'),
  lastUsedTime: z
    .date()
    .optional()
    .describe('When it was last used, to the minute; left out where it never was.'),
  ...updateTimeShape,
});

/** The value is known when the key is made, and never again. */
function showApiKey({ prefix, lastUsedTime, updateTime, ...row }: Row<'ApiKey'>, key = prefix) {
  return {
    ...row,
    key,
    lastUsedTime: lastUsedTime ?? undefined,
    updateTime: updateTime ?? undefined,
  };
}

export const apiKeyEndpoints = [
  listEndpoint({
    id: 'listApiKeys',
    path,
    tag,
    summary: 'Lists API keys, newest first.',
    input: z.object({
      projectIdOrName,
      active: z.boolean().optional().describe('Only active ones, or only inactive ones.'),
    }),
    item: apiKey,
    list: within(getOwnProject, listApiKeys),
    show: (row: Row<'ApiKey'>) => showApiKey(row),
  }),
  endpoint({
    id: 'createApiKey',
    method: 'POST',
    path,
    tag,
    summary: 'Makes an API key. Its value is in this answer and in no other.',
    needs: 'keys:write',
    input: createApiKeyInput,
    status: 201,
    output: apiKey,
    async run({ call }, input) {
      const made = await createApiKey(call, input);
      return showApiKey(made.apiKey, made.key);
    },
  }),
  endpoint({
    id: 'getApiKey',
    method: 'GET',
    path: `${path}/{apiKey}`,
    tag,
    summary: 'Gives an API key, by its value or its id.',
    needs: 'read',
    input: getApiKeyInput,
    status: 200,
    output: apiKey,
    run: async ({ call }, input) => showApiKey(await getApiKey(call, input)),
  }),
  endpoint({
    id: 'updateApiKey',
    method: 'PATCH',
    path: `${path}/{apiKey}`,
    tag,
    summary: 'Changes an API key, by its value or its id.',
    needs: 'keys:write',
    input: updateApiKeyInput,
    places: { apiKeyId: { in: 'path', name: 'apiKey' } },
    mask: 'apiKey',
    status: 200,
    output: apiKey,
    run: async ({ call }, input) => showApiKey(await updateApiKey(call, input)),
  }),
  endpoint({
    id: 'deleteApiKey',
    method: 'DELETE',
    path: `${path}/{apiKey}`,
    tag,
    summary: 'Deletes an API key, by its value or its id.',
    needs: 'keys:write',
    input: deleteApiKeyInput,
    status: 204,
    output: null,
    run: ({ call }, input) => deleteApiKey(call, input),
  }),
];
