import { z } from 'zod';
import {
  createOrg,
  deleteOrg,
  getOwnOrg,
  listOrgs,
  orgResource,
  updateOrg,
} from '../../domain/org/org.ts';
import type { Row } from '../../domain/scope.ts';
import { id } from '../../ids.ts';
import type { RestRequest } from '../endpoint/endpoint.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { deleteEndpoint, mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';

const tag = 'Organizations';

export const orgId = id.describe('The id of the org.');

export const org = responseOf(orgResource, (members) => ({
  ...members,
  defaultTeamId: z
    .string()
    .describe('The team of all members. An org has no other team, and this is its own id.'),
}));

export function showOrg(row: Row<'Org'>, request: RestRequest) {
  return { ...showResource(orgResource, row, request), defaultTeamId: row.id };
}

export const orgEndpoints = [
  listEndpoint({
    id: 'listOrgs',
    path: '/orgs',
    tag,
    input: z.object({}),
    item: org,
    list: listOrgs,
    show: showOrg,
  }),
  mutationEndpoint({
    id: 'createOrg',
    method: 'POST',
    path: '/orgs',
    tag,
    mutation: createOrg,
    status: 201,
    output: org,
    show: showOrg,
  }),
  readEndpoint({
    id: 'getOrg',
    path: '/orgs/{orgId}',
    tag,
    input: z.object({ orgId }),
    read: getOwnOrg,
    output: org,
    show: showOrg,
  }),
  mutationEndpoint({
    id: 'updateOrg',
    method: 'PATCH',
    path: '/orgs/{orgId}',
    tag,
    mutation: updateOrg,
    mask: 'org',
    status: 200,
    output: org,
    show: showOrg,
  }),
  deleteEndpoint({
    id: 'deleteOrg',
    path: '/orgs/{orgId}',
    tag,
    mutation: deleteOrg,
  }),
];
