import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import { projectIdOrName } from '../../domain/names.ts';
import {
  createApiKey,
  deleteApiKey,
  getApiKey,
  getApiKeyInput,
  keyFilters,
  listApiKeys,
  updateApiKey,
} from '../../domain/project/api-key.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import type { Parts } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

const tag = 'API keys';
const path = '/projects/{projectIdOrName}/api-keys';

const apiKey = resource('ApiKey', 'The API key of a project. Its scopes say what it may do.', {
  ...createdShape,
  key: z
    .string()
    .describe('Its value in the answer that creates it; in all others the first characters of it.'),
  label: z.string().describe('The name that people gave it.'),
  scopes: z.array(z.string()).describe('The scopes of the key: what it may do.'),
  active: z.boolean().describe('Whether requests with the key are accepted.'),
  lastUsedTime: z
    .date()
    .optional()
    .describe('When it was last used, to the minute; left out if it never was.'),
  ...updateTimeShape,
});

/** The value is known only when the key is created. */
function showApiKey({ prefix, lastUsedTime, updateTime, ...row }: Row<'ApiKey'>, key = prefix) {
  return {
    ...row,
    key,
    lastUsedTime: lastUsedTime ?? undefined,
    updateTime: updateTime ?? undefined,
  };
}

/** Clients of the reference API create keys without scopes. GraphQL requires them. */
function withScopes({ body, ...parts }: Parts): Parts {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const isWithout = isObject && (body as { scopes?: unknown }).scopes == null;
  return { ...parts, body: isWithout ? { ...body, scopes: ['full'] } : body };
}

export const apiKeyEndpoints = [
  listEndpoint({
    id: 'listApiKeys',
    path,
    tag,
    summary: 'Lists API keys, newest first.',
    input: z.object({ projectIdOrName, ...keyFilters.shape }),
    item: apiKey,
    list: within(getOwnProject, listApiKeys),
    show: (row: Row<'ApiKey'>) => showApiKey(row),
  }),
  mutationEndpoint({
    id: 'createApiKey',
    method: 'POST',
    path,
    tag,
    summary: 'Creates an API key. Only this answer has its value: keep it.',
    description: 'Without `scopes`, the key gets the scope `full`.',
    mutation: createApiKey,
    places: { scopes: { in: 'body', name: 'scopes', isOptional: true } },
    rewrite: withScopes,
    status: 201,
    output: apiKey,
    show: (made) => showApiKey(made.apiKey, made.key),
  }),
  readEndpoint({
    id: 'getApiKey',
    path: `${path}/{apiKey}`,
    tag,
    summary: 'Gets an API key, by its value or its id.',
    input: getApiKeyInput,
    read: getApiKey,
    output: apiKey,
    show: (row) => showApiKey(row),
  }),
  mutationEndpoint({
    id: 'updateApiKey',
    method: 'PATCH',
    path: `${path}/{apiKey}`,
    tag,
    summary:
      'Changes an API key, by its value or its id. All processes know the change within a second.',
    mutation: updateApiKey,
    places: { apiKeyId: { in: 'path', name: 'apiKey' } },
    mask: 'apiKey',
    status: 200,
    output: apiKey,
    show: (row) => showApiKey(row),
  }),
  mutationEndpoint({
    id: 'deleteApiKey',
    method: 'DELETE',
    path: `${path}/{apiKey}`,
    tag,
    summary:
      'Deletes an API key, by its value or its id. Requests with it are refused within a second.',
    mutation: deleteApiKey,
    status: 204,
    output: null,
    show: noBody,
  }),
];
