import { z } from 'zod';
import { createOrg, deleteOrg, getOwnOrg, listOrgs, updateOrg } from '../../domain/org/org.ts';
import type { Row } from '../../domain/scope.ts';
import { id } from '../../ids.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { words } from '../endpoint/words.ts';
import { createdShape, resource, updateTimeShape } from '../openapi/schemas.ts';

const tag = 'Organizations';

export const orgId = id.describe('The id of the org.');

/** `parentType` and `parentId` name the org that owns a resource, as in the reference API. */
export const parentShape = {
  parentType: words('ParentType', ['ORG']).describe('The type that parentId is an id of.'),
  parentId: z.string().describe('The id of the org that it belongs to.'),
};

export function showParent({ orgId: parentId }: { orgId: string }) {
  return { parentType: 'org', parentId };
}

export const org = resource(
  'Org',
  'The org: a company of builders, which owns projects and has a billing account.',
  {
    id: createdShape.id,
    label: z.string().describe('The name that people see.'),
    defaultTeamId: z
      .string()
      .describe('The team of all members: an org has no other, and this is its own id.'),
    createTime: createdShape.createTime,
    ...updateTimeShape,
  },
);

export function showOrg({ updateTime, ...row }: Row<'Org'>) {
  return { ...row, defaultTeamId: row.id, updateTime: updateTime ?? undefined };
}

export const orgEndpoints = [
  listEndpoint({
    id: 'listOrgs',
    path: '/orgs',
    tag,
    summary: "Lists a builder's orgs, or the org of a key's project, newest first.",
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
    summary: 'Creates an org with a billing account. The caller is its first member.',
    mutation: createOrg,
    status: 201,
    output: org,
    show: showOrg,
  }),
  readEndpoint({
    id: 'getOrg',
    path: '/orgs/{orgId}',
    tag,
    summary: 'Gets an org.',
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
    summary: 'Renames an org of the caller.',
    mutation: updateOrg,
    mask: 'org',
    status: 200,
    output: org,
    show: showOrg,
  }),
  mutationEndpoint({
    id: 'deleteOrg',
    method: 'DELETE',
    path: '/orgs/{orgId}',
    tag,
    summary:
      'Deletes an org of the caller that has no projects, with its members, invites, claimed domains and billing account.',
    mutation: deleteOrg,
    status: 204,
    output: null,
    show: noBody,
  }),
];
