import { z } from 'zod';
import { readWithin } from '../../domain/declared-read.ts';
import { projectIdOrName } from '../../domain/names.ts';
import {
  apiKeyResource,
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
import type { Parts, RestRequest } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { deleteEndpoint, mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';

const tag = 'API keys';
const path = '/projects/{projectIdOrName}/api-keys';

const apiKey = responseOf(apiKeyResource, ({ prefix: _prefix, ...members }) => ({
  ...members,
  key: z
    .string()
    .describe('Its value in the response that creates it; otherwise its first characters.'),
}));

/** The value is known only when the key is created. */
function showApiKey(row: Row<'ApiKey'>, request: RestRequest, value?: string) {
  const { prefix, ...members } = showResource(apiKeyResource, row, request);
  return { ...members, key: value ?? prefix };
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
    input: z.object({ projectIdOrName, ...keyFilters.shape }),
    item: apiKey,
    list: readWithin(getOwnProject, listApiKeys),
    show: (row: Row<'ApiKey'>, request) => showApiKey(row, request),
  }),
  mutationEndpoint({
    id: 'createApiKey',
    method: 'POST',
    path,
    tag,
    description:
      'Only this response contains the value of the key. Without `scopes`, the key gets the scope `full`.',
    mutation: createApiKey,
    places: { scopes: { in: 'body', name: 'scopes', isOptional: true } },
    rewrite: withScopes,
    status: 201,
    output: apiKey,
    show: ({ apiKey, key }, request) => showApiKey(apiKey, request, key),
  }),
  readEndpoint({
    id: 'getApiKey',
    path: `${path}/{apiKey}`,
    tag,
    input: getApiKeyInput,
    read: getApiKey,
    output: apiKey,
    show: (row, request) => showApiKey(row, request),
  }),
  mutationEndpoint({
    id: 'updateApiKey',
    method: 'PATCH',
    path: `${path}/{apiKey}`,
    tag,
    mutation: updateApiKey,
    places: { apiKeyId: { in: 'path', name: 'apiKey' } },
    mask: 'apiKey',
    status: 200,
    output: apiKey,
    show: (row, request) => showApiKey(row, request),
  }),
  deleteEndpoint({
    id: 'deleteApiKey',
    path: `${path}/{apiKey}`,
    tag,
    mutation: deleteApiKey,
  }),
];
