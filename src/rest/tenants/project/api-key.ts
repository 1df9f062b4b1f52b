import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import type { Row } from '../../../domain/access/scope.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import { computed } from '../../../domain/base/resource.ts';
import {
  apiKeyResource,
  createApiKey,
  deleteApiKey,
  getApiKey,
  getApiKeyInput,
  keyFilters,
  listApiKeys,
  updateApiKey,
} from '../../../domain/tenants/project/api-key.ts';
import { getRequestedProject } from '../../../domain/tenants/project/project.ts';
import { isObject } from '../../../work/is-object.ts';
import type { Parts } from '../../endpoint/endpoint.ts';
import {
  deleteEndpoint,
  listEndpoint,
  mutationEndpoint,
  readEndpoint,
} from '../../endpoint/resource-endpoints.ts';
import { extendResource } from '../../openapi/response-form.ts';

const tag = 'API keys';
const path = '/projects/{projectIdOrName}/api-keys';

/** The row has the value only in the response that creates the key. */
const apiKey = extendResource(apiKeyResource, {
  prefix: null,
  key: computed(
    z
      .string()
      .describe(
        'The value of the key in the response that creates it. In other responses, its first characters.',
      ),
    ({ prefix, value = prefix }: Row<'ApiKey'> & { value?: string }) => value,
  ),
});

/** The domain requires scopes, but clients of the reference API create keys without them. */
function addDefaultScope({ body, ...parts }: Parts): Parts {
  const lacksScopes = isObject(body) && body.scopes == null;
  return { ...parts, body: lacksScopes ? { ...body, scopes: ['full'] } : body };
}

export const apiKeyEndpoints = [
  listEndpoint({
    id: 'listApiKeys',
    path,
    tag,
    input: z.object({ projectIdOrName, ...keyFilters.shape }),
    list: readWithin(getRequestedProject, listApiKeys),
    resource: apiKey,
  }),
  mutationEndpoint({
    id: 'createApiKey',
    method: 'POST',
    path,
    tag,
    description:
      'Only this response contains the value of the key. Without `scopes`, the key gets the scope `full`.',
    mutation: createApiKey,
    locations: { scopes: { in: 'body', name: 'scopes', isOptional: true } },
    rewrite: addDefaultScope,
    status: 201,
    resource: apiKey,
    show: ({ apiKey: row, key: value }) => ({ ...row, value }),
  }),
  readEndpoint({
    id: 'getApiKey',
    path: `${path}/{apiKey}`,
    tag,
    input: getApiKeyInput,
    read: getApiKey,
    resource: apiKey,
  }),
  mutationEndpoint({
    id: 'updateApiKey',
    method: 'PATCH',
    path: `${path}/{apiKey}`,
    tag,
    mutation: updateApiKey,
    locations: { apiKeyId: { in: 'path', name: 'apiKey' } },
    mask: 'apiKey',
    status: 200,
    resource: apiKey,
  }),
  deleteEndpoint({
    id: 'deleteApiKey',
    path: `${path}/{apiKey}`,
    tag,
    mutation: deleteApiKey,
  }),
];
