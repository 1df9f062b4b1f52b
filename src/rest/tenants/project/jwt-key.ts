import { z } from 'zod';
import { readWithin } from '../../../domain/access/declared-read.ts';
import type { Row } from '../../../domain/access/scope.ts';
import { projectIdOrName } from '../../../domain/base/names.ts';
import { computed } from '../../../domain/base/resource.ts';
import { keyFilters } from '../../../domain/tenants/project/api-key.ts';
import {
  createJwtKey,
  deleteJwtKey,
  getJwtKey,
  jwtKeyResource,
  listJwtKeys,
  updateJwtKey,
} from '../../../domain/tenants/project/jwt-key.ts';
import { getRequestedProject } from '../../../domain/tenants/project/project.ts';
import { id } from '../../../kernel/ids.ts';
import type { Location } from '../../endpoint/request-form.ts';
import {
  deleteEndpoint,
  listEndpoint,
  mutationEndpoint,
  readEndpoint,
} from '../../endpoint/resource-endpoints.ts';
import { extendResource } from '../../openapi/response-form.ts';

const tag = 'End users';
const path = '/projects/{projectIdOrName}/jwt-keys';
const keyInPath: Location = { in: 'path', name: 'keyId' };

const jwtKey = extendResource(jwtKeyResource, {
  algorithm: computed(
    z.literal('RSA').describe('The kind of the key. Its tokens are signed with RS256.'),
    () => 'RSA' as const,
  ),
  updateTime: computed(
    z.date().describe('When it was last changed, or created.'),
    ({ createTime, updateTime }: Row<'JwtKey'>) => updateTime ?? createTime,
  ),
});

export const jwtKeyEndpoints = [
  mutationEndpoint({
    id: 'createJWTKey',
    method: 'POST',
    path,
    tag,
    mutation: createJwtKey,
    extraInput: { algorithm: z.literal('RS256').describe('Always `RS256`.') },
    status: 201,
    resource: z
      .object({ kid: z.string().describe('The id of the key, which tokens name as `kid`.') })
      .describe('The JWT key is registered.'),
    show: ({ id: kid }) => ({ kid }),
  }),
  listEndpoint({
    id: 'listJWTKeys',
    path,
    tag,
    input: z.object({ projectIdOrName, ...keyFilters.shape }),
    list: readWithin(getRequestedProject, listJwtKeys),
    resource: jwtKey,
  }),
  readEndpoint({
    id: 'getJWTKey',
    path: `${path}/{keyId}`,
    tag,
    input: z.object({ projectIdOrName, jwtKeyId: id.describe('The id of the JWT key.') }),
    locations: { jwtKeyId: keyInPath },
    read: getJwtKey,
    resource: jwtKey,
  }),
  mutationEndpoint({
    id: 'updateJWTKey',
    method: 'PATCH',
    path: `${path}/{keyId}`,
    tag,
    mutation: updateJwtKey,
    locations: { jwtKeyId: keyInPath },
    mask: 'jwtKey',
    status: 200,
    resource: jwtKey,
  }),
  deleteEndpoint({
    id: 'deleteJWTKey',
    path: `${path}/{keyId}`,
    tag,
    mutation: deleteJwtKey,
    locations: { jwtKeyId: keyInPath },
  }),
];
