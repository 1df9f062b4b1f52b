import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { keyFilters } from '../../domain/project/api-key.ts';
import {
  createJwtKey,
  deleteJwtKey,
  getJwtKey,
  listJwtKeys,
  updateJwtKey,
} from '../../domain/project/jwt-key.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import type { Row } from '../../domain/scope.ts';
import { id } from '../../ids.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import type { Place } from '../endpoint/places.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { createdShape, resource } from '../openapi/schemas.ts';

const tag = 'End users';
const path = '/projects/{projectIdOrName}/jwt-keys';
const inPath: Place = { in: 'path', name: 'keyId' };

const jwtKey = resource('JWTKey', "A key by which the builder's server signs end users' tokens.", {
  ...createdShape,
  label: z.string().describe('The name that people gave it.'),
  algorithm: z.literal('RSA').describe('The kind of the key; its tokens are signed by RS256.'),
  publicKeyPem: z.string().describe('The public half, as SPKI in PEM.'),
  active: z.boolean().describe('Whether tokens that it has signed are accepted.'),
  updateTime: z.date().describe('When it was last changed, or created.'),
});

function showJwtKey(row: Row<'JwtKey'>) {
  return { ...row, algorithm: 'RSA' as const, updateTime: row.updateTime ?? row.createTime };
}

export const jwtKeyEndpoints = [
  mutationEndpoint({
    id: 'createJWTKey',
    method: 'POST',
    path,
    tag,
    summary: 'Registers the public half of a key that signs tokens of end users.',
    mutation: createJwtKey,
    beside: { algorithm: z.literal('RS256').describe('Always `RS256`.') },
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
    summary: 'Lists JWT keys, newest first.',
    input: z.object({ projectIdOrName, ...keyFilters.shape }),
    item: jwtKey,
    list: within(getOwnProject, listJwtKeys),
    show: showJwtKey,
  }),
  readEndpoint({
    id: 'getJWTKey',
    path: `${path}/{keyId}`,
    tag,
    summary: 'Gets a JWT key with its public half.',
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
    summary: 'Changes a JWT key. Tokens of an inactive one are refused within a second.',
    mutation: updateJwtKey,
    places: { jwtKeyId: inPath },
    mask: 'jwtKey',
    status: 200,
    output: jwtKey,
    show: showJwtKey,
  }),
  mutationEndpoint({
    id: 'deleteJWTKey',
    method: 'DELETE',
    path: `${path}/{keyId}`,
    tag,
    summary: 'Deletes a JWT key. Tokens that it has signed are refused within a second.',
    mutation: deleteJwtKey,
    places: { jwtKeyId: inPath },
    status: 204,
    output: null,
    show: noBody,
  }),
];
