import { z } from 'zod';
import { readWithin } from '../../domain/declared-read.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { keyFilters } from '../../domain/project/api-key.ts';
import {
  createJwtKey,
  deleteJwtKey,
  getJwtKey,
  jwtKeyResource,
  listJwtKeys,
  updateJwtKey,
} from '../../domain/project/jwt-key.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import { id } from '../../ids.ts';
import type { RestRequest } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { deleteEndpoint, mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import type { Place } from '../endpoint/places.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';

import { responseOf, showResource } from '../openapi/shown-resource.ts';

const tag = 'End users';
const path = '/projects/{projectIdOrName}/jwt-keys';
const inPath: Place = { in: 'path', name: 'keyId' };

const jwtKey = responseOf(jwtKeyResource, (members) => ({
  ...members,
  algorithm: z.literal('RSA').describe('The kind of the key. Its tokens are signed with RS256.'),
  updateTime: z.date().describe('When it was last changed, or created.'),
}));

function showJwtKey(row: Row<'JwtKey'>, request: RestRequest) {
  const members = showResource(jwtKeyResource, row, request);
  return { ...members, algorithm: 'RSA', updateTime: row.updateTime ?? row.createTime };
}

export const jwtKeyEndpoints = [
  mutationEndpoint({
    id: 'createJWTKey',
    method: 'POST',
    path,
    tag,
    mutation: createJwtKey,
    extraInput: { algorithm: z.literal('RS256').describe('Always `RS256`.') },
    status: 201,
    output: z
      .object({ kid: z.string().describe('The id of the key: tokens have it as `kid`.') })
      .describe('The JWT key is registered.'),
    show: ({ id: kid }) => ({ kid }),
  }),
  listEndpoint({
    id: 'listJWTKeys',
    path,
    tag,
    input: z.object({ projectIdOrName, ...keyFilters.shape }),
    item: jwtKey,
    list: readWithin(getOwnProject, listJwtKeys),
    show: showJwtKey,
  }),
  readEndpoint({
    id: 'getJWTKey',
    path: `${path}/{keyId}`,
    tag,
    input: z.object({ projectIdOrName, jwtKeyId: id.describe('The id of the JWT key.') }),
    places: { jwtKeyId: inPath },
    read: getJwtKey,
    output: jwtKey,
    show: showJwtKey,
  }),
  mutationEndpoint({
    id: 'updateJWTKey',
    method: 'PATCH',
    path: `${path}/{keyId}`,
    tag,
    mutation: updateJwtKey,
    places: { jwtKeyId: inPath },
    mask: 'jwtKey',
    status: 200,
    output: jwtKey,
    show: showJwtKey,
  }),
  deleteEndpoint({
    id: 'deleteJWTKey',
    path: `${path}/{keyId}`,
    tag,
    mutation: deleteJwtKey,
    places: { jwtKeyId: inPath },
  }),
];
